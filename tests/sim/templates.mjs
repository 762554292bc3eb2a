// Handlers of the template, build and tag routes.
import { ApiError, empty, json } from './answer.mjs';
import { TEAM, fullNames, iso, splitReference } from './world.mjs';
import { ENVD_VERSION } from './views.mjs';
import { intParam, page } from './query.mjs';
import { selectLogs } from './sandboxes.mjs';

const NAME = /^(?:[a-z0-9-_]+\/)?[a-z0-9-_]+$/;
const FAILING_STEP = 'sim-fail'; // a RUN step with this word makes the build end in an error

// ---- create ----------------------------------------------------------------------------------------

function register(world, { reference, tags, cpuCount = 2, memoryMB = 1024 }) {
  const { name, tag } = splitReference(reference);
  if (!NAME.test(name) || name.length > 128) throw new ApiError(400, `Invalid alias: ${name}`);
  const alias = name.startsWith(`${TEAM.slug}/`) ? name.slice(TEAM.slug.length + 1) : name;
  const allTags = [...new Set([...(tag ? [tag] : []), ...(tags ?? [])])];
  const { template: taken } = world.findTemplate(alias);
  if (taken && !taken.own) throw new ApiError(403, `Alias '${alias}' is taken by another team`);
  const wanted = { tags: allTags.length ? allTags : ['default'], cpuCount, memoryMB };
  const template = taken ?? world.addTemplate({ name: alias, ...wanted });
  const build = taken ? world.addBuild(taken, wanted) : [...template.builds.values()][0];
  return { template, build };
}

export function createV3({ world, input }) {
  const reference = input.name ?? input.alias;
  if (!reference) throw new ApiError(400, 'Name is required');
  const { template, build } = register(world, { ...input, reference });
  return json(202, {
    templateID: template.templateID, buildID: build.buildID, public: template.public,
    names: fullNames(template), tags: build.tags, aliases: template.aliases,
  });
}

export function createV2({ world, input }) {
  const { template, build } = register(world, { ...input, reference: input.alias });
  return json(202, legacy(template, build));
}

// ---- look ------------------------------------------------------------------------------------------

const lastBuild = (template) => [...template.builds.values()].pop();

function legacy(template, build = lastBuild(template)) {
  return {
    templateID: template.templateID, buildID: build.buildID, cpuCount: build.cpuCount, memoryMB: build.memoryMB,
    diskSizeMB: build.diskSizeMB, public: template.public, aliases: template.aliases,
    createdAt: iso(template.createdAt), updatedAt: iso(template.updatedAt), createdBy: null,
    lastSpawnedAt: template.lastSpawnedAt && iso(template.lastSpawnedAt), spawnCount: template.spawnCount,
    buildCount: template.builds.size, envdVersion: ENVD_VERSION,
  };
}

const shown = (template) => ({ ...legacy(template), names: fullNames(template), buildStatus: lastBuild(template).status });

function ownOnes(world) {
  return [...world.templates.values()].filter((t) => t.own && !t.snapshotOf)
    .sort((a, b) => b.createdAt - a.createdAt || (a.templateID < b.templateID ? 1 : -1));
}

function checkTeam(query) {
  const team = query.get('teamID');
  if (team && team !== TEAM.id) throw new ApiError(400, `Team ID '${team}' does not match the API key's team`);
}

export function listV1({ world, query }) {
  checkTeam(query);
  return json(200, ownOnes(world).map(shown));
}

export function listV2({ world, query }) {
  checkTeam(query);
  const { found, headers } = page(ownOnes(world), query, (t) => [t.createdAt, t.templateID]);
  return json(200, found.map(shown), headers);
}

function shownBuild(build) {
  return {
    buildID: build.buildID, status: build.status, createdAt: iso(build.createdAt), updatedAt: iso(build.updatedAt),
    ...(build.finishedAt && { finishedAt: iso(build.finishedAt) }),
    cpuCount: build.cpuCount, memoryMB: build.memoryMB, diskSizeMB: build.diskSizeMB, envdVersion: ENVD_VERSION,
  };
}

export function get({ world, params, query }) {
  const template = world.ownTemplate(params.templateID);
  const builds = [...template.builds.values()].reverse();
  const { found, headers } = page(builds, query, (b) => [b.createdAt, b.buildID]);
  return json(200, {
    templateID: template.templateID, public: template.public, aliases: template.aliases, names: fullNames(template),
    createdAt: iso(template.createdAt), updatedAt: iso(template.updatedAt),
    lastSpawnedAt: template.lastSpawnedAt && iso(template.lastSpawnedAt), spawnCount: template.spawnCount,
    builds: found.map(shownBuild),
  }, headers);
}

/** The status is the answer: 200 ours, 403 somebody else's, 404 free. */
export function alias({ world, params }) {
  const { template } = world.findTemplate(params.alias);
  if (!template) throw new ApiError(404, `Alias '${params.alias}' not found`);
  if (!template.own) throw new ApiError(403, `You don't have access to alias '${params.alias}'`);
  return json(200, { templateID: template.templateID, public: template.public });
}

