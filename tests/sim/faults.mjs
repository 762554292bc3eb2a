// The fault knobs: one row each. A fault is { match, do }; `do` is any set of knobs that make sense
// together. Installed faults are tried in order of installation; the first that matches is used.
import zlib from 'node:zlib';
import { ApiError } from './answer.mjs';
import { matcher } from './journal.mjs';
import { headerValue } from './parse.mjs';
import { randomId } from './world.mjs';

// Kinds of a knob's value: does this value make sense?
const flag = (v) => v === true;
const whole = (v) => Number.isInteger(v) && v >= 0;
const textual = (v) => typeof v === 'string';
const oneOf = (...choices) => (v) => choices.includes(v);
const early = (v) => typeof v === 'object' && v !== null && 'status' in v;
const anything = () => true;
const either = (...kinds) => (v) => kinds.some((kind) => kind(v));
const pairs = (v) => Array.isArray(v) && v.every((p) => Array.isArray(p) && p.length === 2);

const STOP = either(oneOf('rst', 'fin', 'hang', 'restart'), early);
const CUT = oneOf('before_headers', 'mid_headers', 'after_headers', 'mid_body');
const ENDING = oneOf('keep', 'fin', 'rst', 'hang');

const bytes = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const setHeader = (w, name, value) => {
  w.headers = w.headers.filter(([key]) => key.toLowerCase() !== name.toLowerCase());
  w.headers.push([name, value]);
};
const setJson = (w, value) => { w.body = bytes(value); setHeader(w, 'Content-Type', 'application/json; charset=utf-8'); };
const framed = (framing, end) => (w, value) => { w.framing = framing; w.framingValue = value; if (end) w.end = end; };
const refusal = (w, status, message) => { w.status = status; setJson(w, { code: status, message }); };

/**
 * at:     when it acts: connect · head · half · request · effect · wait · answer
 * effect: false = by default the request is not carried out (the "effect" knob decides otherwise)
 * is:     which values make sense · apply: what it does to the answer · around: runs before the effect,
 *         returns what runs after it
 */
