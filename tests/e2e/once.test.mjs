// At most once: however E2B's side breaks after it has read a write, it has read it once, and
// the agent hears that the outcome is not known.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Simulator, Gateway, allowAll, holdAll, eventually } from './harness.mjs';

const LOST = { // what the simulator does once it has read the whole request
  'drops before headers by RST': { after_effect: 'rst' },
  'drops before headers by FIN': { after_effect: 'fin' },
  'reads and does nothing, RST': { after_request: 'rst' },
  'reads and does nothing, FIN': { after_request: 'fin' },
  'drops inside of the headers': { cut: 'mid_headers' },
  'drops behind the headers': { cut: 'after_headers' },
  'drops inside of the body': { cut: 'mid_body' },
  'never answers': { after_effect: 'hang' },
  'answers without framing and ends': { no_framing: 'half' },
  'answers without framing, whole': { no_framing: 'full' },
  'announces a longer body': { length_long: 10 },
  'announces two lengths': { two_lengths: true },
  'announces length and chunks': { length_and_chunked: true },
  'cuts a chunk': { cut_chunk: true },
  'answers half a JSON document': { invalid_json: true },
  'answers in HTTP/0.9': { http09: true },
  'answers garbage': { raw: Buffer.from('\x00\x01\x02 nonsense\r\n\r\n').toString('base64') },
  'floods interim answers': { interim: { count: 4000 } },
  'floods headers': { huge_headers: 400_000 },
  'answers with a status that does not exist': { status: 600, effect: true },
  'answers with 999': { status: 999, effect: true },
};
const CREATE = { method: 'POST', path: '^/v2/sandboxes$' };
const body = { templateID: 'base' };

async function rig(t, policy) {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy,
    config: { upstream: { answer_ms: 3000, connect_ms: 2000 } } });
  t.after(async () => { await gateway.stop(); await sim.stop(); });
  return { sim, gateway };
}

for (const [reuse, warm] of [['on a fresh connection', false], ['with reusable connections around', true]])
  test(`a write whose answer is lost is delivered once and unknown, ${reuse}`, async t => {
    const { sim, gateway } = await rig(t, allowAll);
    for (const [what, fault] of Object.entries(LOST)) await t.test(what, async () => {
      await sim.ask('POST', '/reset', {});
      if (warm) await Promise.all([1, 2, 3].map(() => gateway.agent('GET', '/v2/sandboxes')));
      await sim.fault(CREATE, fault);
      const answer = await gateway.agent('POST', '/v2/sandboxes', { body });
      assert.equal(answer.status, 504, answer.text);
      assert.equal(answer.json.error_code, 'outcome_unknown');
      assert.equal(answer.json.code, 504);
      assert.match(answer.json.message, /run_[0-9a-z]+/);
      assert.equal((await sim.deliveries('POST', /^\/v2\/sandboxes$/)).length, 1);
      const outcome = (await gateway.records('&operation=sandbox.create')).map(r => r.record)
        .find(r => r.ph === 'outcome');
      assert.equal(outcome.res.outcome, 'unknown');
    });
    assert.equal((await gateway.verify()).code, 0);
  });

test('an approved call whose answer is lost is unknown, and stays so when it is repeated', async t => {
  const { sim, gateway } = await rig(t, holdAll);
  for (const fault of [{ after_effect: 'rst' }, { after_effect: 'fin' }, { cut: 'after_headers' }]) {
    await sim.ask('POST', '/reset', {});
    await sim.fault(CREATE, fault);
    const waiting = gateway.agent('POST', '/v2/sandboxes', { body });
    const { id } = await gateway.pending();
    await gateway.approve(id);
    const answer = await waiting;
    assert.equal(answer.status, 504);
    assert.equal(answer.json.error_code, 'outcome_unknown');
    assert.match(answer.json.message, new RegExp(id));
    assert.equal((await gateway.approval(id)).state, 'unknown');
    assert.equal((await sim.deliveries('POST', /^\/v2\/sandboxes$/)).length, 1);
    await gateway.admin('POST', `/approvals/${id}/settle`, { outcome: 'executed', reason: 'it is in the list' });
    assert.equal((await gateway.approval(id)).state, 'executed');
  }
});

test('what could not be sent says so and may be repeated', async t => {
  const { sim, gateway } = await rig(t, allowAll);
  await sim.fault({}, { connect: 'refuse' });
  await sim.stop();
  const answer = await gateway.agent('POST', '/v2/sandboxes', { body });
  assert.ok([503, 504].includes(answer.status), answer.text);
  assert.match(answer.json.error_code, /^upstream_(unreachable|timeout)$/);
  const outcome = (await gateway.records('&operation=sandbox.create')).map(r => r.record)
    .find(r => r.ph === 'outcome');
  assert.equal(outcome.res.outcome, 'not_sent');
});

