// Every group of routes, the control port and the command line.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { ROUTES } from './routes.mjs';
import { TEAM } from './world.mjs';
import { KEY, request, simulator } from './testkit.mjs';

const created = async (api, body = {}) => (await api('POST', '/v2/sandboxes', { templateID: 'base', ...body })).json.sandboxID;

test('health is open, everything else wants the key, in E2B\'s words', async (t) => {
  const { api, sim } = await simulator(t);
  const bare = (method, path, headers) => request(sim.url, method, path, undefined, { headers });
  assert.equal((await bare('GET', '/health')).text, 'Health check successful');
  assert.deepEqual((await bare('GET', '/v2/sandboxes')).json, { code: 401, message: 'authorization header is missing' });
  assert.equal((await bare('GET', '/v2/sandboxes', { 'X-API-Key': 'sk_1' })).json.message, 'authorization header is malformed');
  assert.match((await bare('GET', '/v2/sandboxes', { 'X-API-Key': 'e2b_00' })).json.message, /^Invalid API key, please visit https:\/\/e2b.dev/);
  assert.equal((await api('GET', '/v2/sandboxes')).status, 200);
  assert.equal((await api('GET', '/v2/sandboxes', undefined, { key: KEY.toUpperCase().replace('E2B_', 'e2b_') })).status, 200);
  assert.equal((await api('GET', '/teams')).status, 401);
});

test('unknown paths, wrong methods and trailing slashes', async (t) => {
  const { api } = await simulator(t);
  const nothing = { code: 404, message: 'validation error: no matching operation was found' };
  assert.deepEqual((await api('GET', '/nope')).json, nothing);
  assert.deepEqual((await api('GET', '//sandboxes')).json, nothing);
  assert.equal((await api('PUT', '/sandboxes')).json.message, 'validation error: method not allowed');
  assert.equal((await api('HEAD', '/health')).status, 404);
  assert.deepEqual([(await api('GET', '/sandboxes/')).status, (await api('POST', '/sandboxes/?a=b')).headers.location], [301, '/sandboxes?a=b']);
  assert.equal((await api('OPTIONS', '/sandboxes', undefined, { headers: { Origin: 'http://x' } })).status, 204);
  assert.equal((await api('OPTIONS', '/sandboxes')).status, 404);
  assert.match((await api('GET', '/envs/x')).json.message, /deprecated/);
});

test('create, look, list, kill', async (t) => {
  const { api } = await simulator(t);
  const made = await api('POST', '/v2/sandboxes', { templateID: 'base', metadata: { user: 'a b&c' } });
  assert.equal(made.status, 201);
  assert.match(made.json.sandboxID, /^i[a-z0-9]{20}$/);
  assert.equal(made.json.envdVersion, '0.4.2');
  assert.match(made.json.envdAccessToken, /^[0-9a-f]{64}$/);
  const id = made.json.sandboxID;
  const info = (await api('GET', `/sandboxes/${id}-client`)).json;
  assert.deepEqual([info.sandboxID, info.state, info.envdAccessToken], [id, 'running', made.json.envdAccessToken]);
  assert.equal(Math.round((Date.parse(info.endAt) - Date.parse(info.startedAt)) / 1000), 300);
  assert.equal((await api('GET', `/sandboxes/${id}-a-b`)).status, 400);
  const third = encodeURIComponent(encodeURIComponent(`user=${encodeURIComponent('a b&c')}`));
  assert.equal((await api('GET', `/v2/sandboxes?metadata=${third}`)).json.length, 1);
  assert.equal((await api('GET', '/sandboxes?metadata=user%3Dother')).json.length, 0);
  const gone = await api('DELETE', `/sandboxes/${id}`);
  assert.deepEqual([gone.status, gone.text, gone.headers['content-length']], [204, '', undefined]);
  assert.equal((await api('DELETE', `/sandboxes/${id}`)).status, 404);
  assert.equal((await api('GET', `/sandboxes/${id}`)).json.code, 404);
});

