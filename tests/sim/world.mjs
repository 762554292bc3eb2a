// The state of the pretended E2B: sandboxes and their lifetimes, templates, snapshots, events …
// No HTTP in here; a refusal is thrown as ApiError with the status that the API would give.
import crypto from 'node:crypto';
import { ApiError } from './answer.mjs';

export const TEAM = { id: '8a5b1c0e-3f61-4f5e-9d2b-6f0c5b7e4a11', slug: 'sim-team' };
const MAX_LIFETIME_S = 24 * 3600;
const MAX_TIMER_MS = 2 ** 31 - 1;
const EVENTS_KEPT = 10_000;
const LOGS_KEPT = 200;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const PUBLIC_TEMPLATES = ['base', 'code-interpreter-v1', 'desktop', 'mcp-gateway'];

export function randomId(length) {
  let id = '';
  for (const byte of crypto.randomBytes(length)) id += ALPHABET[byte % ALPHABET.length];
  return id;
}

export const iso = (ms) => new Date(ms).toISOString();

export class World {
  constructor({ anyTemplate = false, templates = [] } = {}) {
    this.options = { anyTemplate, templates };
    this.sandboxes = new Map();
    this.reset();
  }

  reset() {
    for (const sandbox of this.sandboxes.values()) clearTimeout(sandbox.timer);
    this.sandboxes = new Map();
    this.templates = new Map();
    this.uploads = new Map();
    this.volumes = new Map();
    this.secrets = new Map();
    this.webhooks = new Map();
    this.deliveries = [];
    this.events = [];
    this.starts = [];
    this.peakRunning = 0;
    this.running = 0;
    this.order = null;
    for (const name of PUBLIC_TEMPLATES) this.addTemplate({ name, own: false, public: true, ready: true });
    for (const name of this.options.templates) this.addTemplate({ name, ready: true });
  }

  // ---- templates -------------------------------------------------------------------------------

  addTemplate(fields) {
    const {
      templateID = randomId(20), name = null, own = true, public: isPublic = false, ready = false,
      tags = ['default'], cpuCount = 2, memoryMB = 512, snapshotOf = null,
    } = fields;
    const now = Date.now();
    const template = {
      templateID, own, public: isPublic, snapshotOf, cpuCount, memoryMB, diskSizeMB: 1024,
      aliases: name ? [name] : [], builds: new Map(), tags: new Map(),
      createdAt: now, updatedAt: now, lastSpawnedAt: null, spawnCount: 0,
    };
    this.templates.set(templateID, template);
    const build = this.addBuild(template, { tags, cpuCount, memoryMB });
    if (ready) this.finishBuild(template, build, 'ready');
    return template;
  }

  addBuild(template, { tags = ['default'], cpuCount = 2, memoryMB = 512 }) {
    const now = Date.now();
    const build = {
      buildID: crypto.randomUUID(), status: 'waiting', tags, cpuCount, memoryMB, diskSizeMB: 1024,
      createdAt: now, updatedAt: now, finishedAt: null, polls: 0, logEntries: [], reason: null, request: null,
    };
    template.builds.set(build.buildID, build);
    return build;
  }

  finishBuild(template, build, status, reason = null) {
    build.status = status;
    build.reason = reason;
    build.finishedAt = build.updatedAt = template.updatedAt = Date.now();
    if (status === 'ready') for (const tag of build.tags) template.tags.set(tag, { buildID: build.buildID, createdAt: Date.now() });
  }

  /** By id, alias or namespace/alias, with or without :tag. */
  findTemplate(reference) {
    const { name, tag } = splitReference(reference);
    const template = this.templates.get(name) ?? [...this.templates.values()].find((t) => namesOf(t).includes(name));
    return { template, tag, name };
  }

  templateFor(reference) {
    const found = this.findTemplate(reference);
    if (!found.template && this.options.anyTemplate) found.template = this.addTemplate({ name: found.name, ready: true });
    if (!found.template) throw new ApiError(404, `template '${reference}' not found`);
    if (found.tag && !found.template.tags.has(found.tag)) throw new ApiError(404, `tag '${found.tag}' does not exist for template '${found.name}'`);
    if (found.template.tags.size === 0) throw new ApiError(404, `template '${reference}' has no ready build`);
    return found.template;
  }

