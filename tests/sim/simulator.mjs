// The simulator put together: the API port, the world behind it, the journal, the faults in between.
import { Api } from './api.mjs';
import { encode, errorAnswer } from './answer.mjs';
import { Faults, KNOBS, applyKnobs, carriesOut } from './faults.mjs';
import { HttpServer } from './http.mjs';
import { Journal } from './journal.mjs';
import { World } from './world.mjs';
import { send, wireOf } from './wire.mjs';
import { startControl } from './control.mjs';

const NO_EFFECT = errorAnswer(500, 'not carried out');
const SEED_LIFETIME_S = 24 * 3600;
const RESTART_MS = 50; // how long a graceful restart refuses connections

export const DEFAULTS = {
  host: '127.0.0.1', port: 0, controlPort: 0, keys: [`e2b_${'0'.repeat(40)}`],
  seedSandboxes: 0, templates: [], anyTemplate: false, keep: 50_000,
};

export async function startSimulator(options = {}) {
  const simulator = new Simulator({ ...DEFAULTS, ...options });
  await simulator.start();
  return simulator;
}

export class Simulator {
  constructor(options) {
    this.options = options;
    this.world = new World(options);
    this.journal = new Journal(options.keep);
    this.faults = new Faults();
    this.api = new Api({ world: this.world, keys: options.keys, baseUrl: () => this.url });
    this.http = new HttpServer(this, options);
    this.held = new Set();
    this.epoch = 0;
    this.seed();
  }

  async start() {
    await this.http.listen();
    this.url = `http://${this.options.host}:${this.http.port}`;
    this.control = await startControl(this, this.options);
    this.controlUrl = this.control.url;
  }

  async close() {
    this.http.close();
    await this.control.close();
    this.world.reset();
  }

  seed() {
    for (let i = 0; i < this.options.seedSandboxes; i++) this.world.seedSandbox({ timeout: SEED_LIFETIME_S, metadata: { seed: String(i) } });
  }

  async reset() {
    this.epoch++;
    this.faults.clear();
    this.releaseAll((held) => held.drop());
    for (const conn of this.http.connections.values()) if (conn.state === 'hung') conn.socket.destroy();
    this.world.reset();
    this.api.setKeys(this.options.keys);
    this.journal.clear();
    this.seed();
    await this.http.listen();
  }

  // ---- hooks of the HTTP server ------------------------------------------------------------------

  onConnect(conn) {
    const fault = this.faults.active ? this.faults.pickForConnection(conn) : null;
    if (!fault) return true;
    conn[CONNECT_ACTS[fault.wish.connect]]();
    this.journal.notify();
    return false;
  }

  onHead(x) {
    this.api.route(x);
    this.journal.head(x);
    if (!this.faults.active) return true;
    x.fault = this.faults.pick(x);
    return this.passes(x, 'after_head');
  }

  onHalf(x) { return this.passes(x, 'half_body'); }

  bodyLimit(x) { return x.route.limit; }

  onRequest(x) {
    this.journal.complete(x);
    if (x.fault) this.faulty(x);
    else this.reply(x, this.api.run(x));
  }

  onMalformed(conn, bytes, error, x) { this.journal.malformed(conn, bytes, error, x); }

  onPeerClosed(x) {
    if (x.answered !== null) return;
    x.peerClosedAt = Date.now();
    this.journal.notify();
  }

  onClosed() { this.journal.notify(); }

  // ---- answering ---------------------------------------------------------------------------------

  /** The quick path. */
  reply(x, answer) {
    const keep = x.keepAlive && !x.conn.closing;
    x.conn.socket.write(encode(answer, x.method, keep));
    this.journal.answered(x, answer.status);
    x.conn.next(keep);
  }

  /** False if a fault ends the request at this point. */
  passes(x, stage) {
    const stop = x.fault?.wish[stage];
    if (stop === undefined) return true;
    x.received = true; // as far as it will ever be
    if (typeof stop === 'string') this.stop(x, stop);
    else this.answerEarly(x, stop);
    this.journal.notify();
    return false;
  }

  stop(x, how) {
    if (how !== 'hang') x.answered = how;
    this[STOPS[how]](x.conn);
  }