test('version 1 of create: 15 seconds, and no token unless secure', async (t) => {
  const { api } = await simulator(t);
  const plain = (await api('POST', '/sandboxes', { templateID: 'base' })).json;
  assert.equal(plain.envdAccessToken, undefined);
  const info = (await api('GET', `/sandboxes/${plain.sandboxID}`)).json;
  assert.equal(Math.round((Date.parse(info.endAt) - Date.parse(info.startedAt)) / 1000), 15);
  assert.ok((await api('POST', '/sandboxes', { templateID: 'base', secure: true })).json.envdAccessToken);
});

test('bodies are read as Go reads them', async (t) => {
  const { api } = await simulator(t);
  const stateAfter = async (body) => {
    const id = await created(api);
    const { status } = await api('POST', `/sandboxes/${id}/timeout`, body);
    return [status, (await api('GET', `/sandboxes/${id}`)).status];
  };
  assert.deepEqual(await stateAfter('{"timeout":60}'), [204, 200]);
  assert.deepEqual(await stateAfter('{"timeout":60,"TIMEOUT":0}'), [204, 404]);
  assert.deepEqual(await stateAfter('{"TIMEOUT":0,"timeout":60}'), [204, 200]);
  assert.deepEqual(await stateAfter('{"timeout":0,"timeout":60}'), [204, 200]);
  assert.deepEqual(await stateAfter('{"timeout":0,"timeout":null}'), [204, 404]);
  assert.deepEqual(await stateAfter('{"timeout":60} trailing'), [204, 200]);
  assert.deepEqual(await stateAfter('{"Timeout":60}'), [400, 200]);
  assert.deepEqual(await stateAfter('{"timeout":6e1}'), [400, 200]);
  assert.deepEqual(await stateAfter('{"timeout":"60"}'), [400, 200]);
  assert.deepEqual(await stateAfter('{"timeout":'), [400, 200]);
  assert.equal((await api('POST', '/v2/sandboxes', '{"templateID":"base","\u212aey":1,"metadata":{"__proto__":"x"}}')).status, 201);
  assert.equal((await api('POST', '/v2/sandboxes', '{"templateID":"none"}')).status, 404);
  assert.equal((await api('POST', '/v2/sandboxes', '{"templateID":"base"}', { headers: { 'Content-Type': 'text/plain' } })).status, 400);
});

test('lists: pages, order, filters', async (t) => {
  const { api, control } = await simulator(t);
  const at = (i) => new Date(Date.now() - i * 60_000).toISOString();
  await control('POST', '/world/seed', [0, 1, 2, 3, 4].map((i) => ({ startedAt: at(i), metadata: { i: String(i) }, state: i === 4 ? 'paused' : 'running' })));
  const order = async (query) => {
    const seen = [];
    for (let token; ;) {
      const page = await api('GET', `/v2/sandboxes?limit=2${query}${token ? `&nextToken=${token}` : ''}`);
      seen.push(...page.json.map((s) => s.metadata.i));
      token = page.headers['x-next-token'];
      if (!token) return seen.join('');
    }
  };
  assert.equal(await order(''), '01234');
  assert.equal(await order('&order=asc'), '43210');
  assert.equal(await order('&state=paused'), '4');
  assert.equal(await order(`&startedAfter=${encodeURIComponent(at(2.5))}`), '012');
  assert.equal(await order('&template=base'), '01234');
  assert.equal(await order('&template=other'), '');
  assert.equal((await api('GET', '/v2/sandboxes')).headers['x-total-running'], '4');
  assert.equal((await api('GET', '/sandboxes')).json.length, 4);
  for (const bad of ['limit=0', 'limit=101', 'limit=x', 'state=dead', 'order=up', 'startedAfter=now', 'nextToken=xx', 'metadata=a']) {
    assert.equal((await api('GET', `/v2/sandboxes?${bad}`)).status, 400, bad);
  }
});

