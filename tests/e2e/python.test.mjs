// The table of calls once more, through E2B's Python SDK, sync and async.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { Simulator, Gateway, TOP, policyFile, allowAll, denyAll } from './harness.mjs';

const PYTHON = path.join(TOP, 'build/venv/bin/python');
const skip = existsSync(PYTHON) ? false : 'the Python SDK cannot be had here (no PyPI)';
const HOLD = policyFile({ read: 'hold', rules: [{ id: 'all', decide: 'hold',
  why: 'This test holds every call for a person.', match: { operations: ['*.*',
    'secret.create', 'secret.delete'] } }] });
const DENY = { ...denyAll, rules: [{ ...denyAll.rules[0], match: { operations: ['*.*'] } }] };
const text = value => assert.equal(typeof value, 'string');
const yes = value => assert.equal(value, true);
const number = value => assert.equal(typeof value, 'number');

const OPERATIONS = { list: { ok: number }, getInfo: { on: 'running', ok: text },
  metrics: { on: 'running', ok: number }, create: { ok: text }, kill: { on: 'running', ok: yes },
  pause: { on: 'running', ok: () => {} }, connect: { on: 'paused', ok: text },
  setTimeout: { on: 'running', ok: value => assert.equal(value, null) },
  snapshot: { on: 'running', ok: text }, fork: { on: 'running', ok: text },
  templateBuild: { chain: true, ok: text },
  templateExists: { ok: value => assert.equal(value, false), denied: /451: Denied by policy/ },
  volumeCreate: { ok: text }, volumeList: { ok: number }, volumeDestroy: { on: 'volume', ok: yes },
  secretCreate: { ok: text }, secretList: { ok: number }, secretDestroy: { on: 'secret', ok: yes } };

let serial = 0;

// One Python process; jobs are answered in order.
class Python {
  constructor(gateway) {
    this.child = spawn(PYTHON, [path.join(TOP, 'tests/e2e/calls.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, HOME: gateway.folder, E2B_API_URL: gateway.url, E2B_API_KEY: gateway.key } });
    this.lines = readline.createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }
  async call(job) {
    this.child.stdin.write(JSON.stringify(job) + '\n');
    const { value } = await this.lines.next();
    return JSON.parse(value);
  }
  stop() { this.child.stdin.end(); }
}

async function prepare(sim, kind) {
  const ask = async (method, target, body) => {
    const answer = await fetch(sim.url + target, { method, headers: { 'X-API-Key': sim.key,
      'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    return answer.status === 204 ? null : answer.json();
  };
  if (!kind) return undefined;
  if (kind === 'volume') return (await ask('POST', '/volumes', { name: `v${++serial}` })).volumeID;
  if (kind === 'secret') {
    const name = `s${++serial}`;
    await ask('POST', '/secrets', { name, value: 'x' });
    return name;
  }
  const { sandboxID } = await ask('POST', '/v2/sandboxes', { templateID: 'base', timeout: 600 });
  if (kind === 'paused') await ask('POST', `/sandboxes/${sandboxID}/pause`, {});
  return sandboxID;
}

async function rig(t, policy) {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy });
  const python = new Python(gateway);
  t.after(async () => { python.stop(); await gateway.stop(); await sim.stop(); });
  return { sim, gateway, python };
}

for (const flavour of ['sync', 'async']) {
  const each = async (t, sim, work) => {
    for (const [op, row] of Object.entries(OPERATIONS)) await t.test(op, async () => {
      const id = await prepare(sim, row.on);
      await work({ flavour, op, id, name: `${op.toLowerCase()}-${++serial}` }, row);
    });
  };
  test(`Python ${flavour}: allowed`, { skip }, async t => {
    const { sim, python } = await rig(t, allowAll);
    await each(t, sim, async (job, row) => {
      const answer = await python.call(job);
      assert.ok('ok' in answer, JSON.stringify(answer));
      row.ok(answer.ok);
    });
  });
  test(`Python ${flavour}: held, then approved in time`, { skip }, async t => {
    const { sim, gateway, python } = await rig(t, HOLD);
    await each(t, sim, async (job, row) => {
      const answer = await gateway.approving(python.call(job));
      assert.ok('ok' in answer, JSON.stringify(answer));
      row.ok(answer.ok);
    });
  });
  test(`Python ${flavour}: held, undecided, then collected by repeating`, { skip }, async t => {
    const { sim, gateway, python } = await rig(t, HOLD);
    await each(t, sim, async (job, row) => {
      const before = (await sim.requests()).length;
      const held = await python.call({ ...job, wait: 0 });
      assert.match(held.message ?? JSON.stringify(held), /423: Held for approval apr_.*Not executed/);
      assert.equal((await sim.requests()).length, before);
      const [{ id }] = await gateway.open();
      if (row.chain) return gateway.decline(id);
      await gateway.approve(id);
      const answer = await python.call(job);
      assert.ok('ok' in answer, JSON.stringify(answer));
      row.ok(answer.ok);
    });
  });
  test(`Python ${flavour}: declined with a reason`, { skip }, async t => {
    const { sim, gateway, python } = await rig(t, HOLD);
    await each(t, sim, async (job, row) => {
      const before = (await sim.requests()).length;
      const call = python.call(job);
      await gateway.decline((await gateway.pending()).id, 'not on my watch');
      assert.match((await call).message ?? '', row.denied ? /451: .*not on my watch/ : /403: .*not on my watch/);
      assert.equal((await sim.requests()).length, before);
    });
  });
  test(`Python ${flavour}: denied`, { skip }, async t => {
    const { sim, python } = await rig(t, DENY);
    await each(t, sim, async (job, row) => {
      const before = (await sim.requests()).length;
      assert.match((await python.call(job)).message ?? '', row.denied ?? /403: Denied by policy test\/no/);
      assert.equal((await sim.requests()).length, before);
    });
  });
}
