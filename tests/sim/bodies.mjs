// What each request body may hold: name → kind. Unknown names are let through, as upstream does.
import { any, bool, int, listOf, mapOf, string, struct } from './json.mjs';

const strings = listOf(string);
const texts = mapOf(string);

const rules = mapOf(listOf(struct({ transform: struct({ headers: texts }) })));
const egressProxy = struct({ address: string, username: string, password: string }, ['address']);
const network = struct({ allowPublicTraffic: bool, allowOut: strings, denyOut: strings, egressProxy, maskRequestHost: string, rules, httpsPorts: listOf(int) });

const newSandbox = {
  templateID: string, timeout: int, autoPause: bool, autoPauseMemory: bool, autoResume: struct({ enabled: bool }, ['enabled']),
  allow_internet_access: bool, network, metadata: texts, envVars: texts, mcp: any,
  iam: struct({ tokens: mapOf(struct({ audience: string, tokenType: string }, ['audience', 'tokenType'])) }),
  volumeMounts: listOf(struct({ name: string, path: string }, ['name', 'path'])),
};

const step = struct({ type: string, args: strings, filesHash: string, force: bool }, ['type']);
const registry = struct({
  type: string, username: string, password: string, awsAccessKeyId: string, awsSecretAccessKey: string, awsRegion: string, serviceAccountJson: string,
}, ['type']);
const webhook = { name: string, url: string, events: strings, enabled: bool, signatureSecret: string };
const tagged = (name) => struct({ [name]: string, tags: strings }, [name, 'tags']);

export const BODIES = {
  createV2: struct(newSandbox, ['templateID']),
  createV1: struct({ ...newSandbox, secure: bool }, ['templateID']),
  connectV1: struct({ timeout: int, memory: bool }, ['timeout']),
  connectV2: struct({ timeout: int, memory: bool }),
  resume: struct({ timeout: int, autoPause: bool, memory: bool }),
  pause: struct({ memory: bool }),
  timeout: struct({ timeout: int }, ['timeout']),
  refresh: struct({ duration: int }),
  snapshot: struct({ name: string }),
  fork: struct({ timeout: int, count: int }),
  network: struct({ allowOut: strings, denyOut: strings, egressProxy, rules, allow_internet_access: bool }),
  templateV3: struct({ name: string, tags: strings, alias: string, teamID: string, cpuCount: int, memoryMB: int, minFreeDiskMb: int }),
  templateV2: struct({ alias: string, teamID: string, cpuCount: int, memoryMB: int }, ['alias']),
  build: struct({ fromImage: string, fromTemplate: string, fromImageRegistry: registry, force: bool, steps: listOf(step), startCmd: string, readyCmd: string }),
  templateUpdate: struct({ public: bool }),
  assignTags: tagged('target'),
  removeTags: tagged('name'),
  volume: struct({ name: string }, ['name']),
  secret: struct({ name: string, value: string, metadata: texts }, ['name', 'value']),
  secretUpdate: struct({ value: string, metadata: texts }, ['value']),
  webhook: struct(webhook, ['name', 'url', 'events', 'signatureSecret']),
  webhookUpdate: struct(webhook),
};
