// The life of a held call: waiting, meeting it again, cancelling, expiring, deciding, leaving.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { Simulator, Gateway, holdAll, allowAll, denyAll, policyFile, request, eventually } from './harness.mjs';

const body = { templateID: 'base' };
const NOBODY = 65534;
const create = { body };

async function rig(t, policy = holdAll, config = {}) {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy, config });
  t.after(async () => {
    if (gateway.child.exitCode === null && gateway.child.signalCode === null) await gateway.stop();
    await sim.stop();
  });
  return { sim, gateway };
}
const seeded = async (sim, state = 'running') =>
  (await sim.ask('POST', '/world/seed', [{ templateID: 'base', state }])).sandboxes[0].sandboxID;
const delivered = async (sim, method, target) =>
  (await sim.requests()).filter(r => r.method === method && r.target === target).length;

test('a pending answer says everything an agent needs', async t => {
  const { gateway } = await rig(t);
  const answer = await gateway.agent('POST', '/v2/sandboxes', { ...create, headers: { 'Sandgate-Wait': '0' } });
  assert.equal(answer.status, 423);
  assert.equal(answer.json.code, 423);
  assert.equal(answer.json.error_code, 'approval_pending');
  const id = answer.headers['sandgate-approval'];
  assert.match(id, /^apr_/);
  assert.equal(answer.headers['sandgate-state'], 'pending');
  assert.match(answer.headers['sandgate-record'], /^\d+:[0-9a-f]{16}:\d+$/);
  assert.match(answer.json.message, new RegExp(`Held for approval ${id}: .*Not executed.*repeat the same call`));
});

test('the default wait is the policy\'s, and Sandgate-Wait is capped by it', async t => {
  const { gateway } = await rig(t, policyFile({ approval: { wait: '1s', wait_max: '2s' } }));
  for (const [headers, least] of [[{}, 900], [{ 'Sandgate-Wait': '600' }, 1900], [{ 'Sandgate-Wait': '0' }, 0]]) {
    const began = Date.now();
    const answer = await gateway.agent('POST', '/v2/sandboxes', { body: { templateID: `t${least}` }, headers });
    assert.equal(answer.status, 423);
    assert.ok(Date.now() - began >= least, 'it waited');
    assert.ok(Date.now() - began < least + 20000);
  }
  for (const bad of ['-1', '601', '1.5', 'soon', ''])
    assert.equal((await gateway.agent('POST', '/v2/sandboxes', { ...create, headers: { 'Sandgate-Wait': bad } })).status, 400);
});

test('kill, pause and delete run at approval although their agent has gone', async t => {
  const { sim, gateway } = await rig(t);
  const id = await seeded(sim);
  const answer = await gateway.agent('DELETE', `/sandboxes/${id}`, { headers: { 'Sandgate-Wait': '0' } });
  assert.equal(answer.status, 423);
  const approval = answer.headers['sandgate-approval'];
  await gateway.approve(approval);
  await gateway.state(approval, 'executed');
  assert.equal(await delivered(sim, 'DELETE', `/sandboxes/${id}`), 1);
  const collected = await gateway.agent('DELETE', `/sandboxes/${id}`);
  assert.equal(collected.status, 204);
  assert.equal(collected.headers['sandgate-approval'], approval);
  assert.equal(await delivered(sim, 'DELETE', `/sandboxes/${id}`), 1);
  const next = await gateway.agent('DELETE', `/sandboxes/${id}`, { headers: { 'Sandgate-Wait': '0' } });
  assert.equal(next.status, 423, 'collected once; the next one is a new call');
  assert.notEqual(next.headers['sandgate-approval'], approval);
});