  ownTemplate(reference) {
    const { template } = this.findTemplate(reference);
    if (!template) throw new ApiError(404, `template '${reference}' not found`);
    if (!template.own) throw new ApiError(403, `You don't have access to template '${reference}'`);
    return template;
  }

  deleteTemplate(template) {
    const inUse = [...this.sandboxes.values()].some((s) => s.state === 'paused' && s.templateID === template.templateID);
    if (inUse) throw new ApiError(400, `cannot delete template '${template.templateID}' because there are paused sandboxes using it`);
    this.templates.delete(template.templateID);
  }

  // ---- sandboxes -------------------------------------------------------------------------------

  /** `fields` is a create request already in E2B's words; lifetime in seconds. */
  createSandbox(template, fields) {
    const now = Date.now();
    const network = fields.network ?? {};
    const sandbox = {
      sandboxID: fields.sandboxID ?? `i${randomId(20)}`,
      templateID: template.templateID,
      alias: template.aliases[0],
      buildID: template.tags.get('default')?.buildID ?? [...template.builds.keys()].pop(),
      executionID: crypto.randomUUID(),
      state: 'running', startedAt: now, endAt: now,
      cpuCount: template.cpuCount, memoryMB: template.memoryMB, diskSizeMB: template.diskSizeMB,
      metadata: fields.metadata ?? {},
      envVars: fields.envVars ?? {},
      secure: fields.secure === true,
      network,
      allowInternetAccess: fields.allow_internet_access ?? null,
      autoPause: fields.autoPause === true,
      autoResume: fields.autoResume?.enabled === true,
      volumeMounts: fields.volumeMounts ?? [],
      logs: [], timer: null, keepsMemory: true,
    };
    if (this.sandboxes.has(sandbox.sandboxID)) this.remove(sandbox.sandboxID);
    this.sandboxes.set(sandbox.sandboxID, sandbox);
    template.spawnCount++;
    template.lastSpawnedAt = now;
    this.setRunning(sandbox, fields.timeout);
    this.record(sandbox, 'created');
    return sandbox;
  }

  /** A sandbox that is simply there: no event, any field as given. */
  seedSandbox(fields) {
    const { templateID: reference = 'base', state = 'running', timeout = 3600, startedAt, endAt, ...rest } = fields;
    const { template } = this.findTemplate(reference);
    const from = template ?? this.addTemplate({ name: reference, ready: true });
    const sandbox = this.createSandbox(from, { ...rest, timeout, secure: rest.secure ?? true });
    this.events.pop();
    for (const key of SEEDABLE) if (rest[key] !== undefined) sandbox[key] = rest[key];
    if (startedAt !== undefined) sandbox.startedAt = new Date(startedAt).getTime();
    if (state === 'paused') this.setPaused(sandbox);
    if (endAt !== undefined) this.seedEnd(sandbox, new Date(endAt).getTime());
    this.order = null;
    return sandbox;
  }

  /** A paused one has no clock running; its end is only a fact. */
  seedEnd(sandbox, endAt) {
    if (sandbox.state === 'paused') sandbox.endAt = endAt;
    else this.lifetime(sandbox, endAt);
  }

  get(reference) {
    const id = shortId(reference);
    const sandbox = this.sandboxes.get(id);
    if (!sandbox) throw new ApiError(404, `sandbox "${id}" doesn't exist or you don't have access to it`);
    return sandbox;
  }

  runningSandbox(reference) {
    const sandbox = this.get(reference);
    if (sandbox.state !== 'running') throw new ApiError(404, `Sandbox "${sandbox.sandboxID}" is not running anymore`);
    return sandbox;
  }

  kill(sandbox, reason = 'request') {
    this.remove(sandbox.sandboxID);
    this.record(sandbox, 'killed', { reason, execution: execution(sandbox) });
  }

