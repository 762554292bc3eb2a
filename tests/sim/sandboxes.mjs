// Handlers of the sandbox routes: a context in, an answer out.
import { ApiError, empty, json } from './answer.mjs';
import { fullNames, iso } from './world.mjs';
import { created, detail, listed } from './views.mjs';
import { choiceParam, choicesParam, intParam, invalid, metadataParam, page, timeParam } from './query.mjs';

const STATES = ['running', 'paused'];
const METRIC_EVERY_S = 5;
const METRICS_MAX = 100;

const keyOf = (sandbox) => [sandbox.startedAt, sandbox.sandboxID];

// ---- create, list, look ----------------------------------------------------------------------------

const DEFAULT_TIMEOUT = { v1: 15, v2: 300 };

function create({ world, input }, fields) {
  if (fields.timeout <= 0) throw new ApiError(400, 'Timeout must be greater than 0');
  if (fields.timeout > 24 * 3600) throw new ApiError(400, 'Timeout cannot be greater than 24 hours');
  const template = world.templateFor(input.templateID);
  return json(201, created(world.createSandbox(template, fields)));
}

export const createV1 = (ctx) => create(ctx, { timeout: DEFAULT_TIMEOUT.v1, ...ctx.input });
export const createV2 = (ctx) => create(ctx, { timeout: DEFAULT_TIMEOUT.v2, ...ctx.input, secure: true });

function filtered(world, query, states) {
  const wanted = metadataParam(query);
  const templateName = query.get('template');
  const template = templateName ? world.findTemplate(templateName).template?.templateID ?? templateName : null;
  const after = timeParam(query, 'startedAfter');
  const tests = [
    states.length < STATES.length && ((s) => states.includes(s.state)),
    wanted.length && ((s) => wanted.every(([key, value]) => s.metadata[key] === value)),
    template && ((s) => s.templateID === template),
    after !== undefined && ((s) => s.startedAt >= after),
  ].filter(Boolean);
  const all = world.inOrder();
  return tests.length ? all.filter((s) => tests.every((test) => test(s))) : all;
}

export function listV2({ world, query }) {
  const asc = choiceParam(query, 'order', ['asc', 'desc'], 'desc') === 'asc';
  const matching = filtered(world, query, choicesParam(query, 'state', STATES));
  const { found, headers } = page(asc ? matching : [...matching].reverse(), query, keyOf, { asc });
  headers.push(['X-Total-Running', String(world.running)]);
  return json(200, found.map(listed), headers);
}

export function listV1({ world, query }) {
  return json(200, [...filtered(world, query, ['running'])].reverse().map(listed));
}

export const info = ({ world, params }) => json(200, detail(world.get(params.sandboxID)));

// ---- lifecycle -------------------------------------------------------------------------------------

export function kill({ world, params }) {
  world.kill(world.get(params.sandboxID));
  return empty(204);
}

export function pause({ world, params, input }) {
  const sandbox = world.get(params.sandboxID);
  if (sandbox.state === 'paused') throw new ApiError(409, `Error pausing sandbox - sandbox '${sandbox.sandboxID}' is already paused`);
  world.pause(sandbox, input.memory !== false);
  return empty(204);
}

function connect({ world, params }, seconds) {
  if (seconds < 0) throw new ApiError(400, 'Timeout must not be negative');
  const sandbox = world.get(params.sandboxID);
  const wasPaused = sandbox.state === 'paused';
  if (wasPaused) world.resume(sandbox, Math.max(seconds, 1));
  else world.extend(sandbox, seconds);
  return json(wasPaused ? 201 : 200, created(sandbox));
}

export const connectV1 = (ctx) => connect(ctx, ctx.input.timeout);
export const connectV2 = (ctx) => connect(ctx, ctx.input.timeout ?? DEFAULT_TIMEOUT.v2);

export function resume({ world, params, input }) {
  const sandbox = world.get(params.sandboxID);
  if (sandbox.state === 'running') throw new ApiError(409, `sandbox '${sandbox.sandboxID}' is already running`);
  if (input.autoPause !== undefined) sandbox.autoPause = input.autoPause;
  world.resume(sandbox, Math.max(input.timeout ?? DEFAULT_TIMEOUT.v1, 1));
  return json(201, created(sandbox));
}

export function setTimeout({ world, params, input }) {
  world.setTimeout(world.runningSandbox(params.sandboxID), input.timeout);
  return empty(204);
}

export function refresh({ world, params, input }) {
  const seconds = input.duration ?? 15;
  if (seconds < 0 || seconds > 3600) throw new ApiError(400, 'validation error: duration must be between 0 and 3600');
  world.extend(world.runningSandbox(params.sandboxID), Math.max(seconds, 15));
  return empty(204);
}

export function fork({ world, params, input }) {
  const { count = 1, timeout = DEFAULT_TIMEOUT.v1 } = input;
  if (count < 1 || count > 100) throw new ApiError(400, 'validation error: count must be between 1 and 100');
  const source = world.get(params.sandboxID);
  if (source.state !== 'running') throw new ApiError(409, `sandbox '${source.sandboxID}' is not running`);
  return json(201, Array.from({ length: count }, () => ({ sandbox: created(world.fork(source, Math.max(timeout, 1))) })));
}

