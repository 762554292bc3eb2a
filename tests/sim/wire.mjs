// A faulty answer on its way out: framing that lies, pieces that drip, endings that hurt.
// Only requests with a fault come through here; the others take the quick path of answer.mjs.
import { STATUS_CODES, headerPairs } from './answer.mjs';

const FILLER = Buffer.alloc(64 * 1024, 'a');
const BODILESS = (status) => status === 204 || status === 304 || (status >= 100 && status < 200);

/** What the knobs of faults.mjs change. */
export function wireOf(answer) {
  return {
    version: 'HTTP/1.1', status: answer.status, reason: undefined,
    headers: headerPairs(answer), body: Buffer.from(answer.body),
    framing: 'length', framingValue: null,
    interim: null, // { count, status } before the real answer
    filler: 0, // bytes put before the body, made while sending
    headless: false, raw: null,
    cut: null, // where to stop: before_headers, mid_headers, after_headers, mid_body
    drip: null, // ms between bytes
    end: 'keep',
  };
}

/** framing → header pairs and payload; `size` counts the filler too. */
const FRAMINGS = {
  length: (w, size) => ({ headers: BODILESS(w.status) && size === 0 ? [] : [['Content-Length', size]], payload: [w.body] }),
  wrong_length: (w, size) => ({ headers: [['Content-Length', Math.max(0, size + w.framingValue)]], payload: [w.body] }),
  none: (w) => ({ headers: [], payload: [w.body] }),
  two_lengths: (w, size) => ({ headers: lengths(w, size).map((n) => ['Content-Length', n]), payload: [w.body] }),
  chunked: (w) => ({ headers: [['Transfer-Encoding', 'chunked']], payload: [chunk(w.body), LAST_CHUNK] }),
  both: (w, size) => ({ headers: [['Content-Length', size], ['Transfer-Encoding', 'chunked']], payload: [chunk(w.body), LAST_CHUNK] }),
  cut_chunk: (w) => ({ headers: [['Transfer-Encoding', 'chunked']], payload: [halfChunk(w.body)] }),
};

const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const lengths = (w, size) => (Array.isArray(w.framingValue) ? w.framingValue : [size, size + 1]);
const chunk = (body) => (body.length ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]) : body);

function halfChunk(body) {
  const size = Math.max(body.length, 16);
  return Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), body.subarray(0, Math.trunc(body.length / 2))]);
}

function headOf(w, framingHeaders) {
  const reason = w.reason ?? STATUS_CODES[w.status] ?? '';
  const lines = [`${w.version} ${w.status}${w.reason === null ? '' : ` ${reason}`}`];
  for (const [name, value] of [...w.headers, ...framingHeaders]) lines.push(`${name}: ${value}`);
  if (w.end === 'fin') lines.push('Connection: close');
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function* interims({ count, status }) {
  const block = Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Interim'}\r\n\r\n`);
  const many = Buffer.concat(Array(Math.min(count, 500)).fill(block));
  for (let left = count; left > 0; left -= 500) yield many.subarray(0, Math.min(left, 500) * block.length);
}

function* filling(size) {
  for (let left = size; left > 0; left -= FILLER.length) yield FILLER.subarray(0, Math.min(left, FILLER.length));
}

const CUTS = {
  before_headers: () => [0, 0],
  mid_headers: (head) => [Math.trunc(head.length / 2), 0],
  after_headers: (head) => [head.length, 0],
  mid_body: (head, size) => [size > 1 ? head.length : Math.trunc(head.length / 2), Math.trunc(size / 2)],
};

/** The bytes in order, piece by piece, so that a huge body is never in memory at once. */
function* pieces(w) {
  if (w.raw) return yield w.raw;
  if (w.interim) yield* interims(w.interim);
  const { headers, payload } = FRAMINGS[w.framing](w, w.body.length + w.filler);
  const head = w.headless ? Buffer.alloc(0) : headOf(w, headers);
  const body = Buffer.concat(payload);
  const [headBytes, bodyBytes] = w.cut ? CUTS[w.cut](head, body.length) : [head.length, body.length];
  yield head.subarray(0, headBytes);
  if (headBytes < head.length) return;
  if (!w.cut) yield* filling(w.filler);
  yield body.subarray(0, bodyBytes);
}

const ENDS = {
  keep: (x) => x.conn.next(x.keepAlive),
  fin: (x) => x.conn.fin(),
  rst: (x) => x.conn.rst(),
  hang: (x) => x.conn.hang(),
};

export async function send(x, w) {
  for (const piece of pieces(w)) {
    if (x.conn.socket.destroyed) return;
    await (w.drip === null ? write(x.conn.socket, piece) : dripOut(x.conn.socket, piece, w.drip));
  }
  await flushed(x.conn.socket);
  if (!x.conn.socket.destroyed) ENDS[w.end](x);
}

async function dripOut(socket, piece, ms) {
  for (const byte of piece) {
    if (socket.destroyed) return;
    await write(socket, Buffer.from([byte]));
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

function write(socket, piece) {
  if (piece.length === 0 || socket.write(piece)) return undefined;
  return new Promise((resolve) => {
    const go = () => {
      socket.off('drain', go);
      socket.off('close', go);
      resolve();
    };
    socket.once('drain', go);
    socket.once('close', go);
  });
}

/** A reset throws away what still waits in our own buffer; what was promised before it must be out. */
function flushed(socket) {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    socket.once('close', resolve);
    socket.write('', () => setImmediate(resolve));
  });
}
