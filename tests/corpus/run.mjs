#!/usr/bin/env node
// Plays cases.txt (its head explains the format) on the agents' listener, byte for byte, and
// holds two things: what the client got, and how many requests the E2B simulator saw for it.
//
//   node tests/corpus/run.mjs --agents URL --key K --sim CONTROL_URL [--only REGEX] [--slow]
//
// The gateway has the usual policy: reads are allowed, everything else is held.  --slow adds
// the cases that wait for a deadline (half a minute).  Ends with `corpus: N passed, N failed`.
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expand, readCases } from './cases.mjs';

const PATIENCE_MS = 15_000; // for an answer, or the end
const CLOSE_MS = 3_000; // for the end, once the answer is there
const QUIET_MS = 200; // that nothing more comes
const SLOW_MS = 40_000;

const fail = (message) => {
  console.error(`corpus: ${message}`);
  process.exit(2);
};

function readOptions(args) {
  const options = { cases: new URL('cases.txt', import.meta.url) };
  for (let i = 0; i < args.length; i++) {
    const name = args[i].replace(/^--/, '');
    if (name === 'slow') options.slow = true;
    else if (['agents', 'key', 'sim', 'only'].includes(name)) options[name] = args[++i];
    else fail(`unknown option ${args[i]}`);
  }
  for (const name of ['agents', 'key', 'sim']) if (!options[name]) fail(`--${name} is missing`);
  return options;
}

// ---- the wire --------------------------------------------------------------------------

/** Whole answers at the start of the bytes; interim ones are left out. */
function parseAnswers(bytes, bodiless) {
  const answers = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) return answers;
    const head = bytes.toString('latin1', at, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? NaN);
    const length = bodiless ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    const body = end + 4;
    if (bytes.length < body + length) return answers;
    if (!(status < 200)) answers.push({ status, head, body: bytes.toString('utf8', body, body + length) });
    at = body + length;
  }
}

/** A connection that collects; `enough(answers)` says when to stop waiting. */
class Talk {
  constructor({ hostname, port }, item) {
    this.bodiless = item.text.startsWith('HEAD ');
    this.bytes = Buffer.alloc(0);
    this.closed = false;
    this.socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
    this.socket.on('data', (piece) => { this.bytes = Buffer.concat([this.bytes, piece]); this.wake?.(); });
    this.socket.on('error', () => {});
    this.socket.on('close', () => { this.closed = true; this.wake?.(); });
  }

  async send(pieces) {
    for (const piece of pieces) {
      if (this.closed) return;
      if (typeof piece === 'number') await sleep(piece);
      else this.socket.write(piece);
    }
  }

  async until(condition, ms) {
    const end = Date.now() + ms;
    while (!condition() && Date.now() < end) {
      const woken = new Promise((resolve) => { this.wake = resolve; });
      await Promise.race([woken, sleep(Math.max(1, end - Date.now()), undefined, { ref: false })]);
    }
    return condition();
  }

  answers() {
    return parseAnswers(this.bytes, this.bodiless);
  }

  end() {
    this.socket.destroy();
  }
}

// ---- judging ---------------------------------------------------------------------------

/** An error of ours has a body in E2B's shape, whose code is the status. */
function badShape(answer) {
  if (!answer.body) return `${answer.status} without a body`;
  let body;
  try {
    body = JSON.parse(answer.body);
  } catch {
    return `the body of ${answer.status} is not JSON: ${JSON.stringify(answer.body.slice(0, 80))}`;
  }
  if (body.code !== answer.status) return `code ${body.code} in a ${answer.status}`;
  return body.message ? null : `no message in a ${answer.status}`;
}

const fits = (want, answer) => want.status === 'any' ? answer.status >= 200 && answer.status < 600 && answer.status !== 400 : answer.status === want.status;

/** Why these answers are not that alternative, or null. */
function mismatch(alternative, answers, bodiless) {
  const { wants } = alternative;
  const own = wants.at(-1)?.library; // its error block may come twice
  if (own ? answers.length < wants.length : answers.length !== wants.length) return 'count';
  for (let i = 0; i < wants.length; i++) {
    if (!fits(wants[i], answers[i])) return 'status';
    const ours = answers[i].status >= 400 && !wants[i].library && wants[i].status !== 'any';
    const shape = ours && !bodiless ? badShape(answers[i]) : null;
    if (shape) return shape;
  }
  return null;
}

const longest = (item) => Math.max(...item.expected.map((one) => one.wants.length));