/** Full replacement: what the body leaves out is cleared. What only create can set stays. */
export function putNetwork({ world, params, input }) {
  const sandbox = world.runningSandbox(params.sandboxID);
  const { allow_internet_access: internet, ...replaced } = input;
  const { allowPublicTraffic, maskRequestHost, httpsPorts } = sandbox.network;
  const kept = Object.entries({ allowPublicTraffic, maskRequestHost, httpsPorts }).filter(([, value]) => value !== undefined);
  sandbox.network = { ...Object.fromEntries(kept), ...replaced };
  sandbox.allowInternetAccess = internet ?? null;
  return empty(204);
}

// ---- snapshots -------------------------------------------------------------------------------------

function snapshotInfo(template, tag = 'default') {
  const names = fullNames(template).map((name) => `${name}:${tag}`);
  return { snapshotID: names[0] ?? `${template.templateID}:${tag}`, names };
}

export function createSnapshot({ world, params, input }) {
  const { template, tag } = world.snapshot(world.runningSandbox(params.sandboxID), input.name);
  return json(201, snapshotInfo(template, tag));
}

export function listSnapshots({ world, query }) {
  const sandboxID = query.get('sandboxID');
  const name = query.get('name');
  const named = name ? world.findTemplate(name).template : null;
  const all = [...world.templates.values()]
    .filter((t) => t.snapshotOf && (!sandboxID || t.snapshotOf === sandboxID) && (!name || t === named))
    .sort((a, b) => b.createdAt - a.createdAt || (a.templateID < b.templateID ? 1 : -1));
  const { found, headers } = page(all, query, (t) => [t.createdAt, t.templateID]);
  return json(200, found.map((t) => snapshotInfo(t)), headers);
}

// ---- metrics and logs ------------------------------------------------------------------------------

function metricAt(sandbox, seconds) {
  const total = sandbox.memoryMB * 2 ** 20;
  const disk = sandbox.diskSizeMB * 2 ** 20;
  return {
    timestamp: iso(seconds * 1000), timestampUnix: seconds,
    cpuCount: sandbox.cpuCount, cpuUsedPct: 1.5 + (seconds % 7),
    memUsed: Math.trunc(total / 8), memTotal: total, memCache: Math.trunc(total / 16),
    diskUsed: Math.trunc(disk / 4), diskTotal: disk,
  };
}

export function metrics({ world, params, query }) {
  const sandbox = world.get(params.sandboxID);
  const started = Math.trunc(sandbox.startedAt / 1000);
  const until = Math.trunc((sandbox.state === 'running' ? Date.now() : sandbox.endAt) / 1000);
  const start = Math.max(started, intParam(query, 'start', { min: 0, otherwise: 0 }));
  const end = Math.min(until, intParam(query, 'end', { min: 0, otherwise: until }));
  const first = started + Math.ceil((start - started) / METRIC_EVERY_S) * METRIC_EVERY_S;
  const step = METRIC_EVERY_S * Math.max(1, Math.ceil((end - first) / METRIC_EVERY_S / METRICS_MAX));
  const samples = [];
  for (let at = first; at <= end; at += step) samples.push(metricAt(sandbox, at));
  return json(200, samples);
}

export function metricsOfMany({ world, query }) {
  const ids = (query.get('sandbox_ids') ?? '').split(',').filter(Boolean);
  if (ids.length === 0) throw invalid('sandbox_ids', 'value is required but missing');
  if (ids.length > 100 || new Set(ids).size < ids.length) throw invalid('sandbox_ids', 'at most 100 unique items');
  const now = Math.trunc(Date.now() / 1000);
  const found = ids.map((id) => world.sandboxes.get(id)).filter((s) => s?.state === 'running');
  return json(200, { sandboxes: Object.fromEntries(found.map((s) => [s.sandboxID, metricAt(s, now)])) });
}

const LEVELS = ['debug', 'info', 'warn', 'error'];

/** Entries by cursor, direction, level and text; shared with the build logs. */
export function selectLogs(entries, query, { max = 1000, cursor = 'cursor' } = {}) {
  const from = intParam(query, cursor, { min: 0 });
  const limit = intParam(query, 'limit', { min: 0, max, otherwise: max });
  const backward = choiceParam(query, 'direction', ['forward', 'backward'], 'forward') === 'backward';
  const least = LEVELS.indexOf(choiceParam(query, 'level', LEVELS, 'debug'));
  const search = query.get('search') ?? '';
  if (search.length > 256) throw new ApiError(400, 'validation error: search is too long');
  const found = entries.filter((e) => LEVELS.indexOf(e.level) >= least && e.message.includes(search)
    && (from === undefined || (backward ? e.at <= from : e.at >= from)));
  return (backward ? found.reverse() : found).slice(0, limit);
}

const logLine = (e) => ({ timestamp: iso(e.at), line: JSON.stringify({ ...e.fields, level: e.level, message: e.message }) });
const logEntry = (e) => ({ timestamp: iso(e.at), level: e.level, message: e.message, fields: e.fields });

export function logsV2({ world, params, query }) {
  return json(200, { logs: selectLogs(world.get(params.sandboxID).logs, query).map(logEntry) });
}

export function logsV1({ world, params, query }) {
  const found = selectLogs(world.get(params.sandboxID).logs, query, { cursor: 'start' });
  return json(200, { logs: found.map(logLine), logEntries: found.map(logEntry) });
}

