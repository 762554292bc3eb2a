// Six planted secrets are nowhere but where they must be.
import test from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Simulator, Gateway, allowAll, holdAll } from './harness.mjs';

const canary = what => `${what}-${randomBytes(12).toString('hex')}`;

function filesBelow(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const full = path.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(full) : entry.isFile() ? [full] : [];
  });
}

async function play(gateway, secrets, { held }) {
  const call = async (method, target, body, headers = {}) => {
    const answer = gateway.agent(method, target, { body, headers });
    if (held) await gateway.approve((await gateway.pending()).id);
    return answer;
  };
  const created = await call('POST', '/v2/sandboxes', { templateID: 'base',
    envVars: { PASSWORD: secrets.env }, metadata: { owner: 'me' } });
  assert.equal(created.status, 201, created.text);
  secrets.envd.push(created.json.envdAccessToken);
  const { json: template } = await call('POST', '/v3/templates', { name: canary('t').slice(0, 20) });
  const build = await call('POST', `/v2/templates/${template.templateID}/builds/${template.buildID}`,
    { fromImage: 'registry.example/x', fromImageRegistry: { type: 'registry', username: 'u', password: secrets.registry } });
  assert.equal(build.status, 202, build.text);
  const hook = await call('POST', '/events/webhooks', { name: 'h', url: 'https://hooks.example/x',
    events: ['sandbox.lifecycle.created'], signatureSecret: secrets.webhook });
  assert.ok(hook.status < 300, hook.text);
  const info = await gateway.agent('GET', `/sandboxes/${created.json.sandboxID}`);
  assert.equal(info.status, 200);
  assert.equal(info.json.envdAccessToken, undefined, 'a read hands out no token');
  assert.match(info.headers['sandgate-stripped'], /envdAccessToken/);
}

for (const held of [false, true])
  test(`planted secrets stay out of database, log, stderr, /proc and core: ${held ? 'held' : 'allowed'}`, async t => {
    const sim = await Simulator.start();
    const secrets = { env: canary('env'), registry: canary('registry'), webhook: canary('hook'), envd: [] };
    const named = ['webhook.create', 'sandbox.create', 'template.create', 'template.build'];
    const policy = held ? { ...holdAll, rules: [{ ...holdAll.rules[0], match: { operations: named } }] } : allowAll;
    const gateway = await Gateway.start({ sim, policy });
    t.after(async () => { await gateway.stop(); await sim.stop(); });
    await play(gateway, secrets, { held });
    await gateway.agent('GET', '/v2/sandboxes', { key: gateway.key.replace(/.$/, c => c === '0' ? '1' : '0') });

    const planted = { 'real E2B key': sim.key, 'agent key': gateway.key, 'envVars value': secrets.env,
      'registry password': secrets.registry, 'webhook secret': secrets.webhook };
    secrets.envd.filter(Boolean).forEach((token, i) => { planted[`envdAccessToken ${i}`] = token; });
    assert.ok(secrets.envd.length > 0 && secrets.envd.every(Boolean));
    const { file } = await gateway.verify();
    const show = await gateway.admin('GET', '/approvals?limit=1000');
    const pid = gateway.child.pid;
    const proc = ['cmdline', 'environ', 'status', 'maps'].map(name => {
      try { return fs.readFileSync(`/proc/${pid}/${name}`, 'latin1'); } catch { return ''; }
    }).join('\n');
    assert.match(fs.readFileSync(`/proc/${pid}/limits`, 'utf8'), /Max core file size\s+0\s+0/);
    await gateway.cli(['status']);
    const places = { stderr: gateway.stderr, proc, approvals: JSON.stringify(show),
      records: JSON.stringify(await gateway.records()), export: fs.readFileSync(file, 'latin1') };
    for (const full of filesBelow(gateway.folder))
      places[path.relative(gateway.folder, full)] = fs.readFileSync(full, 'latin1');
    for (const [what, secret] of Object.entries(planted))
      for (const [place, text] of Object.entries(places))
        assert.ok(!text.includes(secret), `${what} is in ${place}`);

    gateway.child.kill('SIGABRT');
    await gateway.exited();
    for (const folder of [gateway.folder, process.cwd(), '/tmp'])
      for (const entry of fs.readdirSync(folder))
        assert.ok(!/^core(\.\d+)?$/.test(entry), `a core dump: ${folder}/${entry}`);
    await gateway.again();
  });

test('SDKs accept the shape of gateway keys', async t => {
  const gateway = await Gateway.start({ setUp: false });
  t.after(() => gateway.stop());
  await gateway.setUp();
  const sim = await Simulator.start();
  t.after(() => sim.stop());
  await gateway.admin('POST', '/environments', { name: 'production', base_url: sim.url, key: sim.key });
  for (let i = 0; i < 50; i++) assert.match(await gateway.mint('robot'), /^e2b_[0-9a-f]{40}$/);
});

test('a revoked key is dead before the command returns', async t => {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy: allowAll });
  t.after(async () => { await gateway.stop(); await sim.stop(); });
  for (let i = 0; i < 20; i++) {
    const key = await gateway.mint('robot');
    assert.equal((await gateway.agent('GET', '/v2/sandboxes', { key })).status, 200);
    await gateway.admin('POST', `/keys/${key.slice(4, 12)}/revoke`, {});
    const answer = await gateway.agent('GET', '/v2/sandboxes', { key });
    assert.equal(answer.status, 401);
    assert.equal(answer.json.code, 401);
  }
});

test('Sandgate refuses one of its own keys as an E2B key', async t => {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim });
  t.after(async () => { await gateway.stop(); await sim.stop(); });
  await assert.rejects(gateway.admin('POST', '/environments', { name: 'two', base_url: sim.url, key: gateway.key }),
    /422/);
  await assert.rejects(gateway.admin('POST', '/environments', { name: 'two', base_url: sim.url,
    key: 'e2b_' + '0'.repeat(40) }), /422/);
});

test('E2B cannot make the gateway tell the real key', async t => {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy: allowAll });
  t.after(async () => { await gateway.stop(); await sim.stop(); });
  for (const fault of [{ echo_key: true }, { body: `{"message":"${sim.key}"}` },
    { headers: [['X-E2B-Trace-ID', sim.key]] }, { html_error: true, body: sim.key }])
    for (const [method, body] of [['GET', undefined], ['POST', { templateID: 'base' }]]) {
      await sim.fault({ method, path: '^/v2/sandboxes' }, fault);
      const answer = await gateway.agent(method, '/v2/sandboxes', { body });
      assert.ok(!JSON.stringify([answer.headers, answer.text]).includes(sim.key), JSON.stringify(fault));
    }
});
