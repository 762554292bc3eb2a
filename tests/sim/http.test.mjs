// The raw side: exact bytes kept, strict reading, keep-alive, Go's way with JSON.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { BadJson, fold, parseFirst, plain } from './json.mjs';
import { head, post, raw, simulator } from './testkit.mjs';

const CLOSE = 'Connection: close\r\n';
const PATH = '/v2/sandboxes';
const BODY = '{"templateID":"base"}';
const chunkedPost = (chunks) => head('POST', PATH, `Transfer-Encoding: chunked\r\n${CLOSE}`) + chunks;

test('exact bytes of head and body are kept, chunked ones too, however they arrive', async (t) => {
  const { port, control } = await simulator(t);
  const sent = chunkedPost(`5\r\n${BODY.slice(0, 5)}\r\n${(BODY.length - 5).toString(16)};ext=1\r\n${BODY.slice(5)}\r\n0\r\n\r\n`);
  assert.match((await raw(port, sent)).text, /^HTTP\/1.1 201/);
  const [seen] = await control('GET', '/requests');
  assert.equal(Buffer.from(seen.rawHead64, 'base64') + Buffer.from(seen.rawBody64, 'base64'), sent);
  assert.equal(seen.bodyText, BODY);
  assert.deepEqual([seen.framing.transferEncodings, seen.framing.contentLengths, seen.framing.single], [1, 0, true]);
  assert.deepEqual(seen.headers[0], ['Host', 'sim']);
});

test('several requests on one connection, even sent at once; a byte at a time', async (t) => {
  const { port, control } = await simulator(t);
  const both = await raw(port, post(PATH, BODY) + head('GET', '/health', CLOSE));
  assert.deepEqual(both.text.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 201', 'HTTP/1.1 200']);
  const seen = await control('GET', '/requests');
  assert.deepEqual(seen.map((x) => [x.connection, x.ordinal]), [[1, 1], [1, 2]]);
  const socket = net.connect(port, '127.0.0.1');
  const ended = new Promise((resolve) => { let text = ''; socket.on('data', (d) => { text += d; }); socket.on('close', () => resolve(text)); });
  for (const char of post(PATH, BODY, CLOSE)) {
    socket.write(char);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.match(await ended, /^HTTP\/1.1 201/);
});

test('whatever is not strictly HTTP is answered 400, closed, and recorded', async (t) => {
  const { port, control } = await simulator(t);
  const bad = [
    'GET /health HTTP/1.1\nHost: a\n\r\n\r\n',
    'GET  /health HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /health HTTP/2.0\r\nHost: a\r\n\r\n',
    'GET /hea\x01lth HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /health HTTP/1.1\r\n\r\n',
    'GET /health HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n',
    'GET /health HTTP/1.1\r\nHost: a\r\nX Y: 1\r\n\r\n',
    'GET /health HTTP/1.1\r\nHost: a\r\n: 1\r\n\r\n',
    'GET /health HTTP/1.1\r\nHost: a\r\nA: 1\r\n folded\r\n\r\n',
    'GET /health HTTP/1.1\r\nHost: a\r\nA: 1\x002\r\n\r\n',
    head('POST', PATH, 'Content-Length: 2\r\nContent-Length: 2\r\n') + '{}',
    head('POST', PATH, 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n') + '{}',
    head('POST', PATH, 'Content-Length: +2\r\n') + '{}',
    head('POST', PATH, 'Transfer-Encoding: gzip, chunked\r\n') + '0\r\n\r\n',
    chunkedPost('2\n{}\r\n0\r\n\r\n'),
    chunkedPost('x\r\n'),
    chunkedPost('2\r\n{}..0\r\n\r\n'),
  ];
  for (const bytes of bad) assert.match((await raw(port, bytes)).text, /^HTTP\/1.1 400 Bad Request\r\n/, JSON.stringify(bytes));
  const counts = await control('GET', '/counts');
  assert.equal(counts.malformed, bad.length);
  assert.ok((await control('GET', '/requests')).every((x) => x.malformed));
});

test('limits: a body over 16 MiB, a head over 1 MiB', async (t) => {
  const { port } = await simulator(t);
  assert.match((await raw(port, head('POST', PATH, 'Content-Length: 16777217\r\n'))).text, /^HTTP\/1.1 413 .*\{"error":"request too large"\}$/s);
  assert.match((await raw(port, `GET /${'a'.repeat(1 << 20)}`)).text, /^HTTP\/1.1 431 /);
});

test('Expect, HTTP/1.0, HEAD, Connection: close, half-closed clients', async (t) => {
  const { port } = await simulator(t);
  assert.match((await raw(port, post(PATH, BODY, `${CLOSE}Expect: 100-continue\r\n`))).text, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201/);
  assert.match((await raw(port, 'GET /health HTTP/1.0\r\n\r\n')).text, /^HTTP\/1.1 200 .*Connection: close\r\n/s);
  assert.match((await raw(port, head('HEAD', '/health', CLOSE))).text, /^HTTP\/1.1 404 .*\r\n\r\n$/s);
});

test('JSON as Go reads it', () => {
  assert.deepEqual(plain(parseFirst(' {"a":[1,-2.5e3,true,null,"\\u00e9\\n"],"a2":{}} {"b"')), { a: [1, -2500, true, null, 'é\n'], a2: {} });
  assert.deepEqual(parseFirst('{"a":1,"a":2}').pairs.map(([k]) => k), ['a', 'a']);
  assert.equal(fold('T\u017f\u212a'), 'tsk');
  for (const bad of ['', '{', '{"a"}', '{"a":01}', '[1,]', '{"a":1,}', '"\n"', "{'a':1}", 'nul', '{1:2}', '"\\x"', '['.repeat(5000)]) {
    assert.throws(() => parseFirst(bad), BadJson, bad);
  }
});
