// Every call of the table, through E2B's own JavaScript SDK, in each of the ways that it can
// end.  No held or denied call may look like success, "not found" or "already paused".
import test from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Simulator, Gateway, TOP, eventually, policyFile, allowAll, denyAll } from './harness.mjs';

const require = createRequire(path.join(TOP, 'tests/clients/package.json'));
const { Sandbox, Template, Volume, Secret } = require('e2b');

const HOLD = policyFile({ read: 'hold', rules: [{ id: 'all', decide: 'hold',
  why: 'This test holds every call for a person.',
  match: { operations: ['*.*'] } }, { id: 'guarded', decide: 'hold',
  why: 'Guarded calls are held only when they are named in full.',
  match: { operations: ['secret.create', 'secret.update', 'secret.delete'] } }] });
const DENY = { ...denyAll, rules: [{ ...denyAll.rules[0], match: { operations: ['*.*'] } }] };

let serial = 0;
const name = what => `${what}-${process.pid}-${++serial}`;

// Each row: what to prepare at E2B, the call, what success looks like.
const OPERATIONS = {
  list: { call: o => Sandbox.list(o).nextItems(), ok: r => assert.ok(Array.isArray(r)) },
  getInfo: { on: 'running', call: (o, id) => Sandbox.getInfo(id, o),
    ok: (r, id) => assert.equal(r.sandboxId, id) },
  metrics: { on: 'running', call: (o, id) => Sandbox.getMetrics(id, o),
    ok: r => assert.ok(Array.isArray(r)) },
  create: { call: o => Sandbox.create('base', { ...o, timeoutMs: 60_000 }),
    ok: r => assert.match(r.sandboxId, /^i[a-z0-9]+$/) },
  kill: { on: 'running', call: (o, id) => Sandbox.kill(id, o), ok: r => assert.equal(r, true) },
  pause: { on: 'running', call: (o, id) => Sandbox.pause(id, o), ok: r => assert.equal(r, true) },
  connect: { on: 'paused', call: (o, id) => Sandbox.connect(id, o),
    ok: (r, id) => assert.equal(r.sandboxId, id) },
  setTimeout: { on: 'running', call: (o, id) => Sandbox.setTimeout(id, 120_000, o),
    ok: r => assert.equal(r, undefined) },
  snapshot: { on: 'running', call: (o, id) => Sandbox.createSnapshot(id, o),
    ok: r => assert.ok(r.snapshotId) },
  fork: { on: 'running', call: (o, id) => Sandbox.fork(id, o),
    ok: r => assert.match(r[0].sandboxId, /^i[a-z0-9]+$/) },
  templateBuild: { chain: true, fixed: true, ok: r => assert.ok(r.templateId),
    call: (o, _, n) => Template.build(Template().fromImage('alpine').runCmd('true'), n, o) },
  templateExists: { call: (o, _, n) => Template.exists(n, o), ok: r => assert.equal(r, false),
    denied: /451: Denied by policy/ },
  volumeCreate: { call: (o, _, n) => Volume.create(n, o), ok: r => assert.ok(r.volumeId) },
  volumeList: { call: o => Volume.list(o), ok: r => assert.ok(Array.isArray(r)) },
  volumeDestroy: { on: 'volume', call: (o, id) => Volume.destroy(id, o),
    ok: r => assert.equal(r, true) },
  secretCreate: { call: (o, _, n) => Secret.create(n, 'a-secret-value', o),
    ok: r => assert.ok(r.name) },
  secretList: { call: o => Secret.list(o).nextItems(), ok: r => assert.ok(Array.isArray(r)) },
  secretDestroy: { on: 'secret', call: (o, id) => Secret.destroy(id, o),
    ok: r => assert.equal(r, true) },
};

const direct = sim => ({ apiUrl: sim.url, apiKey: sim.key });

// What the call is about exists at E2B before the agent asks.
async function prepare(sim, kind) {
  const o = direct(sim);
  if (!kind) return undefined;
  if (kind === 'volume') return (await Volume.create(name('vol'), o)).volumeId;
  if (kind === 'secret') return (await Secret.create(name('sec'), 'x', o)).name;
  const sandbox = await Sandbox.create('base', { ...o, timeoutMs: 600_000 });
  if (kind === 'paused') await Sandbox.pause(sandbox.sandboxId, o);
  return sandbox.sandboxId;
}

async function rig(t, policy) {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy });
  t.after(async () => {
    gateway.child.exitCode === null && await gateway.stop();
    await sim.stop();
  });
  return { sim, gateway };
}

const fails = (work, message) => assert.rejects(work, error => {
  assert.match(error.message, message);
  return true;
});

test('allowed calls behave as if there were no gateway', async t => {
  const { sim, gateway } = await rig(t, allowAll);
  for (const [key, row] of Object.entries(OPERATIONS)) await t.test(key, async () => {
    const id = await prepare(sim, row.on);
    row.ok(await row.call(gateway.sdk(), id, name(key.toLowerCase())), id);
  });
  assert.equal((await gateway.verify()).code, 0);
});

