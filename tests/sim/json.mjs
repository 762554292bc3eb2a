// JSON as Go's encoding/json reads it, because that is what stands behind the real API: keys match
// without case (U+017F and U+212A fold too), the last one wins, null leaves a field as it was, and
// whatever follows the first document is ignored. JSON.parse can do none of these.

export class BadJson extends Error {}

/** An object in document order, duplicates kept. */
export class Members {
  constructor(pairs) { this.pairs = pairs; }
}

/** A number as it was written: Go refuses 1.0 and 1e2 where an integer is due. */
export class Numeral {
  constructor(text) { this.text = text; }
}

const BLANKS = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORDS = [['true', true], ['false', false], ['null', null]];
const MAX_DEPTH = 1000;

/** The first document in `text`. */
export function parseFirst(text) {
  return new Reader(text).value(0);
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  take(pattern) {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at = pattern.lastIndex;
    return match && match[0];
  }

  peek() {
    this.take(BLANKS);
    return this.text[this.at];
  }

  fail() {
    throw new BadJson(this.at >= this.text.length ? 'unexpected end of JSON input' : `invalid character ${JSON.stringify(this.text[this.at])}`);
  }

  value(depth) {
    if (depth > MAX_DEPTH) throw new BadJson('exceeded max depth');
    const first = this.peek();
    if (first === '{') return this.object(depth);
    if (first === '[') return this.array(depth);
    if (first === '"') return this.string();
    return this.scalar();
  }

  string() {
    const found = this.take(STRING);
    return found === null ? this.fail() : JSON.parse(found);
  }

  scalar() {
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    const found = this.take(NUMBER);
    return found === null ? this.fail() : new Numeral(found);
  }

  list(close, item) {
    const items = [];
    this.at++;
    if (this.peek() === close) { this.at++; return items; }
    for (;;) {
      items.push(item());
      const next = this.peek();
      if (next !== ',' && next !== close) this.fail();
      this.at++;
      if (next === close) return items;
    }
  }

  array(depth) {
    return this.list(']', () => this.value(depth + 1));
  }

  object(depth) {
    return new Members(this.list('}', () => {
      if (this.peek() !== '"') this.fail();
      const key = this.string();
      if (this.peek() !== ':') this.fail();
      this.at++;
      return [key, this.value(depth + 1)];
    }));
  }
}

/** Go's key folding: simple case folding of ASCII plus the two letters that fold into it. */
export function fold(key) {
  return key.replace(/\u017f/g, 's').replace(/\u212a/g, 'k').toLowerCase();
}

/** Any value as plain JavaScript, keys as written, last one wins. */
export function plain(value) {
  if (value instanceof Numeral) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (!(value instanceof Members)) return value;
  const out = {};
  for (const [key, item] of value.pairs) define(out, key, plain(item));
  return out;
}

// Kinds: each turns a parsed value into a field's value or throws.
const wrong = (where, want) => { throw new BadJson(`${where}: value must be ${want}`); };

export const string = (value, where) => (typeof value === 'string' ? value : wrong(where, 'a string'));
export const bool = (value, where) => (typeof value === 'boolean' ? value : wrong(where, 'a boolean'));
export const any = (value) => plain(value);

export function int(value, where) {
  if (!(value instanceof Numeral) || !/^-?\d+$/.test(value.text)) wrong(where, 'an integer');
  const number = Number(value.text);
  return Math.abs(number) < 2 ** 31 ? number : wrong(where, 'an int32');
}

export const listOf = (kind) => (value, where) => (Array.isArray(value)
  ? value.map((item, i) => kind(item, `${where}[${i}]`)) : wrong(where, 'an array'));

export const mapOf = (kind) => (value, where) => {
  if (!(value instanceof Members)) wrong(where, 'an object');
  const out = {};
  for (const [key, item] of value.pairs) define(out, key, kind(item, `${where}.${key}`));
  return out;
};

/** A struct: `fields` name → kind; names in `required` must be there in exactly this spelling
    (the validator in front of the decoder is exact), yet any spelling sets the field. */
export function struct(fields, required = []) {
  const known = new Map(Object.keys(fields).map((name) => [fold(name), name]));
  return (value, where = 'request body') => {
    if (!(value instanceof Members)) wrong(where, 'an object');
    const absent = required.find((name) => !value.pairs.some(([key]) => key === name));
    if (absent) throw new BadJson(`${where}: property "${absent}" is missing`);
    const out = {};
    for (const [key, item] of value.pairs) {
      const name = known.get(fold(key));
      if (name && item !== null) out[name] = fields[name](item, name);
    }
    return out;
  };
}

/** A customer may well call a key "__proto__". */
function define(out, key, value) {
  Object.defineProperty(out, key, { value, enumerable: true, writable: true, configurable: true });
}
