// The API port: HTTP/1.1 on raw sockets, one request at a time per connection, keeping what it read.
// It knows nothing of E2B: `hooks` decide what a request means and write the answer.
//
// hooks: onConnect(conn) → true to serve it · onHead(x) → true to go on · onHalf(x) → true to go on ·
//        onRequest(x) · onMalformed(conn, head bytes, error, x or null) · onPeerClosed(x) · onClosed(conn) ·
//        bodyLimit(x) → bytes
import net from 'node:net';
import { parseHead, bodyReader, headerValue, Malformed, HEAD_LIMIT } from './parse.mjs';

const EMPTY = Buffer.alloc(0);
const CRLF2 = '\r\n\r\n';
const LIMITS = { idle: 620_000, head: 5_000, body: 10_000 }; // E2B's own
const MALFORMED_ANSWER = 'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request';
const TOO_LARGE_BODY = '{"error":"request too large"}';
const TOO_LARGE = `HTTP/1.1 413 Request Entity Too Large\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\nContent-Length: ${TOO_LARGE_BODY.length}\r\n\r\n${TOO_LARGE_BODY}`;
const HEAD_TOO_LARGE = 'HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n431 Request Header Fields Too Large';

export class HttpServer {
  constructor(hooks, { host, port }) {
    this.hooks = hooks;
    this.host = host;
    this.port = port;
    this.connections = new Map();
    this.opened = 0;
    this.listener = null;
    this.sweeper = setInterval(() => this.sweep(Date.now()), 500);
    this.sweeper.unref();
  }

  /** Opens the listening socket; after the first time on the same port again. */
  listen() {
    if (this.listener) return Promise.resolve();
    const listener = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.accept(socket));
    this.listener = listener;
    return new Promise((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(this.port, this.host, 1024, () => {
        this.port = listener.address().port;
        resolve();
      });
    });
  }

  /** New connections are refused from here on; open ones stay. */
  stopListening() {
    if (this.listener) this.listener.close();
    this.listener = null;
  }

  accept(socket) {
    const conn = new Connection(this, socket, ++this.opened);
    this.connections.set(conn.number, conn);
    if (this.hooks.onConnect(conn)) conn.start();
  }

  sweep(now) {
    for (const conn of this.connections.values()) if (now > conn.deadline) conn.expire();
  }

  /** What a graceful restart does to those who wait for nothing. */
  endIdle() {
    for (const conn of this.connections.values()) if (conn.idle()) conn.socket.end();
  }

  destroyAll() {
    for (const conn of this.connections.values()) conn.socket.destroy();
  }

  close() {
    clearInterval(this.sweeper);
    this.stopListening();
    this.destroyAll();
  }
}

class Connection {
  constructor(server, socket, number) {
    this.server = server;
    this.socket = socket;
    this.number = number;
    this.ordinal = 0;
    this.state = 'new'; // new → head ⇄ body → busy → head …, or hung, or dead
    this.input = EMPTY;
    this.reader = null;
    this.exchange = null;
    this.pumping = false;
    this.peerEnded = false;
    this.closing = false; // answer what is under way, then close
    this.openedAt = Date.now();
    this.deadline = Infinity;
    socket.on('error', () => {}); // a reset peer is an event of the test, not an error of ours
    socket.on('close', () => this.closed());
  }

  start() {
    this.state = 'head';
    this.deadline = Date.now() + LIMITS.idle;
    this.socket.on('data', (bytes) => this.received(bytes));
    this.socket.on('end', () => this.ended());
  }

  idle() { return this.state === 'head' && this.input.length === 0; }

  received(bytes) {
    if (this.state === 'dead' || this.state === 'hung') return;
    if (this.idle()) this.deadline = Date.now() + LIMITS.head;
    this.input = this.input.length ? Buffer.concat([this.input, bytes]) : bytes;
    this.pump();
  }

  /** Guarded against re-entry: an answer given at once comes back here through `next`. */
  pump() {
    if (this.pumping) return;
    this.pumping = true;
    try {
      while (this.input.length && STEPS[this.state] && this[STEPS[this.state]]());
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.malformed(error);
    }
    this.pumping = false;
  }

  readHead() {
    const end = this.input.indexOf(CRLF2, 0, 'latin1');
    if (end < 0) return this.headIncomplete();
    this.headBytes = Buffer.from(this.input.subarray(0, end + 4));
    const head = parseHead(this.headBytes);
    this.input = this.input.subarray(end + 4);
    this.exchange = new Exchange(this, head, this.headBytes);
    this.state = 'body';
    this.deadline = Date.now() + LIMITS.body;
    if (!this.server.hooks.onHead(this.exchange)) return false;
    return this.startBody(head.framing);
  }

