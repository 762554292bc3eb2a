"""Every call of the table through E2B's own Python SDK; one JSON line a result.

Reads one JSON line {"flavour": "sync"|"async", "op": ..., "id": ..., "name": ...} a call and
answers {"ok": value} or {"error": class, "message": text}.  Key and address come from the
environment, as an agent has them.
"""
import asyncio
import json
import sys

from e2b import (AsyncSandbox, AsyncSecret, AsyncTemplate, AsyncVolume, Sandbox, Secret, Template,
                 Volume)


def options(job):
    headers = {"Sandgate-Wait": str(job["wait"])} if "wait" in job else None
    return {"headers": headers} if headers else {}


def template():
    return Template().from_image("alpine").run_cmd("true")


SYNC = {
    "list": lambda j, o: len(Sandbox.list(**o).next_items()),
    "getInfo": lambda j, o: Sandbox.get_info(j["id"], **o).sandbox_id,
    "metrics": lambda j, o: len(Sandbox.get_metrics(j["id"], **o)),
    "create": lambda j, o: Sandbox.create("base", timeout=60, **o).sandbox_id,
    "kill": lambda j, o: Sandbox.kill(j["id"], **o),
    "pause": lambda j, o: Sandbox.pause(j["id"], **o),
    "connect": lambda j, o: Sandbox.connect(j["id"], **o).sandbox_id,
    "setTimeout": lambda j, o: Sandbox.set_timeout(j["id"], 120, **o),
    "snapshot": lambda j, o: Sandbox.create_snapshot(j["id"], **o).snapshot_id,
    "fork": lambda j, o: Sandbox.fork(j["id"], **o)[0].sandbox_id,
    "templateBuild": lambda j, o: Template.build(template(), j["name"], **o).template_id,
    "templateExists": lambda j, o: Template.exists(j["name"], **o),
    "volumeCreate": lambda j, o: Volume.create(j["name"], **o).volume_id,
    "volumeList": lambda j, o: len(Volume.list(**o)),
    "volumeDestroy": lambda j, o: Volume.destroy(j["id"], **o),
    "secretCreate": lambda j, o: Secret.create(j["name"], "a-secret-value", **o).name,
    "secretList": lambda j, o: len(Secret.list(**o).next_items()),
    "secretDestroy": lambda j, o: Secret.destroy(j["id"], **o),
}


async def items(paginator):
    return len(await paginator.next_items())


async def attribute(work, name):
    return getattr(await work, name)


async def first(work):
    return (await work)[0].sandbox_id


async def size(work):
    return len(await work)


ASYNC = {
    "list": lambda j, o: items(AsyncSandbox.list(**o)),
    "getInfo": lambda j, o: attribute(AsyncSandbox.get_info(j["id"], **o), "sandbox_id"),
    "metrics": lambda j, o: size(AsyncSandbox.get_metrics(j["id"], **o)),
    "create": lambda j, o: attribute(AsyncSandbox.create("base", timeout=60, **o), "sandbox_id"),
    "kill": lambda j, o: AsyncSandbox.kill(j["id"], **o),
    "pause": lambda j, o: AsyncSandbox.pause(j["id"], **o),
    "connect": lambda j, o: attribute(AsyncSandbox.connect(j["id"], **o), "sandbox_id"),
    "setTimeout": lambda j, o: AsyncSandbox.set_timeout(j["id"], 120, **o),
    "snapshot": lambda j, o: attribute(AsyncSandbox.create_snapshot(j["id"], **o), "snapshot_id"),
    "fork": lambda j, o: first(AsyncSandbox.fork(j["id"], **o)),
    "templateBuild": lambda j, o: attribute(AsyncTemplate.build(template(), j["name"], **o), "template_id"),
    "templateExists": lambda j, o: AsyncTemplate.exists(j["name"], **o),
    "volumeCreate": lambda j, o: attribute(AsyncVolume.create(j["name"], **o), "volume_id"),
    "volumeList": lambda j, o: size(AsyncVolume.list(**o)),
    "volumeDestroy": lambda j, o: AsyncVolume.destroy(j["id"], **o),
    "secretCreate": lambda j, o: attribute(
        AsyncSecret.create(j["name"], "a-secret-value", **o), "name"),
    "secretList": lambda j, o: items(AsyncSecret.list(**o)),
    "secretDestroy": lambda j, o: AsyncSecret.destroy(j["id"], **o),
}


def run(job):
    try:
        if job["flavour"] == "sync":
            return {"ok": SYNC[job["op"]](job, options(job))}
        return {"ok": asyncio.run(ASYNC[job["op"]](job, options(job)))}
    except Exception as error:  # noqa: BLE001: the class and text are what is tested
        return {"error": type(error).__name__, "message": str(error)}


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
