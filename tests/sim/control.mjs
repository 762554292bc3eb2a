// The control port: JSON over plain HTTP, for tests. It is on loopback and asks for no key.
import http from 'node:http';
import { ApiError } from './answer.mjs';
import { KNOBS } from './faults.mjs';
import { STAGES, describe, until } from './journal.mjs';
import { detail } from './views.mjs';
import { TEAM, fullNames } from './world.mjs';

const WAIT_MS = 10_000;

const number = (value) => (value === null ? undefined : Number(value));
const textOf = (value) => value ?? undefined;

const selection = (q) => ({
  method: textOf(q.get('method')), path: textOf(q.get('path')), route: textOf(q.get('route')),
  since: number(q.get('since')), limit: number(q.get('limit')),
});

const ACTIONS = {
  'GET /requests': (sim, q) => sim.journal.select(selection(q)).map(describe),
  'GET /counts': (sim) => ({ ...sim.journal.counts(), connections: sim.http.opened }),
  'GET /connections': (sim) => [...sim.http.connections.values()].map(connectionView),
  'GET /world': (sim) => worldView(sim.world),
  'GET /faults': (sim) => sim.faults.describe(),
  'GET /knobs': () => Object.fromEntries(Object.entries(KNOBS).map(([name, { at, help }]) => [name, { at, help }])),

  'POST /reset': async (sim) => { await sim.reset(); return { ok: true }; },
  'POST /faults': (sim, q, body) => (Array.isArray(body) ? body.map((one) => installed(sim, one)) : installed(sim, body)),
  'DELETE /faults': async (sim) => { await sim.removeFaults(); return { ok: true }; },
  'POST /release': (sim, q, body) => sim.release(body ?? {}),
  'POST /restart': async (sim, q, body) => { await sim.restart(body ?? {}); return { ok: true }; },
  'POST /key': (sim, q, body) => { sim.api.setKeys(body.keys ?? [body.key]); return { ok: true }; },
  'POST /wait': wait,
  'POST /world/seed': (sim, q, body) => seed(sim.world, body),
  'POST /world/expire': (sim, q, body) => { sim.world.expire(sim.world.get(body.sandboxID)); return { ok: true }; },
  'POST /world/remove': (sim, q, body) => { sim.world.remove(sim.world.get(body.sandboxID).sandboxID); return { ok: true }; },
};

const installed = (sim, wish) => ({ id: sim.install(wish).id });

function connectionView({ number: connection, state, ordinal: requests, openedAt }) {
  return { connection, state, requests, openedAt: new Date(openedAt).toISOString() };
}

function worldView(world) {
  return {
    team: TEAM,
    sandboxes: world.inOrder().map((s) => ({ ...detail(s), envVars: s.envVars, keepsMemory: s.keepsMemory, forkOf: s.forkOf })),
    templates: [...world.templates.values()].map((t) => ({
      templateID: t.templateID, own: t.own, public: t.public, names: fullNames(t), snapshotOf: t.snapshotOf, tags: Object.fromEntries(t.tags),
      builds: [...t.builds.values()].map(({ buildID, status, request }) => ({ buildID, status, request })),
    })),
    volumes: [...world.volumes.values()],
    secrets: [...world.secrets.values()],
    webhooks: [...world.webhooks.values()],
    uploads: Object.fromEntries(world.uploads),
    events: world.events.length,
  };
}

/** { sandboxes: [...], templates: [...] }, or just a list of sandboxes. */
function seed(world, body) {
  const { sandboxes = [], templates = [] } = Array.isArray(body) ? { sandboxes: body } : body;
  return {
    templates: templates.map((t) => world.addTemplate({ ready: true, ...(typeof t === 'string' ? { name: t } : t) }).templateID),
    sandboxes: sandboxes.map((s) => detail(world.seedSandbox(s))),
  };
}

/** Any of: count {method, path, route, body, n, stage}, held n, fired {fault, n}, connections n (now open). */
async function wait(sim, q, { count, held, fired, connections, timeout_ms: ms = WAIT_MS }) {
  if (count) {
    if (count.stage && !STAGES[count.stage]) throw new ApiError(400, `stage is one of: ${Object.keys(STAGES).join(', ')}`);
    return answered(await sim.journal.wait(count, ms));
  }
  const condition = [
    [held, () => sim.held.size >= held],
    [fired, () => sim.faults.installed.some((f) => f.id === fired?.fault && f.fired >= (fired.n ?? 1))],
    [connections !== undefined, () => sim.http.connections.size <= connections],
  ].find(([asked]) => asked);
  if (!condition) throw new ApiError(400, 'wait for count, held, fired or connections');
  return answered(await until(condition[1], sim.journal.waiters, ms));
}

function answered(reached) {
  if (!reached) throw new ApiError(408, 'not seen in time');
  return { ok: true };
}

export async function startControl(sim, { host, controlPort }) {
  const server = http.createServer((req, res) => serve(sim, req, res));
  await new Promise((resolve, reject) => server.once('error', reject).listen(controlPort, host, resolve));
  return {
    url: `http://${host}:${server.address().port}`,
    close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}

async function serve(sim, req, res) {
  const { status, value } = await perform(sim, req);
  res.writeHead(status, { 'Content-Type': 'application/json' });
  res.end(`${JSON.stringify(value)}\n`);
}

async function perform(sim, req) {
  try {
    const body = await readJson(req);
    const url = new URL(req.url, 'http://control');
    const action = ACTIONS[`${req.method} ${url.pathname}`];
    if (!action) throw new ApiError(404, `no such action; there are: ${Object.keys(ACTIONS).join(', ')}`);
    return { status: 200, value: await action(sim, url.searchParams, body) };
  } catch (error) {
    return { status: error instanceof ApiError ? error.status : 400, value: { error: error.message } };
  }
}

async function readJson(req) {
  let text = '';
  for await (const piece of req.setEncoding('utf8')) text += piece;
  return text === '' ? undefined : JSON.parse(text);
}
