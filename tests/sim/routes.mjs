// Every route of the control plane as one table, and the router over it. A new route is a new row.
//
// effect: as the gateway's catalogue has it (the counts by reads and non-reads rest on it).
// auth:   key = a team's API key · open = none · other = credentials that no agent has (always 401 here).
import { BODIES } from './bodies.mjs';
import { text } from './answer.mjs';
import * as sandboxes from './sandboxes.mjs';
import * as templates from './templates.mjs';
import * as team from './team.mjs';

const KEY = 'key';
const OPEN = 'open';
const OTHER = 'other';
const OPTIONAL = true; // the body may be absent
const MIB = 1 << 20;

const health = () => text(200, 'Health check successful');

// method, path, effect, handler, { body, optional, auth, limit }
const TABLE = [
  ['GET', '/health', 'read', health, { auth: OPEN }],

  ['POST', '/v2/sandboxes', 'write', sandboxes.createV2, { body: BODIES.createV2 }],
  ['POST', '/sandboxes', 'write', sandboxes.createV1, { body: BODIES.createV1 }],
  ['GET', '/v2/sandboxes', 'read', sandboxes.listV2],
  ['GET', '/sandboxes', 'read', sandboxes.listV1],
  ['GET', '/sandboxes/metrics', 'read', sandboxes.metricsOfMany],
  ['GET', '/sandboxes/{sandboxID}', 'read', sandboxes.info],
  ['DELETE', '/sandboxes/{sandboxID}', 'destructive', sandboxes.kill],
  ['GET', '/sandboxes/{sandboxID}/metrics', 'read', sandboxes.metrics],
  ['GET', '/v2/sandboxes/{sandboxID}/logs', 'read', sandboxes.logsV2],
  ['GET', '/sandboxes/{sandboxID}/logs', 'read', sandboxes.logsV1],
  ['POST', '/v2/sandboxes/{sandboxID}/connect', 'write', sandboxes.connectV2, { body: BODIES.connectV2, optional: OPTIONAL }],
  ['POST', '/sandboxes/{sandboxID}/connect', 'write', sandboxes.connectV1, { body: BODIES.connectV1 }],
  ['POST', '/sandboxes/{sandboxID}/resume', 'write', sandboxes.resume, { body: BODIES.resume, optional: OPTIONAL }],
  ['POST', '/sandboxes/{sandboxID}/pause', 'write', sandboxes.pause, { body: BODIES.pause, optional: OPTIONAL }],
  ['POST', '/sandboxes/{sandboxID}/timeout', 'write', sandboxes.setTimeout, { body: BODIES.timeout }],
  ['POST', '/sandboxes/{sandboxID}/refreshes', 'write', sandboxes.refresh, { body: BODIES.refresh, optional: OPTIONAL }],
  ['POST', '/sandboxes/{sandboxID}/snapshots', 'write', sandboxes.createSnapshot, { body: BODIES.snapshot, optional: OPTIONAL }],
  ['POST', '/sandboxes/{sandboxID}/fork', 'write', sandboxes.fork, { body: BODIES.fork, optional: OPTIONAL }],
  ['PUT', '/sandboxes/{sandboxID}/network', 'write', sandboxes.putNetwork, { body: BODIES.network, optional: OPTIONAL }],

  ['GET', '/snapshots', 'read', sandboxes.listSnapshots],
  ['POST', '/v3/templates', 'write', templates.createV3, { body: BODIES.templateV3 }],
  ['POST', '/v2/templates', 'write', templates.createV2, { body: BODIES.templateV2 }],
  ['POST', '/templates', 'write', null, { auth: OTHER }],
  ['POST', '/templates/{templateID}', 'write', null, { auth: OTHER }],
  ['POST', '/v2/templates/{templateID}/builds/{buildID}', 'write', templates.startBuild, { body: BODIES.build }],
  ['POST', '/templates/{templateID}/builds/{buildID}', 'write', null, { auth: OTHER }],
  ['GET', '/v2/templates', 'read', templates.listV2],
  ['GET', '/templates', 'read', templates.listV1],
  ['GET', '/templates/{templateID}', 'read', templates.get],
  ['DELETE', '/templates/{templateID}', 'destructive', templates.remove],
  ['PATCH', '/v2/templates/{templateID}', 'write', templates.updateV2, { body: BODIES.templateUpdate }],
  ['PATCH', '/templates/{templateID}', 'write', templates.updateV1, { body: BODIES.templateUpdate }],
  ['GET', '/templates/{templateID}/files/{hash}', 'write', templates.fileLink],
  ['GET', '/templates/{templateID}/builds/{buildID}/status', 'read', templates.buildStatus],
  ['GET', '/templates/{templateID}/builds/{buildID}/logs', 'read', templates.buildLogs],
  ['GET', '/templates/aliases/{alias}', 'read', templates.alias],
  ['GET', '/templates/{templateID}/tags', 'read', templates.listTags],
  ['POST', '/templates/tags', 'write', templates.assignTags, { body: BODIES.assignTags }],
  ['DELETE', '/templates/tags', 'destructive', templates.removeTags, { body: BODIES.removeTags }],
  ['PUT', '/sim/upload/{templateID}/{hash}', 'write', templates.upload, { auth: OPEN, limit: 512 * MIB }],

  ['GET', '/teams/{teamID}/metrics', 'read', team.teamMetrics],
  ['GET', '/teams/{teamID}/metrics/max', 'read', team.teamMetricsMax],
  ['GET', '/volumes', 'read', team.listVolumes],
  ['POST', '/volumes', 'write', team.createVolume, { body: BODIES.volume }],
  ['GET', '/volumes/{volumeID}', 'read', team.getVolume],
  ['DELETE', '/volumes/{volumeID}', 'destructive', team.deleteVolume],
  ['GET', '/secrets', 'read', team.listSecrets],
  ['POST', '/secrets', 'write', team.createSecret, { body: BODIES.secret }],
  ['GET', '/secrets/{secretID}', 'read', team.getSecret],
  ['POST', '/secrets/{secretID}', 'write', team.updateSecret, { body: BODIES.secretUpdate }],
  ['DELETE', '/secrets/{secretID}', 'destructive', team.deleteSecret],

  ['GET', '/events/sandboxes', 'read', team.teamEvents],
  ['GET', '/events/sandboxes/{sandboxID}', 'read', team.sandboxEvents],
  ['GET', '/events/webhooks', 'read', team.listWebhooks],
  ['POST', '/events/webhooks', 'write', team.createWebhook, { body: BODIES.webhook }],
  ['GET', '/events/webhooks/{webhookID}', 'read', team.getWebhook],
  ['PATCH', '/events/webhooks/{webhookID}', 'write', team.updateWebhook, { body: BODIES.webhookUpdate }],
  ['DELETE', '/events/webhooks/{webhookID}', 'destructive', team.deleteWebhook],
  ['GET', '/events/webhooks/{webhookID}/deliveries', 'read', team.webhookDeliveries],
  ['GET', '/events/webhooks/{webhookID}/stats', 'read', team.webhookStats],

  ['GET', '/teams', 'write', null, { auth: OTHER }], // a "read" that makes keys
  ['GET', '/api-keys', 'read', null, { auth: OTHER }],
  ['POST', '/api-keys', 'write', null, { auth: OTHER }],
  ['PATCH', '/api-keys/{keyID}', 'write', null, { auth: OTHER }],
  ['DELETE', '/api-keys/{keyID}', 'destructive', null, { auth: OTHER }],
  ['POST', '/access-tokens', 'write', null, { auth: OTHER }],
  ['DELETE', '/access-tokens/{tokenID}', 'destructive', null, { auth: OTHER }],
  ['GET', '/nodes', 'read', null, { auth: OTHER }],
  ['GET', '/nodes/{nodeID}', 'read', null, { auth: OTHER }],
  ['POST', '/nodes/{nodeID}', 'write', null, { auth: OTHER }],
  ['POST', '/admin/teams/{teamID}/sandboxes/kill', 'destructive', null, { auth: OTHER }],
  ['GET', '/admin/sandboxes/running-counts', 'read', null, { auth: OTHER }],
  ['POST', '/admin/teams/{teamID}/builds/cancel', 'destructive', null, { auth: OTHER }],
  ['POST', '/admin/teams/{teamID}/api-keys', 'write', null, { auth: OTHER }],
  ['DELETE', '/admin/teams/{teamID}/api-keys/{keyID}', 'destructive', null, { auth: OTHER }],
];