test('a client that leaves is noticed within seconds; its approval stays', async t => {
  const { gateway } = await rig(t);
  let socket;
  const call = request({ host: '127.0.0.1', port: new URL(gateway.url).port, method: 'POST', path: '/v2/sandboxes',
    headers: { 'X-API-Key': gateway.key, 'Content-Type': 'application/json' },
    opened: out => { socket = out; } }, JSON.stringify(body)).catch(() => 'gone');
  const { id } = await gateway.pending();
  assert.equal((await gateway.approval(id)).agent_waits, true);
  const left = Date.now();
  socket.destroy();
  await eventually('gone', async () => !(await gateway.approval(id)).agent_waits);
  assert.ok(Date.now() - left < 5000);
  assert.equal((await gateway.approval(id)).state, 'pending');
  assert.equal(await call, 'gone');
});

test('the composite form of a sandbox id is the same call', async t => {
  const { sim, gateway } = await rig(t);
  const id = await seeded(sim);
  const wait0 = { headers: { 'Sandgate-Wait': '0' } };
  const one = await gateway.agent('DELETE', `/sandboxes/${id}`, wait0);
  const two = await gateway.agent('DELETE', `/sandboxes/${id}-a1b2c3`, wait0);
  assert.equal(two.headers['sandgate-approval'], one.headers['sandgate-approval']);
});

test('Idempotency-Key makes the match explicit', async t => {
  const { sim, gateway } = await rig(t);
  const headers = { 'Sandgate-Wait': '0', 'Idempotency-Key': 'order-66' };
  const one = await gateway.agent('POST', '/v2/sandboxes', { ...create, headers });
  const other = await gateway.agent('POST', '/v2/sandboxes', { body: { templateID: 'other' }, headers });
  assert.equal(other.status, 400);
  assert.match(other.json.message, /Idempotency-Key/);
  await gateway.approve(one.headers['sandgate-approval']);
  const waiting = { 'Idempotency-Key': 'order-66' };
  const done = await gateway.agent('POST', '/v2/sandboxes', { ...create, headers: waiting });
  assert.equal(done.status, 201);
  const again = await gateway.agent('POST', '/v2/sandboxes', { ...create, headers: waiting });
  assert.equal(again.status, 201);
  assert.equal(again.json.sandboxID, done.json.sandboxID, 'the stored answer, as often as asked');
  assert.equal(await delivered(sim, 'POST', '/v2/sandboxes'), 1);
});

test('an agent sees and cancels its own approvals, and nobody else\'s', async t => {
  const { sim, gateway } = await rig(t);
  await gateway.admin('POST', '/agents', { name: 'other', team: 'web' });
  const stranger = await gateway.mint('other');
  const held = await gateway.agent('POST', '/v2/sandboxes', { ...create, headers: { 'Sandgate-Wait': '0' } });
  const at = `/sandgate/v1/approvals/${held.headers['sandgate-approval']}`;
  assert.equal((await gateway.agent('GET', at)).json.state, 'pending');
  assert.equal((await gateway.agent('GET', at, { key: stranger })).status, 404);
  assert.equal((await gateway.agent('DELETE', at, { key: stranger })).status, 404);
  const polled = gateway.agent('GET', `${at}?wait=30`);
  const cancelled = await gateway.agent('DELETE', at);
  assert.equal(cancelled.json.state, 'cancelled');
  assert.equal((await polled).json.state, 'cancelled', 'a long poll hears of it');
  await assert.rejects(gateway.approve(held.headers['sandgate-approval']), /409/);
  assert.equal(await delivered(sim, 'POST', '/v2/sandboxes'), 0);
  const { json } = await gateway.agent('GET', '/sandgate/v1/whoami');
  assert.equal(json.agent, 'robot');
  assert.equal(json.environment, 'production');
});