export const KNOBS = {
  // before reading
  connect: { at: 'connect', is: oneOf('refuse', 'hang', 'rst', 'fin'), help: 'refuse the connection, or accept and never read, reset or end it' },

  // while reading
  after_head: { at: 'head', is: STOP, effect: false, help: 'once the headers are in: rst, fin, hang, restart, or an early answer {status, body?, end?}' },
  half_body: { at: 'half', is: STOP, effect: false, help: 'the same once half of the body is in' },
  after_request: { at: 'request', is: STOP, effect: false, help: 'the same once the whole request is in; nothing is carried out' },

  // effect and time
  effect: { at: 'effect', is: oneOf(true, false, 'late'), help: 'carry the request out: before waiting, not at all, or after waiting' },
  after_effect: { at: 'effect', is: oneOf('rst', 'fin', 'hang'), help: 'carry it out, then drop the connection; `cut` says where (default before_headers)' },
  delay_ms: { at: 'wait', is: whole, help: 'answer that much later' },
  hold: { at: 'wait', is: flag, help: 'answer on POST /release' },

  // what the answer says
  status: { at: 'answer', is: either(Number.isInteger, textual), effect: false, help: 'any status, impossible ones too; body {code, message} unless `body` is given', apply: (w, v) => refusal(w, v, `simulated ${v}`) },
  rate_limited: { at: 'answer', is: anything, effect: false, help: '429; a number or text is sent as Retry-After, true sends none', apply: rateLimited },
  echo_key: { at: 'answer', is: flag, effect: false, help: '400 whose message holds the API key that was received', apply: (w, v, x) => refusal(w, 400, `bad request by ${headerValue(x.headers, 'x-api-key')}`) },
  redirect: { at: 'answer', is: textual, effect: false, help: '307 to that URL (other 3xx with `status`)', apply: redirectTo },
  html_error: { at: 'answer', is: flag, effect: false, help: '502 with an HTML page', apply: htmlError },
  body: { at: 'answer', is: anything, help: 'this body: text as it is, anything else as JSON', apply: (w, v) => { w.body = bytes(v); } },
  headers: { at: 'answer', is: pairs, help: 'more headers: [[name, value], …]', apply: (w, v) => { w.headers.push(...v); } },
  set_cookie: { at: 'answer', is: either(flag, textual), help: 'a Set-Cookie header', apply: (w, v) => { w.headers.push(['Set-Cookie', v === true ? 'session=upstream; Path=/' : v]); } },
  charset: { at: 'answer', is: textual, help: 'Content-Type: application/json with that charset', apply: (w, v) => setHeader(w, 'Content-Type', `application/json; charset=${v}`) },
  content_type: { at: 'answer', is: textual, help: 'that Content-Type', apply: (w, v) => setHeader(w, 'Content-Type', v) },
  invalid_json: { at: 'answer', is: flag, help: 'a body that stops being JSON half way', apply: (w) => { w.body = Buffer.concat([w.body.subarray(0, Math.trunc(w.body.length / 2)), Buffer.from('{"x":')]); } },
  invalid_utf8: { at: 'answer', is: flag, help: 'a JSON body with bytes that are not UTF-8', apply: (w) => { w.body = Buffer.from('7b226e616d65223a22fffe80c022 7d'.replace(/ /g, ''), 'hex'); } },
  other_id: { at: 'answer', is: either(flag, textual), help: "another sandbox's id in the answer", apply: otherId },
  list_empty: { at: 'answer', is: flag, help: 'lists come back empty', apply: listEmpty },
  body_on_204: { at: 'answer', is: flag, help: '204 with a body', apply: (w) => { w.status = 204; if (w.body.length === 0) setJson(w, { code: 204, message: 'not empty' }); } },
  gzip_bomb: { at: 'answer', is: whole, help: 'a gzip body that unpacks to so many bytes', apply: gzipBomb },
  huge_body: { at: 'answer', is: whole, help: 'so many bytes before the body', apply: (w, v) => { w.filler = v; } },
  huge_headers: { at: 'answer', is: whole, help: 'so many bytes of headers more', apply: hugeHeaders },

  // how it is framed
  interim: { at: 'answer', is: (v) => whole(v?.count), help: 'that many 1xx answers first: {count, status?}', apply: (w, v) => { w.interim = { status: 103, ...v }; } },
  no_reason: { at: 'answer', is: flag, help: 'a status line without a reason phrase', apply: (w) => { w.reason = null; } },
  http09: { at: 'answer', is: flag, help: 'only the body, as HTTP/0.9, then the end', apply: (w) => { w.headless = true; w.framing = 'none'; w.end = 'fin'; } },
  no_framing: { at: 'answer', is: oneOf('full', 'half'), help: 'neither length nor chunks, all or half of the body, then the end', apply: noFraming },
  length_short: { at: 'answer', is: whole, help: 'Content-Length smaller than the body by that much', apply: (w, v) => framed('wrong_length')(w, -v) },
  length_long: { at: 'answer', is: whole, help: 'Content-Length greater than the body by that much, then the end', apply: framed('wrong_length', 'fin') },
  two_lengths: { at: 'answer', is: either(flag, Array.isArray), help: 'two Content-Lengths: [a, b], or the true one and one more', apply: framed('two_lengths') },
  length_and_chunked: { at: 'answer', is: flag, help: 'Content-Length and chunked at once', apply: framed('both') },
  chunked: { at: 'answer', is: flag, help: 'a proper chunked answer', apply: framed('chunked') },
  cut_chunk: { at: 'answer', is: flag, help: 'a chunk that ends half way, then the end', apply: framed('cut_chunk', 'fin') },
  raw: { at: 'answer', is: textual, help: 'these bytes (base64) instead of any answer, then `end` (default fin)', apply: (w, v) => { w.raw = Buffer.from(v, 'base64'); w.end = 'fin'; } },
  byte_by_byte: { at: 'answer', is: whole, help: 'one byte at a time, so many ms apart', apply: (w, v) => { w.drip = v; } },
  cut: { at: 'answer', is: CUT, help: 'stop there: before_headers, mid_headers, after_headers, mid_body; then `end` (default fin)', apply: (w, v) => { w.cut = v; if (w.end === 'keep') w.end = 'fin'; } },
  end: { at: 'answer', is: ENDING, help: 'after the answer: keep, fin, rst, hang', apply: (w, v) => { w.end = v; } },

  // modes
  kill_undone: { at: 'effect', is: either(flag, whole), help: 'a kill answers 204, yet the sandbox is back: at once, or after so many ms', around: killUndone },
};

function rateLimited(w, value) {
  refusal(w, 429, 'Rate limit exceeded');
  if (value !== true && value !== null) w.headers.push(['Retry-After', value]);
}