test('pause, connect, resume', async (t) => {
  const { api } = await simulator(t);
  const id = await created(api);
  const call = async (action, body, version = '') => (await api('POST', `${version}/sandboxes/${id}/${action}`, body)).status;
  assert.equal(await call('resume', {}), 409);
  assert.equal(await call('connect', {}, '/v2'), 200);
  assert.equal(await call('connect', {}), 400);
  assert.equal(await call('connect', { timeout: 5 }), 200);
  assert.equal(await call('pause'), 204);
  assert.equal(await call('pause', {}), 409);
  assert.equal((await api('GET', `/sandboxes/${id}`)).json.state, 'paused');
  assert.equal(await call('timeout', { timeout: 9 }), 404);
  assert.equal(await call('connect', undefined, '/v2'), 201);
  assert.equal(await call('pause', { memory: false }), 204);
  assert.equal(await call('resume', { timeout: 30 }), 201);
  assert.equal((await api('POST', '/sandboxes/inothing/pause')).status, 404);
});

test('lifetimes: expiry, autoPause, zero and less, refreshes that only extend', async (t) => {
  const { api, control } = await simulator(t);
  const left = async (id) => Math.round((Date.parse((await api('GET', `/sandboxes/${id}`)).json.endAt) - Date.now()) / 1000);
  const short = await created(api, { timeout: 1 });
  const paused = await created(api, { timeout: 1, autoPause: true });
  const id = await created(api, { timeout: 100 });
  assert.equal((await api('POST', `/sandboxes/${id}/refreshes`, { duration: 10 })).status, 204);
  assert.equal(await left(id), 100);
  await api('POST', `/sandboxes/${id}/refreshes`, { duration: 200 });
  assert.equal(await left(id), 200);
  await api('POST', `/sandboxes/${id}/timeout`, { timeout: 50 });
  assert.equal(await left(id), 50);
  await api('POST', `/v2/sandboxes/${id}/connect`, { timeout: 20 });
  assert.equal(await left(id), 50);
  assert.equal((await api('POST', `/sandboxes/${id}/timeout`, { timeout: 90_000 })).status, 400);
  await api('POST', `/sandboxes/${id}/timeout`, { timeout: -1 });
  assert.equal((await api('GET', `/sandboxes/${id}`)).status, 404);
  const expired = await created(api);
  await control('POST', '/world/expire', { sandboxID: expired });
  assert.equal((await api('GET', `/sandboxes/${expired}`)).status, 404);
  await new Promise((resolve) => setTimeout(resolve, 1050)); // the one real clock in these tests
  assert.equal((await api('GET', `/sandboxes/${short}`)).status, 404);
  assert.equal((await api('GET', `/sandboxes/${paused}`)).json.state, 'paused');
});

test('fork', async (t) => {
  const { api } = await simulator(t);
  const id = await created(api, { metadata: { a: 'b' } });
  const forks = await api('POST', `/sandboxes/${id}/fork`, { count: 3 });
  assert.deepEqual([forks.status, forks.json.length], [201, 3]);
  assert.equal((await api('GET', `/sandboxes/${forks.json[2].sandbox.sandboxID}`)).json.metadata.a, 'b');
  assert.equal((await api('POST', `/sandboxes/${id}/fork`)).json.length, 1);
  assert.equal((await api('POST', `/sandboxes/${id}/fork`, { count: 101 })).status, 400);
  await api('POST', `/sandboxes/${id}/pause`);
  assert.equal((await api('POST', `/sandboxes/${id}/fork`)).status, 409);
});