test('a call that nobody decides expires: refused, recorded, never run', async t => {
  const { sim, gateway } = await rig(t, policyFile({ approval: { expires: '1m' } }));
  const id = await seeded(sim);
  const held = await gateway.agent('DELETE', `/sandboxes/${id}`, { headers: { 'Sandgate-Wait': '0' } });
  const approval = held.headers['sandgate-approval'];
  await gateway.stop();
  const clock = `${gateway.folder}/clock`;
  fs.writeFileSync(clock, '0');
  await gateway.again({ SANDGATE_CLOCK_FILE: clock });
  assert.equal((await gateway.approval(approval)).state, 'pending', 'it outlives a restart');
  fs.writeFileSync(clock, '61000');
  await gateway.state(approval, 'expired');
  await assert.rejects(gateway.approve(approval), /409/);
  fs.writeFileSync(clock, '-3600000'); // the clock steps back an hour
  await assert.rejects(gateway.approve(approval), /409/);
  assert.equal(await delivered(sim, 'DELETE', `/sandboxes/${id}`), 0);
  const story = (await gateway.records(`&approval=${approval}`)).map(r => r.record.appr.state);
  assert.ok(story.includes('expired'), String(story));
});

test('quorum counts distinct people; owner, minter and outsiders do not vote', async t => {
  const policy = policyFile({ approval: { need: 2 } });
  const { gateway } = await rig(t, policy);
  await gateway.admin('POST', '/agents', { name: 'owned', team: 'data', owner: 'ada' });
  const key = await gateway.mint('owned');
  const held = await gateway.agent('POST', '/v2/sandboxes', { ...create, key, headers: { 'Sandgate-Wait': '0' } });
  await assert.rejects(gateway.approve(held.headers['sandgate-approval']), /403.*own/);
  const other = await gateway.agent('POST', '/v2/sandboxes', { ...create, headers: { 'Sandgate-Wait': '0' } });
  const id = other.headers['sandgate-approval'];
  assert.equal((await gateway.approve(id)).state, 'pending', 'one of two');
  assert.equal((await gateway.approve(id)).state, 'pending', 'the same person again is still one');
  await gateway.admin('POST', '/people', { name: 'ben', roles: 'approver', uid: NOBODY });
  await gateway.admin('POST', '/people', { name: 'zoe', roles: 'approver', uid: NOBODY + 1 });
  for (const [file, mode] of [['', 0o755], ['admin.sock', 0o666]]) fs.chmodSync(`${gateway.folder}/${file}`, mode);
  const outsider = await gateway.cli(['approvals', 'approve', id, '--yes'], { uid: NOBODY + 1 });
  assert.notEqual(outsider.code, 0, 'zoe is in no group that is asked for');
  const second = await gateway.cli(['approvals', 'approve', id, '--yes'], { uid: NOBODY });
  assert.equal(second.code, 0, second.stderr);
  assert.equal((await gateway.approval(id)).state, 'approved');
});

test('approve and decline race: one outcome each, the loser is told', async t => {
  const { sim, gateway } = await rig(t);
  const rounds = Number(process.env.SANDGATE_RACES ?? 60);
  for (let i = 0; i < rounds; i++) {
    const id = await seeded(sim);
    const held = await gateway.agent('DELETE', `/sandboxes/${id}`, { headers: { 'Sandgate-Wait': '0' } });
    const approval = held.headers['sandgate-approval'];
    const outcomes = await Promise.allSettled([gateway.approve(approval), gateway.decline(approval)]);
    const won = outcomes.filter(o => o.status === 'fulfilled');
    assert.equal(won.length, 1, JSON.stringify(outcomes));
    assert.match(outcomes.find(o => o.status === 'rejected').reason.message, /409/);
    const end = await gateway.state(approval, 'executed', 'declined');
    assert.equal(await delivered(sim, 'DELETE', `/sandboxes/${id}`), end.state === 'executed' ? 1 : 0);
  }
});

