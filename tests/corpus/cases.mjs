// Reads cases.txt: rows into bytes and expectations.  The format is told there.

const ESCAPES = { r: '\r', n: '\n', t: '\t', 0: '\0', '\\': '\\' };

/** [[a||b]] makes a row for each. */
function alternatives(text) {
  const set = /\[\[(.*?)\]\]/s.exec(text);
  if (!set) return [text];
  return set[1].split('||').flatMap((one) => alternatives(text.slice(0, set.index) + one + text.slice(set.index + set[0].length)));
}

function readExpected(status) {
  return status.split('|').map((sequence) => {
    if (sequence === 'close') return { wants: [], closes: true };
    const wants = sequence.replace(/!$/, '').split(',').map((one) => {
      const [, code, library] = /^(\d{3}|any)(h?)$/.exec(one) ?? (() => { throw new Error(`status ${one}?`); })();
      return { status: code === 'any' ? 'any' : Number(code), library: library === 'h' };
    });
    return { wants, closes: sequence.endsWith('!') || wants.at(-1).library };
  });
}

export function readCases(file) {
  const rows = [];
  file.split('\n').forEach((row, index) => {
    if (row === '' || row.startsWith('#')) return;
    const [, kind, id, status, count, text] = /^(\S+) +(\S+) +(\S+) +(\d+|\?) ?(.*)$/.exec(row) ?? (() => { throw new Error(`line ${index + 1}: ${row}`); })();
    const texts = alternatives(text);
    texts.forEach((one, i) => rows.push({
      kind: kind.replace(/^slow-/, ''), slow: kind.startsWith('slow-'), id: texts.length > 1 ? `${id}.${i + 1}` : id,
      status, expected: readExpected(status), count: count === '?' ? null : Number(count), text: one, line: index + 1,
    }));
  });
  return rows;
}

/** Escapes and <…> into a list of Buffers and pauses. Text is UTF-8, \xHH a byte. */
function compile(text, key) {
  const tokens = /\\x([0-9a-fA-F]{2})|\\(.)|<key>|<pause (\d+)>|<(\d+)\*|>|[^\\<>]+|</gs;
  const stack = [{ times: 1, pieces: [] }]; // the open <N*…>
  for (const [whole, hex, escape, pause, times] of text.matchAll(tokens)) {
    const top = stack.at(-1).pieces;
    if (hex) top.push(Buffer.from([parseInt(hex, 16)]));
    else if (escape) top.push(Buffer.from(ESCAPES[escape] ?? whole));
    else if (whole === '<key>') top.push(Buffer.from(key));
    else if (pause) top.push(Number(pause));
    else if (times) stack.push({ times: Number(times), pieces: [] });
    else if (whole === '>' && stack.length > 1) close(stack);
    else top.push(Buffer.from(whole));
  }
  return merged(stack[0].pieces);
}

function close(stack) {
  const { times, pieces } = stack.pop();
  const once = merged(pieces);
  for (let i = 0; i < times; i++) stack.at(-1).pieces.push(...once);
}

/** Neighbouring bytes become one write. */
function merged(pieces) {
  const out = [];
  let run = [];
  const flush = () => { if (run.length) out.push(Buffer.concat(run)); run = []; };
  for (const piece of pieces) {
    if (typeof piece !== 'number') run.push(piece);
    else { flush(); out.push(piece); }
  }
  flush();
  return out;
}

const bytesOf = (text, key) => Buffer.concat(compile(text, key));

const HEAD = 'Host: gateway.test\\r\\nX-API-Key: <key>\\r\\nSandgate-Wait: 0\\r\\n';
const split = (text) => /^(\S*) (\S*) ?(.*)$/s.exec(text).slice(1);

const KINDS = {
  /** TARGET: a GET of it. */
  get: (text, key) => compile(`GET ${text} HTTP/1.1\\r\\n${HEAD}\\r\\n`, key),
  /** METHOD TARGET LINES: with these header lines besides the usual ones, and maybe a body. */
  head: (text, key) => {
    const [method, target, lines] = split(text);
    const end = lines.includes('\\r\\n\\r\\n') ? '' : '\\r\\n'; // with the body, if any
    return compile(`${method} ${target} HTTP/1.1\\r\\n${HEAD}${lines}${end}`, key);
  },
  /** METHOD TARGET BODY: with its length. */
  body: (text, key) => framed(text, key, (size) => `Content-Length: ${size}\\r\\n\\r\\n`),
  /** The same in one chunk. */
  chunk: (text, key) => framed(text, key, (size) => `Transfer-Encoding: chunked\\r\\n\\r\\n${size.toString(16)}\\r\\n`, '\r\n0\r\n\r\n'),
  raw: compile,
};

function framed(text, key, framing, after = '') {
  const [method, target, body] = split(text);
  const bytes = bytesOf(body, key);
  const head = `${method} ${target} HTTP/1.1\\r\\n${HEAD}Content-Type: application/json\\r\\n${framing(bytes.length)}`;
  return [Buffer.concat([...compile(head, key), bytes, Buffer.from(after)])];
}

export function expand(row, key) {
  const kind = KINDS[row.kind];
  if (!kind) throw new Error(`line ${row.line}: kind ${row.kind}?`);
  return { ...row, pieces: kind(row.text, key).filter((piece) => typeof piece === 'number' || piece.length > 0) };
}