  headIncomplete() {
    if (this.input.length > HEAD_LIMIT) this.refuse(HEAD_TOO_LARGE);
    return false;
  }

  startBody(framing) {
    if (framing.length > this.server.hooks.bodyLimit(this.exchange)) return this.refuse(TOO_LARGE);
    this.reader = bodyReader(framing);
    if (!this.reader) return this.complete();
    if (headerValue(this.exchange.headers, 'expect') === '100-continue') this.socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    return true;
  }

  readBody() {
    const { reader, exchange } = this;
    const used = reader.feed(this.input, 0);
    this.input = this.input.subarray(used);
    if (reader.got > this.server.hooks.bodyLimit(exchange)) return this.refuse(TOO_LARGE);
    if (!exchange.halfSeen && reader.halfway()) {
      exchange.halfSeen = true;
      exchange.body = reader.body();
      if (!this.server.hooks.onHalf(exchange)) return false;
    }
    return reader.done ? this.complete() : true;
  }

  complete() {
    const { reader, exchange } = this;
    exchange.body = reader ? reader.body() : EMPTY;
    exchange.rawBody = reader && exchange.framing.chunked ? reader.raw() : exchange.body;
    exchange.complete = true;
    this.reader = null;
    this.state = 'busy';
    this.deadline = Infinity;
    this.server.hooks.onRequest(exchange);
    return true;
  }

  malformed(error) {
    const bytes = this.state === 'head' ? Buffer.from(this.headBytes ?? this.input) : Buffer.concat([this.headBytes, this.input]);
    this.server.hooks.onMalformed(this, bytes, error, this.state === 'body' ? this.exchange : null);
    this.refuse(MALFORMED_ANSWER);
  }

  refuse(answer) {
    this.state = 'dead';
    this.deadline = Date.now() + LIMITS.head;
    this.socket.end(answer);
    this.socket.resume();
    return false;
  }

  /** The answer is written: the next request, or the end. */
  next(keep) {
    this.exchange = null;
    if (!keep || this.closing || this.peerEnded) return this.fin();
    this.state = 'head';
    this.deadline = Date.now() + LIMITS.idle;
    if (!this.pumping && this.input.length) this.pump();
  }

  fin() {
    this.state = 'dead';
    this.deadline = Date.now() + LIMITS.head; // a peer that never closes its side is cut
    this.socket.end();
    this.socket.resume();
  }

  /** A bare RST. resetAndDestroy() would end the stream first, and the peer would see a clean FIN. */
  rst() {
    this.state = 'dead';
    this.socket.resetAndClosing = true;
    this.socket.destroy();
  }

  /** Neither reads nor answers any more, whatever the peer does, until released. */
  hang() {
    this.state = 'hung';
    this.deadline = Infinity;
    this.socket.pause();
  }

  expire() {
    if (this.idle()) this.fin();
    else this.socket.destroy();
    this.deadline = Infinity;
  }

  ended() {
    this.peerEnded = true;
    if (this.exchange) this.server.hooks.onPeerClosed(this.exchange);
    if (this.state !== 'busy' && this.state !== 'hung') this.fin();
  }

  closed() {
    if (this.exchange && !this.peerEnded) this.server.hooks.onPeerClosed(this.exchange);
    this.state = 'dead';
    this.server.connections.delete(this.number);
    this.server.hooks.onClosed(this);
  }
}

const STEPS = { head: 'readHead', body: 'readBody' };

/** One request and what became of it. */
class Exchange {
  constructor(conn, head, rawHead) {
    this.conn = conn;
    this.ordinal = ++conn.ordinal;
    this.at = Date.now();
    this.method = head.method;
    this.target = head.target;
    this.headers = head.headers;
    this.framing = head.framing;
    this.rawHead = rawHead;
    this.body = EMPTY;
    this.rawBody = EMPTY;
    this.complete = false;
    this.halfSeen = false;
    this.keepAlive = keepsAlive(head);
  }
}

function keepsAlive({ headers, minor }) {
  const value = headerValue(headers, 'connection');
  if (value === undefined) return minor === 1;
  const wish = value.toLowerCase();
  return minor === 1 ? wish !== 'close' : wish === 'keep-alive';
}