test('network: a full replacement; the password stays inside', async (t) => {
  const { api } = await simulator(t);
  const network = { allowPublicTraffic: false, denyOut: ['0.0.0.0/0'], egressProxy: { address: 'p:1', password: 'x' }, rules: { 'a.test': [{ transform: { headers: { Authorization: 'Bearer 1' } } }] } };
  const made = (await api('POST', '/v2/sandboxes', { templateID: 'base', network, allow_internet_access: false })).json;
  assert.match(made.trafficAccessToken, /^[0-9a-f]{64}$/);
  const seen = async () => (await api('GET', `/sandboxes/${made.sandboxID}`)).json;
  const before = await seen();
  assert.deepEqual([before.network.egressProxy, before.allowInternetAccess], [{ address: 'p:1' }, false]);
  assert.equal(before.network.rules['a.test'][0].transform.headers.Authorization, 'Bearer 1');
  assert.equal((await api('PUT', `/sandboxes/${made.sandboxID}/network`, {})).status, 204);
  const after = await seen();
  assert.deepEqual([after.network, after.allowInternetAccess], [{ allowPublicTraffic: false }, null]);
});

test('snapshots', async (t) => {
  const { api } = await simulator(t);
  const id = await created(api);
  const named = (await api('POST', `/sandboxes/${id}/snapshots`, { name: 'snap' })).json;
  const bare = (await api('POST', `/sandboxes/${id}/snapshots`)).json;
  assert.deepEqual(named, { snapshotID: `${TEAM.slug}/snap:default`, names: [`${TEAM.slug}/snap:default`] });
  assert.match(bare.snapshotID, /^[a-z0-9]{20}:default$/);
  assert.equal((await api('GET', `/snapshots?sandboxID=${id}`)).json.length, 2);
  assert.equal((await api('GET', '/snapshots?name=snap')).json[0].snapshotID, named.snapshotID);
  assert.ok((await api('GET', '/snapshots?limit=1')).headers['x-next-token']);
  assert.equal((await api('GET', '/snapshots?name=none')).json.length, 0);
  assert.equal((await api('POST', '/v2/sandboxes', { templateID: named.snapshotID })).status, 201);
  const remove = async () => (await api('DELETE', `/templates/${encodeURIComponent(named.snapshotID)}`)).status;
  assert.deepEqual([await remove(), await remove()], [204, 404]);
});

test('templates, builds, uploads, tags', async (t) => {
  const { api, sim } = await simulator(t);
  const alias = async (name) => (await api('GET', `/templates/aliases/${name}`)).status;
  assert.deepEqual([await alias('app'), await alias('base')], [404, 403]);
  const made = await api('POST', '/v3/templates', { name: 'App:v1', cpuCount: 4, memoryMB: 2048 });
  assert.equal(made.status, 202);
  assert.deepEqual([made.json.names, made.json.tags, made.json.aliases, made.json.public], [[`${TEAM.slug}/app`], ['v1'], ['app'], false]);
  const { templateID, buildID } = made.json;
  assert.equal(await alias('app'), 200);

  const link = (await api('GET', `/templates/${templateID}/files/h1`)).json;
  assert.equal(link.present, false);
  const put = await request(sim.url, 'PUT', link.url.slice(sim.url.length), 'tar');
  assert.deepEqual([put.status, (await api('GET', `/templates/${templateID}/files/h1`)).json.present], [200, true]);
  assert.equal((await api('GET', `/templates/${templateID}/files/h1`)).status, 201);

  const started = await api('POST', `/v2/templates/${templateID}/builds/${buildID}`, { fromImage: 'debian:12', steps: [{ type: 'RUN', args: ['true'] }] });
  assert.deepEqual([started.status, started.text, started.headers['content-length'], started.headers['content-type']], [202, '', '0', undefined]);
  const status = async (b = buildID) => (await api('GET', `/templates/${templateID}/builds/${b}/status?logsOffset=0`)).json;
  assert.equal((await status()).status, 'building');
  const ready = await status();
  assert.deepEqual([ready.status, ready.logs], ['ready', ['RUN true', 'Build finished']]);
  assert.equal((await api('GET', `/templates/${templateID}/builds/${buildID}/logs`)).json.logs.length, 2);
  assert.equal((await api('GET', `/templates/${templateID}/builds/nope/status`)).status, 400);
  assert.equal((await api('POST', '/v2/sandboxes', { templateID: 'app:v1' })).status, 201);
  assert.equal((await api('POST', '/v2/sandboxes', { templateID: 'app:v9' })).status, 404);

  const again = (await api('POST', '/v3/templates', { name: 'app', tags: ['v2'] })).json;
  assert.equal(again.templateID, templateID);
  await api('POST', `/v2/templates/${templateID}/builds/${again.buildID}`, { steps: [{ type: 'RUN', args: ['sim-fail'] }] });
  await status(again.buildID);
  assert.equal((await status(again.buildID)).reason.message, 'step failed: RUN');

  assert.deepEqual((await api('POST', '/templates/tags', { target: 'app:v1', tags: ['live'] })).json, { tags: ['live'], buildID });
  assert.deepEqual((await api('GET', `/templates/${templateID}/tags`)).json.map((x) => x.tag), ['v1', 'live']);
  assert.equal((await api('DELETE', '/templates/tags', { name: 'app', tags: ['live'] })).status, 204);
  assert.equal((await api('DELETE', '/templates/tags', { name: 'app', tags: ['live'] })).status, 404);

  assert.deepEqual((await api('PATCH', '/v2/templates/app', { public: true })).json, { names: [`${TEAM.slug}/app`] });
  assert.equal((await api('PATCH', `/templates/${encodeURIComponent(`${TEAM.slug}/app`)}`, { public: false })).text, 'null');
  assert.equal((await api('GET', '/v2/templates')).json[0].buildStatus, 'error');
  assert.equal((await api('GET', '/templates')).json.length, 1);
  assert.equal((await api('GET', '/templates/app?limit=1')).json.builds.length, 1);
  assert.equal((await api('POST', '/v2/templates', { alias: 'old' })).status, 202);
  assert.equal((await api('DELETE', '/templates/app')).status, 204);
  assert.deepEqual([await alias('app'), (await api('DELETE', '/templates/base')).status], [404, 403]);
});