export const BODY_LIMIT = 16 * MIB;

export const ROUTES = TABLE.map(([method, path, effect, handle, { auth = KEY, body = null, optional = false, limit = BODY_LIMIT } = {}]) => ({
  method, path, effect, handle, auth, body, optional, limit,
  label: `${method} ${path}`,
  segments: path.split('/').slice(1).map((s) => (s[0] === '{' ? { param: s.slice(1, -1) } : { literal: s })),
}));

/** What a request that no row knows counts as. */
export function unknownRoute(method) {
  return { ...UNKNOWN, effect: method === 'GET' || method === 'HEAD' ? 'read' : 'write', label: `${method} (unknown)` };
}

const UNKNOWN = { method: null, path: null, handle: null, auth: OPEN, body: null, optional: true, limit: BODY_LIMIT, segments: [] };

const exact = new Map(ROUTES.filter((r) => r.segments.every((s) => s.literal)).map((r) => [r.label, r]));
const byShape = groupByShape(ROUTES.filter((r) => r.segments.some((s) => s.param)));

/** method + number of segments → rows, those with literals earlier in the path first. */
function groupByShape(routes) {
  const groups = new Map();
  for (const route of routes) {
    const key = `${route.method} ${route.segments.length}`;
    groups.set(key, [...(groups.get(key) ?? []), route]);
  }
  for (const group of groups.values()) group.sort((a, b) => (paramMask(a) < paramMask(b) ? -1 : 1));
  return groups;
}

function paramMask(route) {
  return route.segments.map((s) => (s.param ? '1' : '0')).join('');
}

/** Routes on the raw path; each segment is decoded once, afterwards. */
export function findRoute(method, path) {
  const literal = exact.get(`${method} ${path}`);
  if (literal) return { route: literal, params: {} };
  const parts = path.split('/');
  for (const route of byShape.get(`${method} ${parts.length - 1}`) ?? []) {
    const params = matchSegments(route, parts);
    if (params) return { route, params };
  }
  return null;
}

function matchSegments({ segments }, parts) {
  const params = {};
  for (let i = 0; i < segments.length; i++) {
    const { literal, param } = segments[i];
    const part = parts[i + 1];
    if (literal ? literal !== part : part === '') return null;
    if (param) params[param] = part.includes('%') ? decode(part) : part;
  }
  return params;
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
export const isKnownPath = (path) => METHODS.some((method) => findRoute(method, path));
