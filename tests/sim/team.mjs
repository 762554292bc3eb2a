// Handlers of what belongs to the team: metrics, volumes, secrets, events, webhooks.
import crypto from 'node:crypto';
import { ApiError, empty, json } from './answer.mjs';
import { TEAM, iso, randomId, shortId } from './world.mjs';
import { choiceParam, intParam, invalid, page } from './query.mjs';

const NAME = /^[a-zA-Z0-9_-]+$/;
const NO_STORE = [['Cache-Control', 'no-store']];

// ---- metrics ---------------------------------------------------------------------------------------

function ownTeam(params) {
  if (params.teamID !== TEAM.id) throw new ApiError(403, "You don't have access to this team");
}

function startRate(world, now) {
  return world.starts.filter((at) => at > now - 30_000).length / 30;
}

export function teamMetrics({ world, params }) {
  ownTeam(params);
  const now = Date.now();
  const seconds = Math.trunc(now / 1000);
  return json(200, [{
    timestamp: iso(seconds * 1000), timestampUnix: seconds,
    concurrentSandboxes: world.running, sandboxStartRate: startRate(world, now),
  }]);
}

export function teamMetricsMax({ world, params, query }) {
  ownTeam(params);
  const metric = choiceParam(query, 'metric', ['concurrent_sandboxes', 'sandbox_start_rate']);
  if (!metric) throw invalid('metric', 'value is required but missing');
  const seconds = Math.trunc(Date.now() / 1000);
  const value = metric === 'concurrent_sandboxes' ? world.peakRunning : startRate(world, Date.now());
  return json(200, { timestamp: iso(seconds * 1000), timestampUnix: seconds, value });
}

// ---- volumes ---------------------------------------------------------------------------------------

/** Shaped as the JWT that E2B gives; good for nothing here. */
function volumeToken({ volumeID }) {
  const claims = JSON.stringify({ volume: volumeID, iat: Math.trunc(Date.now() / 1000) });
  return ['{"alg":"HS256","typ":"JWT"}', claims, randomId(32)].map((part) => Buffer.from(part).toString('base64url')).join('.');
}

const withToken = (volume) => ({ volumeID: volume.volumeID, name: volume.name, token: volumeToken(volume) });

function volume({ world, params }) {
  const found = world.volumes.get(params.volumeID);
  if (!found) throw new ApiError(404, 'Volume not found');
  return found;
}

export const listVolumes = ({ world }) => json(200, [...world.volumes.values()].map(({ volumeID, name }) => ({ volumeID, name })));
export const getVolume = (ctx) => json(200, withToken(volume(ctx)));

export function createVolume({ world, input }) {
  if (!NAME.test(input.name)) throw new ApiError(400, 'Invalid volume name');
  if ([...world.volumes.values()].some((v) => v.name === input.name)) throw new ApiError(400, `Volume with name '${input.name}' already exists`);
  const made = { volumeID: crypto.randomUUID(), name: input.name };
  world.volumes.set(made.volumeID, made);
  return json(201, withToken(made));
}

export function deleteVolume(ctx) {
  ctx.world.volumes.delete(volume(ctx).volumeID);
  return empty(204);
}

// ---- secrets: the value goes in and never comes out ------------------------------------------------

const shownSecret = ({ secretID, name, currentVersion, metadata, createdAt, updatedAt }) => ({
  secretID, name, currentVersion, metadata, createdAt: iso(createdAt), updatedAt: iso(updatedAt),
});

function secret({ world, params }) {
  const wanted = params.secretID;
  const found = world.secrets.get(wanted) ?? [...world.secrets.values()].find((s) => s.name === wanted.toLowerCase());
  if (!found) throw new ApiError(404, 'Secret not found');
  return found;
}

export function listSecrets({ world, query }) {
  const all = [...world.secrets.values()].sort((a, b) => b.createdAt - a.createdAt || (a.secretID < b.secretID ? 1 : -1));
  const { found, headers } = page(all, query, (s) => [s.createdAt, s.secretID]);
  return json(200, found.map(shownSecret), [...headers, ...NO_STORE]);
}

function checkSecretMetadata(metadata = {}) {
  if (Object.keys(metadata).length > 32) throw new ApiError(400, 'Invalid secret metadata');
}

export function createSecret({ world, input }) {
  const name = input.name.toLowerCase();
  if (!NAME.test(name) || name.length > 128 || name.startsWith('sec_')) throw new ApiError(400, 'Invalid secret name');
  checkSecretMetadata(input.metadata);
  if ([...world.secrets.values()].some((s) => s.name === name)) throw new ApiError(409, 'Secret already exists');
  const now = Date.now();
  const made = {
    secretID: `sec_${randomId(20)}`, name, currentVersion: 1, metadata: input.metadata ?? {},
    createdAt: now, updatedAt: now, value: input.value,
  };
  world.secrets.set(made.secretID, made);
  return json(201, shownSecret(made), NO_STORE);
}

