// Killed at every named point: nothing is lost, nothing is doubled, the log verifies, and
// every answer that a client got is in it.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Simulator, Gateway, allowAll, holdAll, eventually } from './harness.mjs';

const POINTS = ['before_claim', 'after_claim', 'before_send', 'after_send', 'before_settle',
  'before_commit', 'mid_batch', 'after_commit'];
const SENT = new Set(['after_send', 'before_settle']); // by then E2B certainly has it
const body = token => ({ templateID: 'base', metadata: { token } });

async function restarted(t, gateway, point) {
  const { signal } = await gateway.exited();
  assert.equal(signal, 'SIGKILL', `it died at ${point}`);
  await gateway.again();
  return gateway;
}

function deliveriesOf(requests, token) {
  return requests.filter(r => r.method === 'POST' && (r.bodyText ?? '').includes(token)).length;
}

for (const point of POINTS) test(`killed at ${point}, an approved call`, async t => {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy: holdAll });
  t.after(async () => { await gateway.stop(); await sim.stop(); });
  const token = `approved-${point}`;
  const held = await gateway.agent('POST', '/v2/sandboxes',
    { body: body(token), headers: { 'Sandgate-Wait': '0' } });
  assert.equal(held.status, 423);
  const id = held.headers['sandgate-approval'];
  await gateway.stop();
  // The counted points are passed at start, too: fire on the approval's own commits.
  const nth = { before_commit: 6, mid_batch: 6, after_commit: 6 }[point];
  await gateway.again({ SANDGATE_FAIL: nth ? `${point}:abort:${nth}` : `${point}:abort` });
  const approve = (async () => {
    await gateway.approve(id);
    await gateway.agent('POST', '/v2/sandboxes', { body: body(token) });
    for (;;) await gateway.agent('GET', '/v2/sandboxes'); // until it dies
  })().catch(() => {});
  await restarted(t, gateway, point);
  await approve;
  const approval = await gateway.approval(id);
  assert.notEqual(approval.state, 'executing');
  const first = deliveriesOf(await sim.requests(), token);
  assert.ok(first <= 1);
  if (SENT.has(point)) {
    assert.equal(first, 1);
    assert.equal(approval.state, 'unknown');
    const answer = await gateway.agent('POST', '/v2/sandboxes', { body: body(token) });
    assert.equal(answer.status, 504, answer.text);
  }
  await eventually('a settled state', async () =>
    ['pending', 'approved', 'unknown', 'executed', 'failed'].includes((await gateway.approval(id)).state));
  assert.ok(deliveriesOf(await sim.requests(), token) <= 1);
  const verdict = await gateway.verify();
  assert.equal(verdict.code, 0, verdict.stdout + verdict.stderr);
});

// Many clients at once, killed at a random moment; each keeps what it was told.
test('killed under load: what was answered is in the log, what was sent was sent once', async t => {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy: allowAll });
  t.after(async () => { await gateway.stop(); await sim.stop(); });
  const told = [];
  const rounds = Number(process.env.SANDGATE_KILLS ?? 8);
  for (let round = 0; round < rounds; round++) {
    let dead = false, sent = 0;
    const enough = 40 + 35 * round; // it dies after so many answers
    const clients = Array.from({ length: 12 }, async (_, client) => {
      for (let i = 0; !dead; i++) {
        const token = `load-${round}-${client}-${i}`;
        try {
          const answer = await gateway.agent(i % 3 ? 'GET' : 'POST', '/v2/sandboxes',
            i % 3 ? {} : { body: body(token) });
          told.push({ token, status: answer.status, record: answer.headers['sandgate-record'] });
          if (++sent === enough) { dead = true; gateway.child.kill('SIGKILL'); }
        } catch { dead = true; }
      }
    });
    await Promise.all(clients);
    await restarted(t, gateway, 'a random moment');
  }
  const requests = await sim.requests();
  const seen = new Map();
  for (const r of requests.filter(r => r.method === 'POST')) {
    const token = /"token":"([^"]+)"/.exec(r.bodyText ?? '')?.[1];
    seen.set(token, (seen.get(token) ?? 0) + 1);
  }
  for (const [token, count] of seen) assert.equal(count, 1, token);
  const size = (await gateway.admin('GET', '/audit/head')).size;
  for (const answer of told.filter(a => a.status < 500)) {
    assert.ok(answer.record, JSON.stringify(answer));
    assert.ok(Number(answer.record.split(':')[0]) < size);
  }
  const verdict = await gateway.verify();
  assert.equal(verdict.code, 0, verdict.stdout + verdict.stderr);
});
