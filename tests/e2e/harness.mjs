// The rig of all end-to-end tests: simulator, gateway, and what a person would do.
// Nothing here sleeps: events are awaited (a line on stderr, a count at the simulator, a
// state of an approval), with a deadline that only a failure ever reaches.
import { spawn, execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const TOP = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const BUILD = path.resolve(TOP, process.env.SANDGATE_BUILD ?? 'build/release');
const PATIENCE_MS = Number(process.env.SANDGATE_PATIENCE_MS ?? 60000);
const live = new Set();

const folders = new Set(); // SANDGATE_KEEP leaves them for a look
process.on('exit', () => {
  for (const child of live) child.kill('SIGKILL');
  if (!process.env.SANDGATE_KEEP)
    for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

export function realKey() { return 'e2b_' + randomBytes(20).toString('hex'); }

function track(child) {
  live.add(child);
  child.on('exit', () => live.delete(child));
  return child;
}

// Resolves when `look` gives something; asks again soon after each `poke`.
export async function eventually(what, look, patience = PATIENCE_MS) {
  const until = Date.now() + patience;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > until) throw new Error(`never came: ${what}`);
    await new Promise(resume => setTimeout(resume, 15));
  }
}

// ---- the simulator -------------------------------------------------------------------------
export class Simulator {
  static async start({ key = realKey(), port = 0 } = {}) {
    const child = track(spawn(process.execPath, [path.join(TOP, 'tests/sim/sim.mjs'), '--port',
      String(port), '--control-port', '0', '--key', key], { stdio: ['ignore', 'pipe', 'inherit'] }));
    const line = await new Promise((resolve, reject) => {
      let text = '';
      child.stdout.on('data', chunk => {
        text += chunk;
        if (text.includes('\n')) resolve(text.split('\n')[0]);
      });
      child.on('exit', code => reject(new Error(`simulator ended: ${code}`)));
    });
    return Object.assign(new Simulator(), { child, key, ...JSON.parse(line) });
  }
  async ask(method, target, body) {
    const answer = await fetch(this.control + target, {
      method, body: body === undefined ? undefined : JSON.stringify(body) });
    if (!answer.ok) throw new Error(`simulator: ${method} ${target}: ${answer.status}`);
    const text = await answer.text();
    return text ? JSON.parse(text) : null;
  }
  requests() { return this.ask('GET', '/requests').then(r => r.requests ?? r); }
  async deliveries(method, pattern) {
    return (await this.requests()).filter(r => r.method === method && pattern.test(r.target));
  }
  world() { return this.ask('GET', '/world'); }
  fault(match, what) { return this.ask('POST', '/faults', { match, do: what }); }
  clearFaults() { return this.ask('DELETE', '/faults'); }
  release() { return this.ask('POST', '/release', {}); }
  stop() { return ended(this.child, 'SIGTERM'); }
}

function ended(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve({ code: child.exitCode, signal: child.signalCode });
  return new Promise(resolve => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    if (signal) child.kill(signal);
  });
}

// ---- policies -----------------------------------------------------------------------------
export const GROUPS = { operators: { users: ['ada', 'ben', 'cleo'] } };

// One file: what is written decides, in `decide` form, for the whole test.
export function policyFile({ read = 'allow', write = 'hold', destructive = 'hold', rules = [],
  approval = {} } = {}) {
  return { version: 1, name: 'test', approvers: GROUPS,
    defaults: { read, write, destructive, unknown: 'deny',
      approval: { from: ['operators'], need: 1, ...approval } }, rules };
}

const EVERY_WRITE = ['sandbox.create', 'sandbox.connect', 'sandbox.resume', 'sandbox.pause',
  'sandbox.timeout', 'sandbox.refresh', 'sandbox.snapshot', 'sandbox.fork', 'sandbox.network',
  'sandbox.kill', 'template.create', 'template.build', 'template.update', 'template.files',
  'template.delete', 'template.tag', 'template.untag', 'volume.create', 'volume.delete',
  'secret.create', 'secret.update', 'secret.delete', 'webhook.create', 'webhook.update',
  'webhook.delete'];
export const allowAll = policyFile({ rules: [{ id: 'all', why: 'This test lets every operation run.',
  decide: 'allow', match: { operations: EVERY_WRITE, effects: ['read', 'write', 'destructive'] } }] });