/** Null, or what went wrong with the answers. */
async function play(item, talk, patience) {
  const most = Math.max(...item.expected.map((one) => one.wants.length));
  const fit = () => item.expected.find((one) => mismatch(one, talk.answers(), talk.bodiless) === null);
  const complete = () => talk.closed || (most > 0 && talk.answers().length >= most);
  await talk.send(item.pieces);
  await talk.until(() => complete() || (talk.answers().length > 0 && fit()), patience);
  await talk.until(complete, item.expected.length > 1 ? QUIET_MS : 0); // a longer alternative may come true
  const answers = talk.answers();
  const seen = answers.map((a) => a.status).join(',') || (talk.closed ? 'close' : 'nothing');
  if (!fit()) return [`want ${item.status}, got ${seen}`, ...shapesOf(item, talk)].join('; ');
  if (!fit().closes) return null;
  return await talk.until(() => talk.closed, CLOSE_MS) ? null : `${seen} as wanted, but the connection stays open`;
}

const shapesOf = (item, talk) => item.expected.map((one) => mismatch(one, talk.answers(), talk.bodiless)).filter((why) => why !== 'count' && why !== 'status');

// ---- the simulator's side --------------------------------------------------------------

async function ask(sim, path) {
  const response = await fetch(new URL(path, sim));
  if (!response.ok) fail(`the simulator answers ${response.status} for ${path}`);
  return response.json();
}

/** What must hold for every request that E2B ever sees. */
function upstreamFaults(request, key) {
  const names = request.headers.map(([name]) => name.toLowerCase());
  const keys = request.headers.filter(([name]) => name.toLowerCase() === 'x-api-key');
  const head = Buffer.from(request.rawHead64, 'base64').toString('latin1');
  const path = (request.target ?? '').split('?')[0];
  const checks = [
    [!request.malformed, `malformed: ${request.malformed}`],
    [request.framing?.single !== false, 'framed twice'],
    [keys.length === 1, `${keys.length} API keys`],
    [!head.includes(key), 'the gateway key went upstream'],
    [/^\/[!-~]*$/.test(request.target ?? ''), `target ${request.target}`],
    [!/\/\/|\/\.{1,2}(\/|$)|[\\;]|%25|%00|%5c/i.test(path), `path ${path}`],
    [!/[^\t -~]/.test(head.replaceAll('\r\n', '')), 'a control or non-ASCII byte in the head'],
    [!names.some((name) => /^(sandgate-|x-forwarded|x-http-method|x-method-override|x-admin|x-team|forwarded|upgrade|te$|trailer|expect)/.test(name)), `headers ${names}`],
    [new Set(names).size === names.length, `repeated headers ${names}`],
  ];
  return checks.filter(([held]) => !held).map(([, why]) => why);
}

// ---- all together ----------------------------------------------------------------------

async function main() {
  const options = readOptions(process.argv.slice(2));
  const agents = new URL(options.agents);
  const only = new RegExp(options.only ?? '');
  const all = readCases(fs.readFileSync(options.cases, 'utf8')).map((one) => expand(one, options.key)).filter((one) => only.test(`${one.id} ${one.text}`));
  const [slow, quick] = [all.filter((one) => one.slow && options.slow), all.filter((one) => !one.slow)];
  let passed = 0;
  let failed = 0;
  const note = (item, why) => {
    if (!why) return void passed++;
    failed++;
    console.log(`${item.id}: ${why}\n    line ${item.line}: ${item.text.slice(0, 200)}`);
  };

  const before = (await ask(options.sim, '/counts')).total;
  const since = (await ask(options.sim, '/requests')).at(-1)?.n ?? 0;
  const waiting = slow.map(async (item) => { // they send nothing upstream
    const talk = new Talk(agents, item);
    note(item, await play(item, talk, SLOW_MS));
    talk.end();
  });
  let total = before;
  for (const item of quick) {
    const talk = new Talk(agents, item);
    const why = await play(item, talk, PATIENCE_MS);
    talk.end();
    const now = (await ask(options.sim, '/counts')).total;
    const count = now - total;
    total = now;
    note(item, why ?? (item.count === null || count === item.count ? null : `E2B saw ${count} requests, not ${item.count}`));
  }
  await Promise.all(waiting);
  for (const request of await ask(options.sim, `/requests?since=${since}`)) {
    const faults = upstreamFaults(request, options.key);
    note({ id: 'upstream', line: '-', text: `${request.method} ${request.target}` }, faults.join('; ') || null);
  }
  console.log(`corpus: ${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

await main();
