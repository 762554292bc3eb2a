// Every fault knob: what the client gets, and whether the request was carried out.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import zlib from 'node:zlib';
import { KNOBS } from './faults.mjs';
import { KEY, head, post, raw, simulator } from './testkit.mjs';

const PATH = '/v2/sandboxes';
const BODY = '{"templateID":"base"}';
const CREATE = post(PATH, BODY);
const split = (text) => { const at = text.indexOf('\r\n\r\n'); return [text.slice(0, at), text.slice(at + 4)]; };
const lines = (text, name) => split(text)[0].split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name}:`));

// knobs → what a raw client that sends one create sees; `made` = how many sandboxes exist afterwards.
// `how` is left out where a reset follows data: libuv reports data and reset together as a plain end.
const CASES = [
  { do: { after_head: 'rst' }, made: 0, how: 'ECONNRESET', got: /^$/ },
  { do: { after_head: 'fin' }, made: 0, how: 'fin', got: /^$/ },
  { do: { after_head: { status: 413, body: { code: 413, message: 'early' } } }, made: 0, got: /^HTTP\/1.1 413 .*"early"}$/s },
  { do: { half_body: 'rst' }, made: 0, how: 'ECONNRESET', got: /^$/ },
  { do: { half_body: 'fin' }, made: 0, how: 'fin', got: /^$/ },
  { do: { half_body: { status: 401 } }, made: 0, got: /^HTTP\/1.1 401 .*"code":401/s },
  { do: { after_request: 'rst' }, made: 0, how: 'ECONNRESET', got: /^$/ },
  { do: { after_request: 'fin' }, made: 0, how: 'fin', got: /^$/ },
  { do: { after_request: 'restart' }, made: 0, how: 'fin', got: /^$/ },
  { do: { after_effect: 'rst' }, made: 1, how: 'ECONNRESET', got: /^$/ },
  { do: { after_effect: 'fin' }, made: 1, how: 'fin', got: /^$/ },
  { do: { after_effect: 'fin', cut: 'mid_headers' }, made: 1, got: /^HTTP\/1.1 201 Created\r\n(?!.*\r\n\r\n)/s },
  { do: { after_effect: 'fin', cut: 'after_headers' }, made: 1, got: /^HTTP\/1.1 201 .*\r\n\r\n$/s },
  { do: { after_effect: 'rst', cut: 'mid_body' }, made: 1, got: /\r\n\r\n\{"templateID"[^}]*$/s },
  { do: { delay_ms: 30 }, made: 1, got: /^HTTP\/1.1 201 / },
  { do: { effect: false }, made: 0, got: /^HTTP\/1.1 500 / },
  { do: { status: 503, effect: true }, made: 1, got: /^HTTP\/1.1 503 / },
  { do: { status: 500 }, made: 0, got: /^HTTP\/1.1 500 .*\{"code":500,"message":"simulated 500"\}$/s },
  { do: { status: 999 }, made: 0, got: /^HTTP\/1.1 999 \r\n/ },
  { do: { status: 'abc' }, made: 0, got: /^HTTP\/1.1 abc \r\n/ },
  { do: { status: 403, body: { code: 404, message: 'x' } }, made: 0, got: /^HTTP\/1.1 403 .*"code":404/s },
  { do: { rate_limited: true }, made: 0, got: /^HTTP\/1.1 429 (?!.*Retry-After)/s },
  { do: { rate_limited: 2 }, made: 0, got: /^HTTP\/1.1 429 .*Retry-After: 2\r\n/s },
  { do: { echo_key: true }, made: 0, got: new RegExp(`^HTTP/1.1 400 .*bad request by ${KEY}`, 's') },
  { do: { redirect: 'http://elsewhere.test/' }, made: 0, got: /^HTTP\/1.1 307 .*Location: http:\/\/elsewhere.test\/\r\n/s },
  { do: { html_error: true }, made: 0, got: /^HTTP\/1.1 502 .*text\/html.*<html>/s },
  { do: { body: 'plain' }, made: 1, got: /^HTTP\/1.1 201 .*\r\n\r\nplain$/s },
  { do: { headers: [['X-A', '1'], ['X-A', '2']] }, made: 1, got: /X-A: 1\r\nX-A: 2\r\n/ },
  { do: { set_cookie: true }, made: 1, got: /Set-Cookie: session=/ },
  { do: { charset: 'utf-16' }, made: 1, got: /Content-Type: application\/json; charset=utf-16\r\n/ },
  { do: { content_type: 'text/html' }, made: 1, got: /Content-Type: text\/html\r\n/ },
  { do: { invalid_json: true }, made: 1, see: (text) => assert.throws(() => JSON.parse(split(text)[1])) },
  { do: { invalid_utf8: true }, made: 1, got: /\r\n\r\n\{"name":"\xff\xfe\x80\xc0"\}$/ },
  { do: { other_id: 'iother' }, made: 1, got: /"sandboxID":"iother"/ },
  { do: { other_id: true }, made: 1, got: /"sandboxID":"i[a-z0-9]{20}"/ },
  { do: { body_on_204: true }, made: 1, got: /^HTTP\/1.1 204 .*Content-Length: \d+\r\n.*sandboxID/s },
  { do: { gzip_bomb: 1 << 20 }, made: 1, see: (text, bytes) => assert.equal(zlib.gunzipSync(bytes.subarray(text.indexOf('\r\n\r\n') + 4)).length, 1 << 20) },
  { do: { huge_body: 3_000_000 }, made: 1, see: (text) => assert.ok(split(text)[1].length > 3_000_000 && Number(lines(text, 'content-length')[0].slice(16)) === split(text)[1].length) },
  { do: { huge_headers: 100_000 }, made: 1, see: (text) => assert.ok(split(text)[0].length > 100_000) },
  { do: { interim: { count: 1200 } }, made: 1, see: (text) => assert.equal(text.split('HTTP/1.1 103 ').length - 1, 1200) },
  { do: { interim: { count: 1, status: 100 } }, made: 1, got: /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 / },
  { do: { no_reason: true }, made: 1, got: /^HTTP\/1.1 201\r\n/ },
  { do: { http09: true }, made: 1, got: /^\{"templateID/ },
  { do: { no_framing: 'full' }, made: 1, see: (text) => { assert.equal(lines(text, 'content-length').length, 0); JSON.parse(split(text)[1]); } },
  { do: { no_framing: 'half' }, made: 1, see: (text) => assert.throws(() => JSON.parse(split(text)[1])) },
  { do: { length_short: 5 }, made: 1, see: (text) => assert.equal(Number(lines(text, 'content-length')[0].slice(16)), split(text)[1].length - 5) },
  { do: { length_long: 5 }, made: 1, see: (text) => assert.equal(Number(lines(text, 'content-length')[0].slice(16)), split(text)[1].length + 5) },
  { do: { two_lengths: [3, 4] }, made: 1, see: (text) => assert.deepEqual(lines(text, 'content-length'), ['Content-Length: 3', 'Content-Length: 4']) },
  { do: { length_and_chunked: true }, made: 1, see: (text) => assert.deepEqual([lines(text, 'content-length').length, lines(text, 'transfer-encoding').length], [1, 1]) },
  { do: { chunked: true }, made: 1, got: /Transfer-Encoding: chunked\r\n\r\n[0-9a-f]+\r\n\{.*\}\r\n0\r\n\r\n$/s },
  { do: { cut_chunk: true }, made: 1, got: /Transfer-Encoding: chunked\r\n.*\r\n\r\n[0-9a-f]+\r\n\{[^}]*$/s },
  { do: { raw: Buffer.from('garbage\0').toString('base64') }, made: 1, got: /^garbage\0$/ },
  { do: { byte_by_byte: 0, status: 200, body: 'x' }, made: 0, got: /^HTTP\/1.1 200 .*x$/s },
  { do: { cut: 'after_headers', end: 'rst' }, made: 1, got: /^HTTP\/1.1 201 .*\r\n\r\n$/s },
  { do: { end: 'fin' }, made: 1, got: /Connection: close\r\n/ },
  { do: { end: 'keep' }, made: 1, got: /^HTTP\/1.1 201 (?!.*Connection)/s },
];

test('each knob, seen by a raw client', async (t) => {
  const { sim, port, control, fault } = await simulator(t);
  for (const { do: wish, made, how, got, see } of CASES) {
    const what = JSON.stringify(wish);
    await control('POST', '/reset');
    await fault({ method: 'POST', path: '^/v2/sandboxes$' }, wish);
    const seen = await raw(port, CREATE, { endAfter: complete });
    if (got) assert.match(seen.text, got, what);
    if (see) see(seen.text, seen.bytes);
    if (how) assert.equal(seen.how, how, what);
    assert.equal(sim.world.sandboxes.size, made, what);
    assert.equal((await control('GET', '/faults'))[0].fired, 1, what);
    await sim.http.listen();
  }
});

/** A kept connection never ends by itself: enough is enough once the last byte that is due came. */
function complete(text) {
  if (!text.includes('\r\n\r\n')) return false;
  const [top, body] = split(text.slice(Math.max(0, text.lastIndexOf('HTTP/1.1 '))));
  if (!/^HTTP\/1.1 [^1]/.test(top) || /connection: close/i.test(top)) return false;
  if (/transfer-encoding/i.test(top)) return body.endsWith('0\r\n\r\n');
  const sizes = [...top.matchAll(/content-length: (\d+)/gi)].map((m) => Number(m[1]));
  return sizes.length > 0 && body.length >= Math.max(...sizes);
}

test('hang: before reading, after the headers, the body, the answer; release ends it', async (t) => {
  const { port, control, fault } = await simulator(t);
  const stages = [{ connect: 'hang' }, { after_head: 'hang' }, { half_body: 'hang' }, { after_request: 'hang' }, { after_effect: 'hang' }, { end: 'hang' }];
  for (const wish of stages) {
    await control('POST', '/reset');
    const id = await fault({}, wish);
    const ending = raw(port, CREATE);
    assert.deepEqual(await control('POST', '/wait', { fired: { fault: id } }), { ok: true });
    await until(async () => (await control('GET', '/connections')).some((c) => c.state === 'hung'));
    assert.equal((await control('POST', '/release')).ended, 1, JSON.stringify(wish));
    assert.equal((await ending).how, 'fin');
  }
});

async function until(condition) {
  while (!await condition()) await new Promise((resolve) => setImmediate(resolve));
}

test('connect: reset, end and refuse', async (t) => {
  const { port, control, fault } = await simulator(t);
  for (const [wish, how] of [['rst', 'ECONNRESET'], ['fin', 'fin'], ['refuse', 'ECONNREFUSED']]) {
    await fault({}, { connect: wish });
    const seen = await raw(port, CREATE);
    assert.deepEqual([seen.how, seen.text], [how, ''], wish);
    await control('DELETE', '/faults');
  }
  assert.match((await raw(port, post(PATH, BODY, 'Connection: close\r\n'))).text, /^HTTP\/1.1 201/);
});

test('hold: the answer waits for release; the effect comes before it, or after it', async (t) => {
  const { sim, api, control, fault } = await simulator(t);
  for (const [effect, madeMeanwhile] of [[true, 1], ['late', 0]]) {
    await control('POST', '/reset');
    await fault({ method: 'POST' }, { hold: true, effect });
    const answer = api('POST', PATH, BODY);
    await control('POST', '/wait', { held: 1 });
    assert.equal(sim.world.sandboxes.size, madeMeanwhile);
    assert.equal((await control('POST', '/release')).released, 1);
    assert.equal((await answer).status, 201);
    assert.equal(sim.world.sandboxes.size, 1);
  }
});

test('a peer that leaves while its answer is held is noticed', async (t) => {
  const { port, control, fault } = await simulator(t);
  await fault({}, { hold: true });
  const leaving = raw(port, head('GET', '/health'), { endAfter: () => false });
  await control('POST', '/wait', { held: 1 });
  await control('POST', '/reset');
  await leaving;
  assert.equal((await control('GET', '/connections')).length, 0);
});

test('which request: nth, times, header, reused, route; first installed wins', async (t) => {
  const { api, control, fault } = await simulator(t);
  const statuses = async (n, headers) => {
    const seen = [];
    for (let i = 0; i < n; i++) seen.push((await api('GET', '/health', undefined, { headers })).status);
    return seen.join(' ');
  };
  await fault({ path: '^/health$', nth: 2, times: 2 }, { status: 500 });
  await fault({ nth: 3 }, { status: 501 });
  assert.equal(await statuses(5), '200 500 500 200 200');
  await control('DELETE', '/faults');
  await fault({ header: { 'x-tag': '^a' }, times: 0 }, { status: 502 });
  assert.equal(await statuses(2, { 'X-Tag': 'b' }), '200 200');
  assert.equal(await statuses(2, { 'X-Tag': 'ab' }), '502 502');
  await control('DELETE', '/faults');
  await fault({ reused: true }, { status: 503 });
  assert.equal(await statuses(2), '503 200');
  await control('DELETE', '/faults');
  await fault({ route: '/sandboxes/{sandboxID}', method: 'GET' }, { status: 504 });
  assert.equal((await api('GET', '/sandboxes/ix')).status, 504);
});

test('kill_undone: killed, and back', async (t) => {
  const { api, control, fault } = await simulator(t, { seedSandboxes: 1 });
  const id = (await api('GET', '/sandboxes')).json[0].sandboxID;
  await fault({ method: 'DELETE' }, { kill_undone: true });
  assert.equal((await api('DELETE', `/sandboxes/${id}`)).status, 204);
  assert.equal((await api('GET', `/sandboxes/${id}`)).json.state, 'running');
  await control('DELETE', '/faults');
  await fault({ method: 'DELETE' }, { kill_undone: 20 });
  assert.equal((await api('DELETE', `/sandboxes/${id}`)).status, 204);
  assert.equal((await api('GET', `/sandboxes/${id}`)).status, 404);
  await until(async () => (await api('GET', `/sandboxes/${id}`)).status === 200);
});

test('list_empty: everything seems gone, nothing is', async (t) => {
  const { api, fault } = await simulator(t, { seedSandboxes: 3 });
  await fault({ method: 'GET', path: '^/v2/sandboxes$' }, { list_empty: true });
  const first = await api('GET', '/v2/sandboxes?limit=1');
  assert.deepEqual([first.json, first.headers['x-total-running'], first.headers['x-next-token']], [[], '0', undefined]);
  assert.equal((await api('GET', '/v2/sandboxes')).json.length, 3);
});

test('a graceful restart: idle connections end, held ones are answered and closed, then it is back', async (t) => {
  const { api, control, port, fault } = await simulator(t);
  const idle = raw(port, head('GET', '/health'));
  await control('POST', '/wait', { count: { path: '^/health$', stage: 'answered' } });
  await fault({ method: 'POST' }, { hold: true });
  const busy = raw(port, CREATE);
  await control('POST', '/wait', { held: 1 });
  await control('POST', '/restart', { ms: 1 });
  assert.equal((await idle).how, 'fin');
  await control('POST', '/release');
  assert.match((await busy).text, /^HTTP\/1.1 201 /);
  assert.equal((await api('GET', '/health')).status, 200);
});

test('every knob is tested here and named in the README', () => {
  const here = fs.readFileSync(new URL(import.meta.url), 'utf8');
  const readme = fs.readFileSync(new URL('./README.md', import.meta.url), 'utf8');
  for (const name of Object.keys(KNOBS)) {
    assert.ok(here.includes(`${name}:`), `no test of ${name}`);
    assert.ok(readme.includes(`\`${name}\``), `README lacks ${name}`);
  }
});