test('metrics, logs, team metrics', async (t) => {
  const { api, control } = await simulator(t);
  const startedAt = new Date(Date.now() - 60_000).toISOString();
  const { sandboxID: id } = (await control('POST', '/world/seed', [{ startedAt }])).sandboxes[0];
  assert.deepEqual((await api('GET', '/events/sandboxes')).json, []);
  const all = (await api('GET', `/sandboxes/${id}/metrics`)).json;
  assert.ok(all.length >= 12 && all[0].memTotal === 512 * 2 ** 20);
  const from = Math.trunc(Date.parse(startedAt) / 1000) + 30;
  const some = (await api('GET', `/sandboxes/${id}/metrics?start=${from}&end=${from + 10}`)).json;
  assert.ok(some.length >= 2 && some.every((m) => m.timestampUnix >= from && m.timestampUnix <= from + 10));
  assert.deepEqual(Object.keys((await api('GET', `/sandboxes/metrics?sandbox_ids=${id},inone`)).json.sandboxes), [id]);
  assert.equal((await api('GET', '/sandboxes/metrics')).status, 400);
  assert.equal((await api('DELETE', '/sandboxes/metrics')).status, 404);
  assert.match((await api('GET', `/v2/sandboxes/${id}/logs?search=created`)).json.logs[0].message, /created/);
  assert.equal((await api('GET', `/sandboxes/${id}/logs`)).json.logEntries.length, 1);
  assert.equal((await api('GET', `/v2/sandboxes/${id}/logs?limit=1001`)).status, 400);
  assert.equal((await api('GET', `/teams/${TEAM.id}/metrics`)).json[0].concurrentSandboxes, 1);
  assert.equal((await api('GET', `/teams/${TEAM.id}/metrics/max?metric=concurrent_sandboxes`)).json.value, 1);
  assert.equal((await api('GET', `/teams/${TEAM.id}/metrics/max`)).status, 400);
  assert.equal((await api('GET', '/teams/other/metrics')).status, 403);
});