  /** An answer before the request was read: the rest of it can only be thrown away with the connection. */
  answerEarly(x, { end = 'fin', ...wish }) {
    x.conn.state = 'dead';
    const w = wireOf(NO_EFFECT);
    applyKnobs(w, { ...wish, end }, x);
    this.journal.answered(x, w.status);
    send(x, w);
  }

  async faulty(x) {
    const { wish } = x.fault;
    if (!this.passes(x, 'after_request')) return;
    const effect = carriesOut(wish);
    let answer = NO_EFFECT;
    if (effect === true) answer = this.carryOut(x);
    const { epoch } = this;
    await this.pass(x);
    if (this.epoch !== epoch) return x.conn.socket.destroy(); // reset meanwhile: nothing may touch the new world
    if (effect === 'late') answer = this.carryOut(x);
    if (x.conn.socket.destroyed) return;
    await this.sendFaulty(x, answer);
  }

  carryOut(x) {
    const { wish } = x.fault;
    const after = 'kill_undone' in wish ? this.around('kill_undone', x) : () => {};
    const answer = this.api.run(x);
    after();
    return answer;
  }

  around(name, x) { return KNOBS[name].around(x, this.world, x.fault.wish[name]); }

  async sendFaulty(x, answer) {
    const { wish } = x.fault;
    const w = wireOf(answer);
    applyKnobs(w, wish, x);
    if (wish.after_effect) {
      w.cut ??= 'before_headers';
      w.end = wish.after_effect;
    }
    if (!x.keepAlive && w.end === 'keep') w.end = 'fin';
    await send(x, w);
    this.journal.answered(x, HEADLESS_CUTS.includes(w.cut) ? w.end : w.status);
  }

  // ---- waiting and letting go ----------------------------------------------------------------------

  /** Through `delay_ms` and `hold`, in that order. */
  async pass(x) {
    const { delay_ms: ms, hold } = x.fault.wish;
    if (ms) await new Promise((resolve) => setTimeout(resolve, ms));
    if (hold) await this.holdUntilReleased(x);
  }

  holdUntilReleased(x) {
    return new Promise((resolve) => {
      const held = {
        fault: x.fault.id,
        go: resolve,
        drop: () => { x.conn.socket.destroy(); resolve(); },
      };
      this.held.add(held);
      this.journal.notify();
    });
  }

  releaseAll(how, wanted = () => true) {
    const going = [...this.held].filter(wanted);
    for (const held of going) {
      this.held.delete(held);
      how(held);
    }
    return going.length;
  }

  /** Held answers go out; hung connections end. */
  release({ fault, count = Infinity } = {}) {
    let left = count;
    const released = this.releaseAll((held) => held.go(), (held) => (!fault || held.fault === fault) && left-- > 0);
    const hung = [...this.http.connections.values()]
      .filter((conn) => conn.state === 'hung' && (!fault || conn.exchange?.fault?.id === fault))
      .slice(0, count - released);
    for (const conn of hung) conn.fin();
    return { released, ended: hung.length };
  }

  // ---- the listener ------------------------------------------------------------------------------

  install(wish) {
    const fault = this.faults.install(wish);
    if (fault.wish.connect === 'refuse') this.http.stopListening();
    return fault;
  }

  async removeFaults() {
    this.faults.clear();
    await this.http.listen();
  }

  /** As a server does that is told to go: no new connections, idle ones end, the others are answered
      and then closed; a moment later it is there again. */
  async restart({ ms = RESTART_MS } = {}) {
    this.http.stopListening();
    for (const conn of this.http.connections.values()) conn.closing = true;
    this.http.endIdle();
    await new Promise((resolve) => setTimeout(resolve, ms));
    await this.http.listen();
  }

  rst(conn) { conn.rst(); }
  fin(conn) { conn.fin(); }
  hang(conn) { conn.hang(); }

  restartUnder(conn) {
    conn.fin();
    this.restart();
  }
}

const HEADLESS_CUTS = ['before_headers', 'mid_headers'];
const STOPS = { rst: 'rst', fin: 'fin', hang: 'hang', restart: 'restartUnder' };
const CONNECT_ACTS = { hang: 'hang', rst: 'rst', fin: 'fin', refuse: 'rst' };