// ---- change ----------------------------------------------------------------------------------------

function update({ world, params, input }) {
  const template = world.ownTemplate(params.templateID);
  if (input.public !== undefined) template.public = input.public;
  template.updatedAt = Date.now();
  return template;
}

export const updateV2 = (ctx) => json(200, { names: fullNames(update(ctx)) });
export const updateV1 = (ctx) => (update(ctx), json(200, null));

export function remove({ world, params }) {
  world.deleteTemplate(world.ownTemplate(params.templateID));
  return empty(204);
}

// ---- builds ----------------------------------------------------------------------------------------

function buildOf(world, params) {
  const template = world.ownTemplate(params.templateID);
  const build = template.builds.get(params.buildID);
  if (!build) throw new ApiError(400, `Build '${params.buildID}' not found for template '${params.templateID}'`);
  return { template, build };
}

/** Always a signed link, even when the layer is there already. */
export function fileLink({ world, params, baseUrl }) {
  const template = world.ownTemplate(params.templateID);
  const key = `${template.templateID}/${params.hash}`;
  const signature = Buffer.from(`sim-signature ${key}`).toString('base64url');
  return json(201, { present: world.uploads.has(key), url: `${baseUrl}/sim/upload/${key}?signature=${signature}` });
}

/** The object store's side of that link; no API key here. */
export function upload({ world, params, x }) {
  world.uploads.set(`${params.templateID}/${params.hash}`, x.body.length);
  return empty(200);
}

export function startBuild({ world, params, input }) {
  const { template, build } = buildOf(world, params);
  if (build.status !== 'waiting') throw new ApiError(400, `build is not in waiting state`);
  for (const other of template.builds.values()) {
    if (other.status === 'building') world.finishBuild(template, other, 'error', { message: 'cancelled by a newer build' });
  }
  build.status = 'building';
  build.request = input;
  build.updatedAt = Date.now();
  (input.steps ?? []).forEach((step, i) => buildLog(build, `${step.type} ${(step.args ?? []).join(' ')}`.trim(), String(i + 1)));
  return empty(202);
}

function buildLog(build, message, step) {
  build.logEntries.push({ at: Date.now(), level: 'info', message, step });
}

const buildLogEntry = (e) => ({ timestamp: iso(e.at), message: e.message, level: e.level, ...(e.step && { step: e.step }) });

/** The first look sees it building, the second one the end: no clock, so tests need not sleep. */
function advance(world, template, build) {
  if (build.status !== 'building' || ++build.polls < 2) return;
  const failing = (build.request.steps ?? []).find((step) => (step.args ?? []).join(' ').includes(FAILING_STEP));
  if (failing) return world.finishBuild(template, build, 'error', { message: `step failed: ${failing.type}`, step: failing.type });
  buildLog(build, 'Build finished');
  world.finishBuild(template, build, 'ready');
}

export function buildStatus({ world, params, query }) {
  const { template, build } = buildOf(world, params);
  advance(world, template, build);
  const offset = intParam(query, 'logsOffset', { min: 0, otherwise: 0 });
  const entries = build.logEntries.slice(offset, offset + intParam(query, 'limit', { min: 0, max: 100, otherwise: 100 }));
  return json(200, {
    templateID: template.templateID, buildID: build.buildID, status: build.status,
    logs: entries.map((e) => e.message), logEntries: entries.map(buildLogEntry),
    ...(build.reason && { reason: { logEntries: [], ...build.reason } }),
  });
}

export function buildLogs({ world, params, query }) {
  const { build } = buildOf(world, params);
  return json(200, { logs: selectLogs(build.logEntries, query, { max: 100 }).map(buildLogEntry) });
}

// ---- tags ------------------------------------------------------------------------------------------

export function listTags({ world, params }) {
  const template = world.ownTemplate(params.templateID);
  return json(200, [...template.tags].map(([tag, { buildID, createdAt }]) => ({ tag, buildID, createdAt: iso(createdAt) })));
}

export function assignTags({ world, input }) {
  const template = world.ownTemplate(input.target);
  const { tag = 'default' } = splitReference(input.target);
  const source = template.tags.get(tag);
  if (!source) throw new ApiError(404, `tag '${tag}' not found for template '${input.target}'`);
  for (const name of input.tags) template.tags.set(name.toLowerCase(), { buildID: source.buildID, createdAt: Date.now() });
  return json(201, { tags: input.tags, buildID: source.buildID });
}

export function removeTags({ world, input }) {
  const template = world.ownTemplate(input.name);
  const absent = input.tags.find((tag) => !template.tags.has(tag));
  if (absent) throw new ApiError(404, `tag '${absent}' not found for template '${input.name}'`);
  for (const tag of input.tags) template.tags.delete(tag);
  return empty(204);
}