test('policy is judged again at the claim: deny supersedes, stricter asks again', async t => {
  const { sim, gateway } = await rig(t);
  const id = await seeded(sim), two = await seeded(sim);
  const hold = async sandbox => (await gateway.agent('DELETE', `/sandboxes/${sandbox}`,
    { headers: { 'Sandgate-Wait': '0' } })).headers['sandgate-approval'];
  const denied = await hold(id), stricter = await hold(two);
  gateway.policy(denyAll);
  await gateway.admin('POST', '/policy/reload', {});
  await gateway.approve(denied);
  await gateway.state(denied, 'superseded');
  assert.equal(await delivered(sim, 'DELETE', `/sandboxes/${id}`), 0);
  gateway.policy(policyFile({ approval: { need: 2 } }));
  await gateway.admin('POST', '/policy/reload', {});
  await gateway.approve(stricter);
  const again = await eventually('pending once more', async () => {
    const approval = await gateway.approval(stricter);
    return approval.state === 'pending' && approval.version > 2 && approval;
  });
  assert.equal(again.verdict.needs.some(n => n.need === 2), true, JSON.stringify(again.verdict));
  assert.equal(await delivered(sim, 'DELETE', `/sandboxes/${two}`), 0);
});

test('a policy that does not load leaves the old one in force and says so', async t => {
  const { gateway } = await rig(t, allowAll);
  const before = (await gateway.admin('GET', '/status')).policy.digest;
  gateway.policy({ version: 1, name: 'test', ruels: [] });
  const answer = await gateway.admin('POST', '/policy/reload', {}, { raw: true });
  assert.equal(answer.status, 422);
  assert.match(answer.text, /00-test\.json.*ruels.*did you mean.*rules/);
  const status = await gateway.admin('GET', '/status');
  assert.equal(status.policy.digest, before);
  assert.ok(status.policy.refused_ms > 0);
  assert.equal((await gateway.agent('POST', '/v2/sandboxes', create)).status, 201);
  assert.ok((await gateway.records()).some(r => r.record.ev === 'policy.rejected'));
});

test('SIGTERM with a hundred held clients: exit 0 within ten seconds, none lost', async t => {
  const { sim, gateway } = await rig(t);
  const calls = Array.from({ length: 100 }, (_, i) =>
    gateway.agent('POST', '/v2/sandboxes', { body: { templateID: 'base', metadata: { i: String(i) } } }));
  await eventually('all are held', async () =>
    (await gateway.admin('GET', '/status')).approvals.pending === 100);
  const began = Date.now();
  const { code } = await gateway.stop();
  assert.equal(code, 0);
  assert.ok(Date.now() - began < 10_000, `${Date.now() - began} ms`);
  const answers = await Promise.all(calls);
  assert.deepEqual([...new Set(answers.map(a => a.status))], [423]);
  await gateway.again();
  assert.equal((await gateway.open()).length, 100);
  assert.equal(await delivered(sim, 'POST', '/v2/sandboxes'), 0);
  assert.equal((await gateway.verify()).code, 0);
});

test('many wait at once, and all are run when approved', async t => {
  const many = Number(process.env.SANDGATE_HELD ?? 500);
  const { sim, gateway } = await rig(t, policyFile({ approval: { wait: '10m', wait_max: '10m' } }),
    { limits: { agent_connections: many + 500 } });
  const calls = Array.from({ length: many }, (_, i) =>
    gateway.agent('POST', '/v2/sandboxes', { body: { templateID: 'base', metadata: { i: String(i) } } }));
  await eventually('all are held', async () =>
    (await gateway.admin('GET', '/status')).approvals.pending === many);
  assert.equal((await gateway.agent('GET', '/v2/sandboxes')).status, 200, 'others are served meanwhile');
  for (;;) {
    const { approvals } = await gateway.admin('GET', '/approvals?state=pending&limit=1000');
    if (approvals.length === 0) break;
    for (let i = 0; i < approvals.length; i += 50)
      await Promise.all(approvals.slice(i, i + 50).map(a => gateway.approve(a.id)));
  }
  const answers = await Promise.all(calls);
  assert.deepEqual([...new Set(answers.map(a => a.status))], [201]);
  assert.equal(new Set(answers.map(a => a.json.sandboxID)).size, many);
  assert.equal(await delivered(sim, 'POST', '/v2/sandboxes'), many);
});