test('events for every lifecycle change, webhooks that note them', async (t) => {
  const { api } = await simulator(t);
  const hook = await api('POST', '/events/webhooks', { name: 'h', url: 'https://h.test/x', events: ['sandbox.lifecycle.killed'], signatureSecret: 'hush' });
  assert.equal(hook.status, 201);
  assert.ok(!hook.text.includes('hush') && hook.json.enabled && hook.json.teamId === TEAM.id);
  const id = await created(api);
  for (const [action, body] of [['timeout', { timeout: 60 }], ['snapshots', {}], ['pause', {}], ['resume', {}]]) await api('POST', `/sandboxes/${id}/${action}`, body);
  await api('DELETE', `/sandboxes/${id}`);
  const events = (await api('GET', `/events/sandboxes/${id}?orderAsc=true`)).json;
  assert.deepEqual(events.map((e) => e.type.split('.').pop()), ['created', 'updated', 'checkpointed', 'paused', 'resumed', 'killed']);
  assert.ok(events[1].eventData.set_timeout && events[5].eventData.execution.vcpu_count === 2);
  assert.equal((await api('GET', '/events/sandboxes?limit=1')).json[0].type, 'sandbox.lifecycle.killed');
  assert.equal((await api('GET', '/events/sandboxes?types=sandbox.lifecycle.paused')).json.length, 1);
  const one = `/events/webhooks/${hook.json.id}`;
  const deliveries = (await api('GET', `${one}/deliveries`)).json;
  assert.ok(deliveries.data[0].attempts[0].requestHeaders['e2b-signature'] && deliveries.nextCursor === null);
  assert.equal((await api('GET', `${one}/stats`)).json.buckets[0].total, 1);
  assert.equal((await api('PATCH', one, { enabled: false })).json.enabled, false);
  assert.equal((await api('GET', one)).json.name, 'h');
  assert.equal((await api('GET', '/events/webhooks')).json.length, 1);
  assert.equal((await api('GET', '/events/webhooks/x')).status, 400);
  const gone = await api('DELETE', one);
  assert.deepEqual([gone.status, gone.headers['content-length']], [200, '0']);
  assert.equal((await api('GET', one)).status, 404);
});

test('volumes', async (t) => {
  const { api } = await simulator(t);
  const made = await api('POST', '/volumes', { name: 'data' });
  assert.deepEqual([made.status, made.json.token.split('.').length], [201, 3]);
  assert.equal((await api('POST', '/volumes', { name: 'a b' })).status, 400);
  assert.deepEqual((await api('GET', '/volumes')).json, [{ volumeID: made.json.volumeID, name: 'data' }]);
  assert.ok((await api('GET', `/volumes/${made.json.volumeID}`)).json.token);
  const remove = async () => (await api('DELETE', `/volumes/${made.json.volumeID}`)).status;
  assert.deepEqual([await remove(), await remove()], [204, 404]);
});

test('secrets never come back', async (t) => {
  const { api } = await simulator(t);
  const answers = [
    await api('POST', '/secrets', { name: 'Key-1', value: 'hidden-value', metadata: { a: 'b' } }),
    await api('POST', '/secrets', { name: 'key-1', value: 'hidden-value' }),
    await api('POST', '/secrets/key-1', { value: 'hidden-value' }),
    await api('GET', '/secrets/KEY-1'),
    await api('GET', '/secrets'),
    await api('POST', '/secrets', { name: 'sec_x', value: 'hidden-value' }),
    await api('DELETE', '/secrets/key-1'),
    await api('GET', '/secrets/key-1'),
  ];
  assert.deepEqual(answers.map((a) => a.status), [201, 409, 200, 200, 200, 400, 204, 404]);
  assert.ok(answers.every((a) => !a.text.includes('hidden-value')));
  assert.deepEqual([answers[2].json.currentVersion, answers[3].json.name, answers[4].headers['cache-control']], [2, 'key-1', 'no-store']);
});

test('every row of the route table answers', async (t) => {
  const { api } = await simulator(t);
  for (const { method, path: template } of ROUTES) {
    const { status } = await api(method, template.replace(/\{\w+\}/g, 'x'), ['GET', 'DELETE'].includes(method) ? undefined : {});
    assert.ok(status < 500 && status !== 301, `${method} ${template}: ${status}`);
  }
});

