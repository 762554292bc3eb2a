// Strict HTTP/1.1 request reading, pure: bytes in, a head or a body out, or Malformed.
// Strict on purpose: the gateway's own framing must be beyond doubt, so nothing odd is forgiven here.

export class Malformed extends Error {
  constructor(reason, facts = {}) {
    super(reason);
    this.facts = facts;
  }
}

export const HEAD_LIMIT = 1 << 20; // as Go's default

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e]+) HTTP\/1\.([01])$/;
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)$/;
const TRAILING_BLANKS = /[ \t]+$/;

/** `bytes` ends with the blank line. */
export function parseHead(bytes) {
  const lines = bytes.latin1Slice(0, bytes.length - 4).split('\r\n');
  const first = REQUEST_LINE.exec(lines[0]);
  if (!first) throw new Malformed('request line');
  const headers = [];
  for (let i = 1; i < lines.length; i++) headers.push(headerPair(lines[i]));
  const head = { method: first[1], target: first[2], minor: Number(first[3]), headers };
  head.framing = framingOf(headers);
  checkFraming(head);
  return head;
}

function headerPair(line) {
  const match = HEADER_LINE.exec(line);
  if (!match) throw new Malformed('header line');
  const value = match[2];
  return [match[1], TRAILING_BLANKS.test(value) ? value.replace(TRAILING_BLANKS, '') : value];
}

function framingOf(headers) {
  const framing = { contentLengths: 0, transferEncodings: 0, hosts: 0, single: true, length: 0, chunked: false };
  for (const [name, value] of headers) {
    const note = FRAMING_NOTES[name.toLowerCase()];
    if (note) note(framing, value);
  }
  framing.single = framing.contentLengths + framing.transferEncodings <= 1;
  return framing;
}

const FRAMING_NOTES = {
  'content-length': (f, value) => { f.contentLengths++; f.length = value; },
  'transfer-encoding': (f, value) => { f.transferEncodings++; f.chunked = value.toLowerCase() === 'chunked'; },
  host: (f) => { f.hosts++; },
};

function checkFraming({ framing, minor }) {
  const wrong = [
    [!framing.single, 'more than one framing header'],
    [framing.transferEncodings === 1 && !framing.chunked, 'transfer coding'],
    [framing.transferEncodings === 1 && minor === 0, 'transfer coding in HTTP/1.0'],
    [framing.contentLengths === 1 && !/^\d{1,15}$/.test(framing.length), 'content length'],
    [framing.hosts > 1 || (framing.hosts === 0 && minor === 1), 'host'],
  ].find(([is]) => is);
  if (wrong) throw new Malformed(wrong[1], framing);
  framing.length = Number(framing.length);
}

/** The value of the first header of that (lower-case) name, as Go's Header.Get. */
export function headerValue(headers, name) {
  for (const [key, value] of headers) {
    if (key.length === name.length && key.toLowerCase() === name) return value;
  }
  return undefined;
}

/** Body readers: feed(bytes, from) returns the offset behind what they used; `done` when complete. */
export function bodyReader(framing) {
  if (framing.chunked) return new ChunkedReader();
  return framing.length > 0 ? new LengthReader(framing.length) : null;
}

class LengthReader {
  constructor(length) {
    this.length = length;
    this.got = 0;
    this.parts = [];
    this.done = false;
  }

  feed(bytes, from) {
    const end = Math.min(bytes.length, from + this.length - this.got);
    this.parts.push(Buffer.from(bytes.subarray(from, end))); // a copy: a slice would pin the socket's slab
    this.got += end - from;
    this.done = this.got === this.length;
    return end;
  }

  halfway() { return this.got * 2 >= this.length; }
  body() { return this.parts.length === 1 ? this.parts[0] : Buffer.concat(this.parts); }
  raw() { return this.body(); }
}

class ChunkedReader {
  constructor() {
    this.step = this.sizeLine;
    this.line = '';
    this.left = 0;
    this.got = 0;
    this.parts = [];
    this.rawParts = [];
    this.done = false;
  }

  feed(bytes, from) {
    let at = from;
    while (!this.done && at < bytes.length) at = this.step(bytes, at);
    this.rawParts.push(Buffer.from(bytes.subarray(from, at)));
    return at;
  }

  /** Collects one CRLF line over any number of reads; null while it is incomplete. */
  takeLine(bytes, at) {
    const lf = bytes.indexOf(10, at);
    this.line += bytes.latin1Slice(at, lf < 0 ? bytes.length : lf + 1);
    if (this.line.length > 4096) throw new Malformed('chunk line too long');
    if (lf < 0) return null;
    const line = this.line;
    this.line = '';
    if (!line.endsWith('\r\n')) throw new Malformed('bare line feed in chunked body');
    return { text: line.slice(0, -2), next: lf + 1 };
  }

  sizeLine(bytes, at) {
    const line = this.takeLine(bytes, at);
    if (!line) return bytes.length;
    const size = /^([0-9a-fA-F]{1,8})(;.*)?$/.exec(line.text);
    if (!size) throw new Malformed('chunk size');
    this.left = parseInt(size[1], 16);
    this.step = this.left ? this.data : this.trailer;
    return line.next;
  }

  data(bytes, at) {
    const end = Math.min(bytes.length, at + this.left);
    this.parts.push(Buffer.from(bytes.subarray(at, end)));
    this.got += end - at;
    this.left -= end - at;
    if (this.left === 0) this.step = this.dataEnd;
    return end;
  }

  dataEnd(bytes, at) {
    const line = this.takeLine(bytes, at);
    if (!line) return bytes.length;
    if (line.text !== '') throw new Malformed('chunk end');
    this.step = this.sizeLine;
    return line.next;
  }

  trailer(bytes, at) {
    const line = this.takeLine(bytes, at);
    if (!line) return bytes.length;
    this.done = line.text === '';
    return line.next;
  }

  halfway() { return this.got > 0; } // the total is not known before the end
  body() { return this.parts.length === 1 ? this.parts[0] : Buffer.concat(this.parts); }
  raw() { return Buffer.concat(this.rawParts); }
}
