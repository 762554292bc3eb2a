// How a sandbox looks in an answer, and the credentials that come with it.
import crypto from 'node:crypto';
import { iso } from './world.mjs';

export const ENVD_VERSION = '0.4.2';
const CLIENT_ID = '6532622b';
const TOKEN_SECRET = 'simulator';

const hmac = (value) => crypto.createHmac('sha256', TOKEN_SECRET).update(value).digest('hex');

export function created(sandbox) {
  const open = sandbox.network.allowPublicTraffic !== false;
  return {
    templateID: sandbox.templateID,
    sandboxID: sandbox.sandboxID,
    clientID: CLIENT_ID,
    envdVersion: ENVD_VERSION,
    alias: sandbox.alias,
    ...accessToken(sandbox),
    trafficAccessToken: open ? null : hmac(`traffic ${sandbox.sandboxID}`),
    domain: null,
  };
}

/** The same for as long as the sandbox lives, as E2B's; worked out once. */
function accessToken(sandbox) {
  if (!sandbox.secure) return {};
  sandbox.token ??= hmac(sandbox.sandboxID);
  return { envdAccessToken: sandbox.token };
}

export function listed(sandbox) {
  return {
    templateID: sandbox.templateID,
    alias: sandbox.alias,
    sandboxID: sandbox.sandboxID,
    clientID: CLIENT_ID,
    startedAt: iso(sandbox.startedAt),
    endAt: iso(sandbox.endAt),
    cpuCount: sandbox.cpuCount,
    memoryMB: sandbox.memoryMB,
    diskSizeMB: sandbox.diskSizeMB,
    metadata: sandbox.metadata,
    state: sandbox.state,
    envdVersion: ENVD_VERSION,
    volumeMounts: sandbox.volumeMounts,
  };
}

export function detail(sandbox) {
  return {
    ...listed(sandbox),
    ...accessToken(sandbox),
    allowInternetAccess: sandbox.allowInternetAccess,
    domain: null,
    network: shownNetwork(sandbox.network),
    lifecycle: { autoResume: sandbox.autoResume, onTimeout: sandbox.autoPause ? 'pause' : 'kill' },
  };
}

/** The proxy's password stays inside; the injected headers do not, as with E2B. */
function shownNetwork(network) {
  if (!network.egressProxy) return network;
  const { password, ...proxy } = network.egressProxy;
  return { ...network, egressProxy: proxy };
}