test('a call whose agent or key lost its right meanwhile does not run', async t => {
  const { sim, gateway } = await rig(t);
  const wait0 = { headers: { 'Sandgate-Wait': '0' } };
  for (const [what, lose] of [
    ['revoked', key => gateway.admin('POST', `/keys/${key.slice(4, 12)}/revoke`, {})],
    ['disabled', () => gateway.admin('POST', '/agents/other/disable', {})]]) {
    if (what === 'revoked') await gateway.admin('POST', '/agents', { name: 'other', team: 'web' });
    const key = await gateway.mint('other'), id = await seeded(sim);
    const held = await gateway.agent('DELETE', `/sandboxes/${id}`, { key, ...wait0 });
    await lose(key);
    await gateway.approve(held.headers['sandgate-approval']);
    const end = await gateway.state(held.headers['sandgate-approval'], 'superseded');
    assert.match(end.decided_reason, new RegExp(what));
    assert.equal(await delivered(sim, 'DELETE', `/sandboxes/${id}`), 0);
  }
});

test('waking a sandbox for a moment is an end: held although writes are allowed', async t => {
  const { sim, gateway } = await rig(t, policyFile({ write: 'allow' }));
  for (const [target, timeout] of [['resume', 0], ['connect', 0], ['connect', 29]]) {
    const id = await seeded(sim, 'paused');
    const answer = await gateway.agent('POST', `/sandboxes/${id}/${target}`,
      { body: { timeout }, headers: { 'Sandgate-Wait': '0' } });
    assert.equal(answer.status, 423, `${target} ${timeout}`);
    assert.equal((await gateway.approval(answer.headers['sandgate-approval'])).effect, 'destructive');
  }
  const id = await seeded(sim, 'paused');
  assert.ok((await gateway.agent('POST', `/sandboxes/${id}/connect`, { body: { timeout: 300 } })).status < 300);
});

test('a second caller with the same Idempotency-Key takes nobody\'s place', async t => {
  const { gateway } = await rig(t);
  const headers = { 'Idempotency-Key': 'both' };
  const first = gateway.agent('POST', '/v2/sandboxes', { ...create, headers });
  const { id } = await gateway.pending();
  await gateway.agent('POST', '/v2/sandboxes', { ...create, headers: { ...headers, 'Sandgate-Wait': '0' } });
  await gateway.approve(id);
  assert.equal((await first).status, 201);
});

test('a fresh Idempotency-Key is no way round a decline; another skill is another call', async t => {
  const { gateway } = await rig(t);
  const held = await gateway.agent('POST', '/v2/sandboxes', { ...create, headers: { 'Sandgate-Wait': '0' } });
  const key = await gateway.mint('robot', { skills: '*' });
  const other = await gateway.agent('POST', '/v2/sandboxes', { ...create, key,
    headers: { 'Sandgate-Wait': '0', 'Sandgate-Skill': 'pr-tests' } });
  assert.notEqual(other.headers['sandgate-approval'], held.headers['sandgate-approval']);
  await gateway.decline(held.headers['sandgate-approval']);
  const again = await gateway.agent('POST', '/v2/sandboxes', { ...create,
    headers: { 'Sandgate-Wait': '0', 'Idempotency-Key': 'another' } });
  assert.equal(again.status, 403, again.text);
});

test('nothing is asked of E2B for a person without the right to ask', async t => {
  const { sim, gateway } = await rig(t);
  fs.chmodSync(gateway.folder, 0o755);
  fs.chmodSync(`${gateway.folder}/admin.sock`, 0o666);
  const before = (await sim.requests()).length;
  const { code } = await gateway.cli(['env', 'test', 'production'], { uid: NOBODY });
  assert.notEqual(code, 0);
  assert.equal((await sim.requests()).length, before);
});