export const holdAll = policyFile({ rules: [{ id: 'all', why: 'This test holds every change for a person.',
  decide: 'hold', match: { operations: EVERY_WRITE } }] });
export const denyAll = policyFile({ rules: [{ id: 'no', why: 'This test denies every change, always.',
  decide: 'deny', match: { effects: ['write', 'destructive'] } }] });

// ---- the gateway --------------------------------------------------------------------------
export class Gateway {
  // `folder` may be an older gateway's: then it starts again on the same files.
  static async start({ sim, policy = holdAll, folder, config = {}, env = {}, setUp = true,
    wrap = [], patience } = {}) {
    const gateway = new Gateway();
    gateway.sim = sim;
    gateway.folder = folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'sandgate-'));
    folders.add(gateway.folder);
    gateway.files(policy, config, !folder);
    await gateway.launch(env, wrap, patience);
    if (setUp && !folder) await gateway.setUp();
    return gateway;
  }
  files(policy, config, fresh) {
    const at = name => path.join(this.folder, name);
    this.socket = at('admin.sock');
    if (!fresh) return;
    fs.mkdirSync(at('policy.d'));
    if (policy) this.policy(policy);
    for (const name of ['master-key', 'audit-key'])
      fs.writeFileSync(at(name), randomBytes(32).toString('hex'), { mode: 0o600 });
    fs.writeFileSync(at('sandgate.json'), JSON.stringify(merge({
      agents: { listen: '127.0.0.1:0' }, metrics: { listen: '127.0.0.1:0' },
      admin: { socket: this.socket }, data: at('data'), state_file: at('log-state'),
      policy: at('policy.d'), log: { origin: 'sandgate.test/log', level: 'debug' },
      credentials: { master_key: at('master-key'), audit_key: at('audit-key') },
      limits: { agent_connections: 4000 },
    }, config)));
  }
  policy(value, name = '00-test.json') {
    fs.writeFileSync(path.join(this.folder, 'policy.d', name), JSON.stringify(value));
  }
  async launch(env = {}, wrap = [], patience = PATIENCE_MS) {
    this.stderr = '';
    const [command, ...args] = [...wrap, path.join(BUILD, 'sandgated'), '--config',
      path.join(this.folder, 'sandgate.json')];
    this.child = track(spawn(command, args, { stdio: ['ignore', 'inherit', 'pipe'],
      env: { PATH: process.env.PATH, HOME: this.folder, TSAN_OPTIONS: process.env.TSAN_OPTIONS ?? '',
        ASAN_OPTIONS: process.env.ASAN_OPTIONS ?? '', ...env } }));
    this.child.stderr.on('data', chunk => { this.stderr += chunk; });
    await eventually('the ready line', () => {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`sandgated ended ${this.child.exitCode ?? this.child.signalCode}:\n${this.stderr}`);
      return /ready agents=(\S+) metrics=(\S+)/.exec(this.stderr);
    }, patience).then(([, agents, metrics]) => { this.url = agents; this.metrics = 'http://' + metrics; });
  }
  // People ada, ben, cleo decide; the machine's own user is the admin `ada` speaks as.
  async setUp() {
    for (const name of ['ben', 'cleo'])
      await this.admin('POST', '/people', { name, roles: 'approver' });
    await this.admin('POST', '/people', { name: 'ada', roles: 'admin,approver,auditor,policy-admin',
      uid: process.getuid() });
    if (this.sim)
      await this.admin('POST', '/environments', { name: 'production', base_url: this.sim.url,
        key: this.sim.key });
    await this.admin('POST', '/agents', { name: 'robot', team: 'data' });
    if (this.sim) this.key = await this.mint('robot');
  }
  async mint(agent, fields = {}) {
    return (await this.admin('POST', '/keys', { agent, environment: 'production', ...fields })).key;
  }
  // The people API over the admin socket; throws what the API says.
  async admin(method, target, body, { raw = false } = {}) {
    const answer = await request({ socketPath: this.socket, method, path: '/api/v1' + target },
      body === undefined ? undefined : JSON.stringify(body));
    if (raw) return answer;
    if (answer.status !== 200) throw Object.assign(new Error(
      `${method} ${target}: ${answer.status} ${answer.text}`), { status: answer.status });
    return JSON.parse(answer.text);
  }
  async agent(method, target, { body, key = this.key, headers = {} } = {}) {
    const url = new URL(this.url + target);
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await request({ host: url.hostname, port: url.port, method,
      path: target, headers: { ...(key ? { 'X-API-Key': key } : {}),
        ...(text === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers } }, text);
    try { answer.json = JSON.parse(answer.text); } catch { answer.json = null; }
    return answer;
  }
  open() { return this.admin('GET', '/approvals?state=open').then(r => r.approvals); }
  approvals() { return this.admin('GET', '/approvals?limit=1000').then(r => r.approvals); }
  approval(id) { return this.admin('GET', `/approvals/${id}`); }
  pending(look = () => true) {
    return eventually('a pending approval', async () =>
      (await this.open()).find(a => a.state === 'pending' && look(a)));
  }
  approve(id, fields = {}) { return this.admin('POST', `/approvals/${id}/approve`, fields); }
  // Approves whatever comes up until the work is done.
  async approving(work) {
    let done = false;
    const person = (async () => {
      while (!done) {
        for (const approval of await this.open())
          if (approval.state === 'pending') await this.approve(approval.id).catch(error => {
            if (error.status !== 409) throw error; // it moved meanwhile
          });
        await new Promise(resume => setTimeout(resume, 10));
      }
    })();
    try { return await work; } finally { done = true; await person; }
  }
  decline(id, reason = 'still in use') { return this.admin('POST', `/approvals/${id}/decline`, { reason }); }
  state(id, ...states) {
    return eventually(`${id} ${states}`, async () => {
      const approval = await this.approval(id);
      return states.includes(approval.state) && approval;
    });
  }
  records(query = '') { return this.admin('GET', `/audit?limit=1000${query}`).then(r => r.records); }
  cli(args, { input, env = {}, uid } = {}) {
    // Another user may not look into the tree that this one was built in.
    const program = uid ? path.join(this.folder, 'sandgate') : path.join(BUILD, 'sandgate');
    if (uid) fs.copyFileSync(path.join(BUILD, 'sandgate'), program);
    return new Promise(resolve => {
      const child = execFile(program, ['--config',
        path.join(this.folder, 'sandgate.json'), ...args], { uid,
        env: { PATH: process.env.PATH, HOME: this.folder, NO_COLOR: '1', ...env }, maxBuffer: 1 << 28 },
      (error, stdout, stderr) => resolve({ code: error ? error.code ?? error.signal : 0, stdout, stderr }));
      child.stdin.end(input ?? '');
    });
  }
  // Export and verify with the log's own key: the verdict of an auditor who kept the key.
  async verify() {
    const { vkey } = await this.admin('GET', '/audit/head');
    const file = path.join(this.folder, `export-${randomBytes(4).toString('hex')}.jsonl`);
    await this.admin('POST', '/audit/checkpoint', {});
    const answer = await this.admin('GET', '/audit/export', undefined, { raw: true });
    fs.writeFileSync(file, answer.text);
    return { file, vkey, ...await this.cli(['audit', 'verify', file, '--key', vkey]) };
  }
  sdk() { return { apiUrl: this.url, apiKey: this.key }; }
  async stop() {
    const end = await ended(this.child, 'SIGTERM');
    this.checkSanitizers();
    return end;
  }
  kill() { return ended(this.child, 'SIGKILL'); }
  exited() { return ended(this.child); }
  checkSanitizers() {
    if (/(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:|must: /.test(this.stderr))
      throw new Error('sanitizer or must:\n' + this.stderr.slice(-8000));
  }
  async again(env = {}, wrap = []) { await this.launch(env, wrap); return this; }
}

function merge(base, more) {
  for (const [key, value] of Object.entries(more))
    base[key] = value && typeof value === 'object' && !Array.isArray(value)
      ? merge(base[key] ?? {}, value) : value;
  return base;
}

// One request on its own connection; resolves with status, headers and text.
export function request(options, body) {
  return new Promise((resolve, reject) => {
    const out = http.request({ agent: false, ...options }, answer => {
      const chunks = [];
      answer.on('data', chunk => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers,
        text: Buffer.concat(chunks).toString() }));
      answer.on('error', reject);
    });
    out.on('error', reject);
    options.opened?.(out);
    out.end(body);
  });
}