  remove(id) {
    const sandbox = this.sandboxes.get(id);
    clearTimeout(sandbox.timer);
    if (sandbox.state === 'running') this.running--;
    this.sandboxes.delete(id);
    this.order = null;
  }

  /** Undoes a kill without a word: what a resume in flight can do upstream. */
  putBack(sandbox) {
    if (this.sandboxes.has(sandbox.sandboxID)) return;
    this.sandboxes.set(sandbox.sandboxID, sandbox);
    if (sandbox.state === 'running') this.setRunning(sandbox, Math.max(15, (sandbox.endAt - Date.now()) / 1000));
    this.order = null;
  }

  pause(sandbox, keepsMemory = true) {
    this.setPaused(sandbox);
    sandbox.keepsMemory = keepsMemory;
    this.record(sandbox, 'paused', { execution: execution(sandbox) });
  }

  resume(sandbox, seconds) {
    sandbox.startedAt = Date.now();
    sandbox.executionID = crypto.randomUUID();
    this.setRunning(sandbox, seconds);
    this.record(sandbox, 'resumed');
  }

  setRunning(sandbox, seconds) {
    sandbox.state = 'running';
    this.running++;
    this.peakRunning = Math.max(this.peakRunning, this.running);
    this.starts.push(Date.now());
    if (this.starts.length > 4096) this.starts.splice(0, 2048);
    this.order = null;
    this.lifetime(sandbox, Date.now() + seconds * 1000);
  }

  setPaused(sandbox) {
    clearTimeout(sandbox.timer);
    if (sandbox.state === 'running') this.running--;
    sandbox.state = 'paused';
    sandbox.endAt = Date.now();
  }

  /** Zero or less ends it at once; only with autoPause is there anything left afterwards. */
  setTimeout(sandbox, seconds) {
    if (seconds > MAX_LIFETIME_S) throw new ApiError(400, `Timeout cannot be greater than ${MAX_LIFETIME_S / 3600} hours`);
    this.record(sandbox, 'updated', { set_timeout: iso(Date.now() + seconds * 1000) });
    this.lifetime(sandbox, Date.now() + seconds * 1000);
  }

  extend(sandbox, seconds) {
    const endAt = Date.now() + seconds * 1000;
    if (endAt > sandbox.endAt) this.lifetime(sandbox, endAt);
  }

  lifetime(sandbox, endAt) {
    clearTimeout(sandbox.timer);
    sandbox.endAt = endAt;
    const left = endAt - Date.now();
    if (left <= 0) return this.expire(sandbox);
    sandbox.timer = setTimeout(() => this.expire(sandbox), Math.min(left, MAX_TIMER_MS));
    sandbox.timer.unref();
  }

  expire(sandbox) {
    if (sandbox.autoPause) this.pause(sandbox);
    else this.kill(sandbox, 'timeout');
  }

  fork(source, seconds) {
    const template = this.templates.get(source.templateID) ?? this.templateFor('base');
    const copy = this.createSandbox(template, {
      timeout: seconds, secure: source.secure, metadata: { ...source.metadata }, envVars: source.envVars,
      network: structuredClone(source.network), allow_internet_access: source.allowInternetAccess ?? undefined,
      autoPause: source.autoPause, autoResume: { enabled: source.autoResume }, volumeMounts: source.volumeMounts,
    });
    copy.forkOf = source.sandboxID;
    return copy;
  }

  snapshot(sandbox, reference) {
    const { name, tag } = reference ? splitReference(reference) : {};
    const { template: taken } = reference ? this.findTemplate(reference) : {};
    if (taken && !taken.snapshotOf) throw new ApiError(400, `name '${name}' belongs to a template`);
    const tags = [tag ?? 'default'];
    const { sandboxID: snapshotOf, cpuCount, memoryMB } = sandbox;
    const template = taken ?? this.addTemplate({ name: name ?? null, ready: true, tags, snapshotOf, cpuCount, memoryMB });
    if (taken) this.finishBuild(taken, this.addBuild(taken, { tags }), 'ready');
    this.record(sandbox, 'checkpointed');
    return { template, tag: tags[0] };
  }