export function updateSecret(ctx) {
  const found = secret(ctx);
  checkSecretMetadata(ctx.input.metadata);
  found.value = ctx.input.value;
  found.metadata = ctx.input.metadata ?? found.metadata;
  found.currentVersion++;
  found.updatedAt = Date.now();
  return json(200, shownSecret(found), NO_STORE);
}

export const getSecret = (ctx) => json(200, shownSecret(secret(ctx)), NO_STORE);

export function deleteSecret(ctx) {
  ctx.world.secrets.delete(secret(ctx).secretID);
  return empty(204, NO_STORE);
}

// ---- events ----------------------------------------------------------------------------------------

function events({ world, query }, wanted) {
  const offset = intParam(query, 'offset', { min: 0, otherwise: 0 });
  const limit = intParam(query, 'limit', { min: 1, max: 100, otherwise: 10 });
  const asc = choiceParam(query, 'orderAsc', ['true', 'false'], 'false') === 'true';
  const types = query.get('types')?.split(',');
  const found = world.events.filter((e) => wanted(e) && (!types || types.includes(e.type)));
  return json(200, (asc ? found : found.reverse()).slice(offset, offset + limit));
}

export const teamEvents = (ctx) => events(ctx, () => true);

export function sandboxEvents(ctx) {
  const id = shortId(ctx.params.sandboxID);
  return events(ctx, (e) => e.sandboxId === id);
}

// ---- webhooks --------------------------------------------------------------------------------------

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const shownWebhook = ({ id, name, createdAt, url, enabled, events: types }) => ({
  id, teamId: TEAM.id, name, createdAt: iso(createdAt), url, enabled, events: types,
});

function webhook({ world, params }) {
  if (!UUID.test(params.webhookID)) throw new ApiError(400, 'validation error: parameter "webhookID" in path has an error: must be a UUID');
  const found = world.webhooks.get(params.webhookID.toLowerCase());
  if (!found) throw new ApiError(404, 'Webhook not found');
  return found;
}

function checkUrl(url) {
  try {
    if (/^https?:$/.test(new URL(url).protocol)) return;
  } catch { /* refused below */ }
  throw new ApiError(400, 'validation error: url must be a valid URI');
}

export const listWebhooks = ({ world }) => json(200, [...world.webhooks.values()].map(shownWebhook));
export const getWebhook = (ctx) => json(200, shownWebhook(webhook(ctx)));

export function createWebhook({ world, input }) {
  checkUrl(input.url);
  const made = { enabled: true, ...input, id: crypto.randomUUID(), createdAt: Date.now() };
  world.webhooks.set(made.id, made);
  return json(201, shownWebhook(made));
}

export function updateWebhook(ctx) {
  const found = webhook(ctx);
  if (ctx.input.url !== undefined) checkUrl(ctx.input.url);
  Object.assign(found, ctx.input);
  return json(200, shownWebhook(found));
}

/** 200 and nothing, where one would expect 204. */
export function deleteWebhook(ctx) {
  ctx.world.webhooks.delete(webhook(ctx).id);
  return empty(200);
}

export function webhookDeliveries(ctx) {
  const { query, world } = ctx;
  const { id } = webhook(ctx);
  const limit = intParam(query, 'limit', { min: 1, max: 100, otherwise: 10 });
  const from = intParam(query, 'cursor', { min: 0, otherwise: 0 });
  const asc = choiceParam(query, 'orderAsc', ['true', 'false'], 'false') === 'true';
  const status = query.get('deliveryStatus');
  const type = query.get('eventType');
  const found = world.deliveries.filter((d) => d.webhookId === id && (!status || d.status === status) && (!type || d.eventType === type));
  const ordered = asc ? found : found.reverse();
  return json(200, { data: ordered.slice(from, from + limit), nextCursor: from + limit < ordered.length ? String(from + limit) : null });
}

export function webhookStats(ctx) {
  const { id } = webhook(ctx);
  const mine = ctx.world.deliveries.filter((d) => d.webhookId === id);
  const minute = (d) => `${d.createdAt.slice(0, 16)}:00Z`;
  const buckets = [...new Set(mine.map(minute))].map((timestamp) => {
    const within = mine.filter((d) => minute(d) === timestamp);
    return { timestamp, total: within.length, success: within.length, failed: 0 };
  });
  return json(200, { buckets });
}