test('held calls that are approved in time return as if nothing had happened', async t => {
  const { sim, gateway } = await rig(t, HOLD);
  for (const [key, row] of Object.entries(OPERATIONS)) await t.test(key, async () => {
    const id = await prepare(sim, row.on);
    row.ok(await gateway.approving(row.call(gateway.sdk(), id, name(key.toLowerCase()))), id);
  });
  assert.equal((await gateway.verify()).code, 0);
});

test('held calls that nobody decided are 423, and repeating collects the result', async t => {
  const { sim, gateway } = await rig(t, HOLD);
  for (const [key, row] of Object.entries(OPERATIONS)) await t.test(key, async () => {
    const id = await prepare(sim, row.on), n = name(key.toLowerCase());
    const soon = { ...gateway.sdk(), headers: { 'Sandgate-Wait': '0' } };
    const before = (await sim.requests()).length;
    await fails(row.call(soon, id, n), /423: Held for approval apr_[0-9a-z]+: .*Not executed/);
    assert.equal((await sim.requests()).length, before, 'nothing was sent');
    const [{ id: approval, operation }] = (await gateway.open());
    if (row.chain) return gateway.decline(approval); // each step is a call of its own
    await gateway.approve(approval);
    row.ok(await row.call(gateway.sdk(), id, n), id);
    const after = await gateway.state(approval, 'executed', 'failed');
    assert.equal(after.collected, true, operation);
    assert.deepEqual(await gateway.open(), [], 'one approval, not two');
  });
  for (const approval of await gateway.open()) await gateway.decline(approval.id);
});

test('declined calls carry the reason of the approver', async t => {
  const { sim, gateway } = await rig(t, HOLD);
  for (const [key, row] of Object.entries(OPERATIONS)) await t.test(key, async () => {
    const id = await prepare(sim, row.on), n = name(key.toLowerCase());
    const before = (await sim.requests()).length;
    const call = row.call(gateway.sdk(), id, n);
    const words = row.denied ? /451: .*ada.*not on my watch/ : /403: .*declined.*ada.*not on my watch/;
    const refused = fails(call, words);
    await gateway.decline((await gateway.pending()).id, 'not on my watch');
    await refused;
    await fails(row.call(gateway.sdk(), id, n), words); // cooling down
    assert.deepEqual(await gateway.open(), [], 'no second card while it cools down');
    assert.equal((await sim.requests()).length, before, 'nothing was sent');
  });
});

test('denied calls name the rule and its reason', async t => {
  const { sim, gateway } = await rig(t, DENY);
  for (const [key, row] of Object.entries(OPERATIONS)) await t.test(key, async () => {
    const id = await prepare(sim, row.on);
    const before = (await sim.requests()).length;
    await fails(row.call(gateway.sdk(), id, name(key.toLowerCase())),
      row.denied ?? /403: Denied by policy test\/no: This test denies every change, always\./);
    assert.equal((await sim.requests()).length, before, 'nothing was sent');
  });
});

test('five parallel identical creates are five approvals and five sandboxes', async t => {
  const { sim, gateway } = await rig(t, HOLD);
  const calls = Array.from({ length: 5 }, () =>
    Sandbox.create('base', { ...gateway.sdk(), timeoutMs: 60_000 }));
  const sandboxes = await gateway.approving(Promise.all(calls));
  assert.equal(new Set(sandboxes.map(s => s.sandboxId)).size, 5);
  assert.equal((await gateway.approvals()).length, 5);
  assert.equal((await sim.deliveries('POST', /^\/v2\/sandboxes$/)).length, 5);
});

test('a create repeated after its client gave up is one approval and one sandbox', async t => {
  const { sim, gateway } = await rig(t, HOLD);
  const impatient = new AbortController();
  const first = Sandbox.create('base', { ...gateway.sdk(), signal: impatient.signal });
  const held = await gateway.pending();
  impatient.abort();
  await assert.rejects(first);
  await eventually('the gateway notices that the client left', async () =>
    !(await gateway.approval(held.id)).agent_waits, 5000);
  await gateway.approve(held.id);
  assert.equal((await gateway.approval(held.id)).state, 'approved', 'its clock has not begun');
  const sandbox = await Sandbox.create('base', { ...gateway.sdk() });
  assert.match(sandbox.sandboxId, /^i/);
  assert.equal((await gateway.approvals()).length, 1);
  assert.equal((await sim.deliveries('POST', /^\/v2\/sandboxes$/)).length, 1);
});

test('code-interpreter creates, lists and kills through the gateway', async t => {
  const { gateway } = await rig(t, allowAll);
  const { Sandbox: Interpreter } = require('@e2b/code-interpreter');
  const sandbox = await Interpreter.create({ ...gateway.sdk() });
  assert.ok((await Interpreter.list(gateway.sdk()).nextItems())
    .some(s => s.sandboxId === sandbox.sandboxId));
  assert.equal(await Interpreter.kill(sandbox.sandboxId, gateway.sdk()), true);
});