  /** All sandboxes, oldest first; kept until something changes. */
  inOrder() {
    this.order ??= [...this.sandboxes.values()].sort((a, b) => a.startedAt - b.startedAt || (a.sandboxID < b.sandboxID ? -1 : 1));
    return this.order;
  }

  // ---- events ----------------------------------------------------------------------------------

  record(sandbox, what, eventData = null) {
    const event = {
      id: crypto.randomUUID(), version: 'v2', type: `sandbox.lifecycle.${what}`,
      eventCategory: 'lifecycle', eventLabel: EVENT_LABELS[what],
      eventData: { ...eventData, sandbox_metadata: sandbox.metadata },
      timestamp: iso(Date.now()),
      sandboxId: sandbox.sandboxID, sandboxExecutionId: sandbox.executionID, sandboxTemplateId: sandbox.templateID,
      sandboxBuildId: sandbox.buildID, sandboxTeamId: TEAM.id,
    };
    this.events.push(event);
    if (this.events.length > EVENTS_KEPT * 1.25) this.events.splice(0, this.events.length - EVENTS_KEPT);
    this.log(sandbox, `sandbox ${what}`);
    for (const hook of this.webhooks.values()) if (hook.enabled && hook.events.includes(event.type)) this.deliver(hook, event);
  }

  log(sandbox, message, level = 'info') {
    sandbox.logs.push({ at: Date.now(), level, message, fields: { logger: 'simulator', service: 'envd' } });
    if (sandbox.logs.length > LOGS_KEPT) sandbox.logs.shift();
  }

  /** Deliveries are only noted: a simulator that calls any URL it is told would be a hole. */
  deliver(hook, event) {
    const body = JSON.stringify(event);
    const signature = crypto.createHash('sha256').update(hook.signatureSecret + body).digest('base64url');
    const deliveryId = crypto.randomUUID();
    this.deliveries.push({
      webhookId: hook.id, deliveryId, eventId: event.id, eventType: event.type, sandboxId: event.sandboxId,
      status: 'success', createdAt: iso(Date.now()),
      attempts: [{
        attempt: 1, timestamp: iso(Date.now()), requestUrl: hook.url, requestBody: body, responseStatus: 200, responseBody: '',
        requestHeaders: {
          'content-type': 'application/json', 'e2b-webhook-id': hook.id, 'e2b-delivery-id': deliveryId,
          'e2b-signature-version': 'v1', 'e2b-signature': signature,
        },
      }],
    });
    if (this.deliveries.length > 2000) this.deliveries.splice(0, 1000);
  }
}

const EVENT_LABELS = { created: 'create', killed: 'kill', updated: 'update', paused: 'pause', resumed: 'resume', checkpointed: 'checkpoint' };
const SEEDABLE = ['cpuCount', 'memoryMB', 'diskSizeMB', 'allowInternetAccess', 'autoResume', 'alias', 'buildID'];

function execution(sandbox) {
  return {
    started_at: iso(sandbox.startedAt), vcpu_count: sandbox.cpuCount, memory_mb: sandbox.memoryMB,
    execution_time: Date.now() - sandbox.startedAt,
  };
}

/** `id-anything` is `id`. */
export function shortId(reference) {
  const parts = reference.split('-');
  if (parts.length > 2 || !/^[a-z0-9]+$/.test(parts[0])) throw new ApiError(400, 'Invalid sandbox ID');
  return parts[0];
}

export function splitReference(reference) {
  const [name, tag] = reference.trim().toLowerCase().split(':');
  return { name, tag };
}

/** Every name that denotes the template, the namespaced ones too. */
export function namesOf(template) {
  return template.aliases.flatMap((alias) => (alias.includes('/') ? [alias] : [alias, `${namespaceOf(template)}/${alias}`]));
}

const namespaceOf = (template) => (template.own ? TEAM.slug : 'e2b');
export const fullNames = (template) => template.aliases.map((alias) => (template.own && !alias.includes('/') ? `${TEAM.slug}/${alias}` : alias));
