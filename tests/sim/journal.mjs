// What was received: every request with its exact bytes, counts that are never cut, and waiters.

export class Journal {
  constructor(keep) {
    this.keep = keep;
    this.n = 0;
    this.waiters = new Set();
    this.clear();
  }

  /** Numbers go on, so that a test can tell requests of before and after a reset apart. */
  clear() {
    this.entries = [];
    this.dropped = 0;
    this.routes = new Map();
    this.tally = { total: 0, reads: 0, nonReads: 0, malformed: 0, unframed: 0 };
  }

  /** At the head already: a request whose body never came was still sent. */
  head(x) {
    x.n = ++this.n;
    x.answered = null;
    x.effect = false;
    x.peerClosedAt = null;
    this.add(x);
    this.tally.total++;
    this.tally[x.route.effect === 'read' ? 'reads' : 'nonReads']++;
    if (!x.framing.single) this.tally.unframed++;
    this.routes.set(x.route.label, (this.routes.get(x.route.label) ?? 0) + 1);
  }

  malformed(conn, bytes, error, x) {
    this.tally.malformed++;
    if (x) x.malformed = error.message;
    else this.add(this.unread(conn, bytes, error));
    this.notify();
  }

  unread(conn, rawHead, error) {
    const { message: malformed, facts: framing } = error;
    return { n: ++this.n, conn, ordinal: ++conn.ordinal, at: Date.now(), malformed, framing, rawHead, answered: 400 };
  }

  add(entry) {
    this.entries.push(entry);
    if (this.entries.length > this.keep * 1.25 + 16) this.trim();
  }

  trim() {
    const excess = this.entries.length - this.keep;
    this.entries.splice(0, excess);
    this.dropped += excess;
  }

  complete(x) {
    x.received = true;
    if (this.waiters.size) this.notify();
  }

  answered(x, status) {
    x.answered = status;
    if (this.waiters.size) this.notify();
  }

  notify() {
    for (const waiter of this.waiters) waiter();
  }

  counts() {
    return { ...this.tally, dropped: this.dropped, routes: Object.fromEntries(this.routes) };
  }

  select({ method, path, since = 0, limit = Infinity, route, body }) {
    const wanted = matcher({ method, path, route, body });
    const found = this.entries.filter((x) => x.n > since && wanted(x));
    return found.slice(0, limit);
  }

  /** Resolves true once `n` requests match at that stage, false at the timeout. */
  wait({ n = 1, stage = 'complete', ...match }, timeoutMs) {
    const reached = STAGES[stage];
    const wanted = matcher(match);
    const enough = () => this.entries.filter((x) => reached(x) && wanted(x)).length >= n;
    return until(enough, this.waiters, timeoutMs);
  }
}

export const STAGES = {
  head: () => true,
  complete: (x) => x.received === true,
  answered: (x) => x.answered !== null,
  peer_closed: (x) => Boolean(x.peerClosedAt),
};

/** Re-checks a condition at every event, never by polling. */
export function until(condition, waiters, timeoutMs) {
  return new Promise((resolve) => {
    let timer = null;
    const check = () => {
      if (condition()) finish(true);
    };
    const finish = (result) => {
      clearTimeout(timer);
      waiters.delete(check);
      resolve(result);
    };
    timer = setTimeout(() => finish(false), timeoutMs);
    waiters.add(check);
    check();
  });
}

/** One matcher for faults, for waiting and for looking things up. */
export function matcher({ method, path, route, body, header, reused, connection } = {}) {
  const tests = [];
  const pathPattern = path && new RegExp(path);
  const bodyPattern = body && new RegExp(body);
  if (method) tests.push((x) => x.method === method);
  if (pathPattern) tests.push((x) => pathPattern.test(x.path ?? ''));
  if (route) tests.push((x) => x.route?.path === route);
  if (bodyPattern) tests.push((x) => bodyPattern.test(x.body?.toString() ?? ''));
  if (connection) tests.push((x) => x.conn.number === connection);
  if (reused !== undefined) tests.push((x) => (x.ordinal > 1) === reused);
  for (const [name, pattern] of Object.entries(header ?? {})) tests.push(headerTest(name.toLowerCase(), new RegExp(pattern)));
  return (x) => tests.every((test) => test(x));
}

const headerTest = (name, pattern) => (x) => (x.headers ?? []).some(([key, value]) => key.toLowerCase() === name && pattern.test(value));

/** An entry as the control port shows it. */
export function describe(x) {
  const body = x.body ?? Buffer.alloc(0);
  return {
    n: x.n,
    connection: x.conn.number,
    ordinal: x.ordinal,
    at: new Date(x.at).toISOString(),
    method: x.method ?? null,
    target: x.target ?? null,
    path: x.path ?? null,
    route: x.route?.label ?? null,
    routeEffect: x.route?.effect ?? null,
    headers: x.headers ?? [],
    framing: x.framing ?? null,
    bodyText: body.toString('utf8'),
    body64: body.toString('base64'),
    rawHead64: x.rawHead.toString('base64'),
    rawBody64: (x.rawBody ?? body).toString('base64'),
    complete: x.complete ?? false,
    answered: x.answered,
    effect: x.effect ?? false,
    fault: x.fault?.id ?? null,
    malformed: x.malformed ?? null,
    peerClosedAt: x.peerClosedAt ? new Date(x.peerClosedAt).toISOString() : null,
  };
}