test('E2B saying no is passed on once, as it is', async t => {
  const { sim, gateway } = await rig(t, allowAll);
  for (const status of [400, 401, 403, 404, 409, 429, 500, 503, 504]) {
    await sim.ask('POST', '/reset', {});
    await sim.fault(CREATE, { status });
    const answer = await gateway.agent('POST', '/v2/sandboxes', { body });
    assert.equal(answer.status, status);
    assert.equal(answer.json.code, status);
    assert.equal((await sim.deliveries('POST', /^\/v2\/sandboxes$/)).length, 1);
  }
});

test('redirects are not followed and not passed on', async t => {
  const { sim, gateway } = await rig(t, allowAll);
  const other = await Simulator.start();
  t.after(() => other.stop());
  for (const [method, target] of [['GET', '/v2/sandboxes'], ['POST', '/v2/sandboxes']]) {
    await sim.fault({ method, path: '^/v2/sandboxes$' }, { redirect: other.url + target });
    const answer = await gateway.agent(method, target, method === 'POST' ? { body } : {});
    assert.equal(answer.status, 504);
    assert.equal(answer.headers.location, undefined);
  }
  assert.equal((await other.requests()).length, 0);
});

test('a read whose pooled connection died is asked again, once; its agent notices nothing', async t => {
  const { sim, gateway } = await rig(t, allowAll);
  for (let i = 0; i < 5; i++) {
    assert.equal((await gateway.agent('GET', '/v2/sandboxes')).status, 200);
    await sim.ask('POST', '/restart', {}); // ends idle connections
    assert.equal((await gateway.agent('GET', '/v2/sandboxes')).status, 200);
  }
});

test('headers of pages and limits come back untouched', async t => {
  const { sim, gateway } = await rig(t, allowAll);
  await sim.ask('POST', '/world/seed', Array.from({ length: 7 }, () => ({ templateID: 'base' })));
  const page = await gateway.agent('GET', '/v2/sandboxes?limit=3');
  assert.equal(page.json.length, 3);
  assert.equal(page.headers['x-total-running'], '7');
  const next = page.headers['x-next-token'];
  assert.ok(next);
  const second = await gateway.agent('GET', `/v2/sandboxes?limit=3&nextToken=${encodeURIComponent(next)}`);
  assert.equal(second.json.length, 3);
  await sim.fault({ method: 'GET' }, { headers: [['RateLimit-Limit', '100'], ['Set-Cookie', 'a=b'],
    ['X-Custom', 'no'], ['Retry-After', '7']] });
  const limited = await gateway.agent('GET', '/v2/sandboxes');
  assert.equal(limited.headers['ratelimit-limit'], '100');
  assert.equal(limited.headers['retry-after'], '7');
  assert.equal(limited.headers['set-cookie'], undefined);
  assert.equal(limited.headers['x-custom'], undefined);
});

test('query values arrive as they were sent', async t => {
  const { sim, gateway } = await rig(t, allowAll);
  const target = '/v2/sandboxes?metadata=k%252520y%3Dv%2525261&state=running,paused&limit=5';
  assert.equal((await gateway.agent('GET', target)).status, 200);
  const seen = (await sim.deliveries('GET', /^\/v2\/sandboxes/)).at(-1);
  assert.deepEqual(new Set(seen.target.split('?')[1].split('&')),
    new Set(target.split('?')[1].split('&')));
});

test('the real key goes to E2B, the gateway key never does', async t => {
  const { sim, gateway } = await rig(t, allowAll);
  await gateway.agent('POST', '/v2/sandboxes', { body, headers: { Authorization: `Bearer ${gateway.key}`,
    'X-Team-ID': 'other', Cookie: 'a=b', 'X-Forwarded-For': '1.2.3.4' } });
  const requests = await sim.requests();
  const text = JSON.stringify(requests);
  assert.ok(!text.includes(gateway.key));
  const [create] = requests.filter(r => r.method === 'POST');
  const names = create.headers.map(([n]) => n.toLowerCase());
  assert.equal(names.filter(n => n === 'x-api-key').length, 1);
  assert.equal(create.headers.find(([n]) => n.toLowerCase() === 'x-api-key')[1], sim.key);
  for (const name of ['authorization', 'x-team-id', 'cookie', 'x-forwarded-for', 'transfer-encoding'])
    assert.ok(!names.includes(name), name);
});