test('control: what was received, counts, waiting, keys, reset', async (t) => {
  const { api, control, refused, sim } = await simulator(t, { seedSandboxes: 2, templates: ['mine'] });
  const waiting = control('POST', '/wait', { count: { method: 'POST', path: '^/v2/sandboxes$', n: 1, stage: 'answered' } });
  await api('POST', '/v2/sandboxes', { templateID: 'mine', metadata: { token: 't-1' } });
  assert.deepEqual(await waiting, { ok: true });
  assert.equal(await refused('POST', '/wait', { count: { n: 99 }, timeout_ms: 5 }), 408);
  await api('GET', '/sandboxes/inone?x=1');
  const [first, second] = await control('GET', '/requests');
  assert.deepEqual([first.method, first.target, first.answered, first.effect], ['POST', '/v2/sandboxes', 201, true]);
  assert.match(Buffer.from(first.rawHead64, 'base64').toString(), /^POST \/v2\/sandboxes HTTP\/1.1\r\n(?:.*\r\n)+\r\n$/);
  assert.match(first.bodyText, /t-1/);
  assert.deepEqual([second.connection, second.ordinal, second.path, second.answered], [first.connection, 2, '/sandboxes/inone', 404]);
  assert.equal((await control('GET', `/requests?since=${first.n}&method=GET`)).length, 1);
  const counts = await control('GET', '/counts');
  assert.deepEqual([counts.total, counts.reads, counts.nonReads, counts.routes['POST /v2/sandboxes']], [2, 1, 1, 1]);
  assert.equal((await control('GET', '/world')).sandboxes.length, 3);
  assert.equal((await control('GET', '/connections')).length, 1);
  await control('POST', '/key', { key: 'e2b_99' });
  assert.equal((await api('GET', '/sandboxes')).status, 401);
  await control('POST', '/reset');
  assert.equal((await api('GET', '/sandboxes')).json.length, 2);
  assert.equal((await control('GET', '/counts')).total, 1);
  assert.equal(await refused('GET', '/nothing'), 404);
  assert.equal(await refused('POST', '/faults', { do: { typo: true } }), 400);
  assert.equal(await refused('POST', '/faults', { do: { end: 'soon' } }), 400);
  assert.equal(await refused('POST', '/faults', { match: { verb: 'GET' }, do: { hold: true } }), 400);
  assert.ok(sim.controlUrl);
});

test('a bounded memory: old requests are dropped, counts are not', async (t) => {
  const { api, control } = await simulator(t, { keep: 10 });
  for (let i = 0; i < 60; i++) await api('GET', '/health');
  const counts = await control('GET', '/counts');
  assert.ok((await control('GET', '/requests')).length <= 30 && counts.dropped >= 30 && counts.total === 60);
});

test('the command line', async (t) => {
  const program = fileURLToPath(new URL('./sim.mjs', import.meta.url));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sim-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const ready = path.join(folder, 'ready.json');
  const run = (...args) => spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = (child) => new Promise((resolve) => child.on('close', resolve));
  const child = run('--key', KEY, '--ready-file', ready, '--seed-sandboxes', '1', '--any-template');
  const line = await new Promise((resolve) => child.stdout.once('data', (data) => resolve(data.toString())));
  const { url, control } = JSON.parse(line);
  assert.equal((await request(url, 'POST', '/v2/sandboxes', { templateID: 'whatever' }, { key: KEY })).status, 201);
  assert.equal((await request(control, 'GET', '/world')).json.sandboxes.length, 2);
  assert.deepEqual(JSON.parse(fs.readFileSync(ready)), { url, control });
  child.kill('SIGTERM');
  assert.equal(await ended(child), 0);
  assert.equal(await ended(run('--help')), 0);
  assert.equal(await ended(run('--nonsense')), 2);
});