function redirectTo(w, url) {
  if (!(w.status >= 300 && w.status < 400)) w.status = 307;
  w.body = Buffer.alloc(0);
  setHeader(w, 'Location', url);
}

function htmlError(w) {
  w.status = 502;
  w.body = Buffer.from('<html><head><title>502 Bad Gateway</title></head><body><script>alert(1)</script><h1>502 Bad Gateway</h1></body></html>\r\n');
  setHeader(w, 'Content-Type', 'text/html');
}

function otherId(w, value) {
  const id = value === true ? `i${randomId(20)}` : value;
  w.body = Buffer.from(w.body.toString().replace(/"sandboxID":"[^"]*"/g, `"sandboxID":"${id}"`));
}

function listEmpty(w) {
  setJson(w, []);
  w.headers = w.headers.filter(([name]) => name !== 'X-Next-Token');
  setHeader(w, 'X-Total-Running', '0');
}

function gzipBomb(w, size) {
  w.body = zlib.gzipSync(Buffer.alloc(size, ' '));
  setHeader(w, 'Content-Encoding', 'gzip');
}

function hugeHeaders(w, size) {
  const LINE = 4000;
  for (let left = size, i = 0; left > 0; left -= LINE, i++) w.headers.push([`X-Filler-${i}`, 'h'.repeat(Math.min(left, LINE))]);
}

function noFraming(w, part) {
  w.framing = 'none';
  w.end = 'fin';
  if (part === 'half') w.body = w.body.subarray(0, Math.trunc(w.body.length / 2));
}

function killUndone(x, world, value) {
  const sandbox = world.sandboxes.get((x.params.sandboxID ?? '').split('-')[0]);
  return () => {
    if (!sandbox) return;
    if (value === true) world.putBack(sandbox);
    else setTimeout(() => world.putBack(sandbox), value).unref();
  };
}

// ---- the installed faults ------------------------------------------------------------------------

const ANSWER_KNOBS = Object.entries(KNOBS).filter(([, knob]) => knob.apply);

/** Knobs are applied in the table's order, whatever order they were given in. */
export function applyKnobs(w, wish, x) {
  for (const [name, knob] of ANSWER_KNOBS) if (name in wish) knob.apply(w, wish[name], x);
}

export function carriesOut(wish) {
  if ('effect' in wish) return wish.effect;
  return Object.keys(wish).every((name) => KNOBS[name].effect !== false);
}

export class Faults {
  constructor() {
    this.next = 1;
    this.clear();
  }

  clear() {
    this.installed = [];
    this.active = false; // the quick path looks at nothing else
  }

  install({ match = {}, do: wish = {}, ...rest }) {
    const strange = Object.keys(rest)[0] ?? Object.keys(match).find((name) => !MATCHES.includes(name));
    if (strange) throw new ApiError(400, `unknown: ${strange}`);
    for (const [name, value] of Object.entries(wish)) {
      if (!KNOBS[name]) throw new ApiError(400, `unknown knob: ${name}`);
      if (!KNOBS[name].is(value)) throw new ApiError(400, `${name}: ${JSON.stringify(value)} makes no sense here: ${KNOBS[name].help}`);
    }
    const { nth = 1, times = 1, ...request } = match;
    const fault = { id: `f${this.next++}`, match, wish, nth, times, matches: matcher(request), seen: 0, fired: 0 };
    this.installed.push(fault);
    this.active = true;
    return fault;
  }

  pick(x) {
    return this.firstFiring((fault) => !fault.wish.connect && fault.matches(x));
  }

  pickForConnection(conn) {
    return this.firstFiring((fault) => fault.wish.connect && (!fault.match.connection || fault.match.connection === conn.number));
  }

  /** The nth match and the `times - 1` after it; times 0 means for ever. */
  firstFiring(matches) {
    let chosen = null;
    for (const fault of this.installed) {
      if (!matches(fault)) continue;
      fault.seen++;
      const due = fault.seen >= fault.nth && (fault.times === 0 || fault.seen < fault.nth + fault.times);
      if (due && !chosen) chosen = fault;
    }
    if (chosen) chosen.fired++;
    return chosen;
  }

  describe() {
    return this.installed.map(({ id, match, wish, seen, fired }) => ({ id, match, do: wish, seen, fired }));
  }
}

const MATCHES = ['method', 'path', 'route', 'header', 'reused', 'connection', 'nth', 'times'];
