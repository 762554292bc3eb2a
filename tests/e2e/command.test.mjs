// E2B's own command line agrees by its exit codes; and sandgate's does what it says.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Simulator, Gateway, TOP, allowAll, denyAll, policyFile } from './harness.mjs';

const CLI = path.join(TOP, 'tests/clients/node_modules/.bin/e2b');
const SHORT = policyFile({ approval: { wait: '0s' } });

function e2b(gateway, args) {
  return new Promise(resolve => {
    execFile(process.execPath, [fs.realpathSync(CLI), ...args], { timeout: 60_000, env: { PATH: process.env.PATH,
      HOME: gateway.folder, E2B_API_URL: gateway.url, E2B_API_KEY: gateway.key, NO_COLOR: '1' } },
    (error, stdout, stderr) => resolve({ code: error ? error.code : 0, text: stdout + stderr }));
  });
}

async function rig(t, policy) {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy });
  t.after(async () => { await gateway.stop(); await sim.stop(); });
  const { sandboxes } = await sim.ask('POST', '/world/seed', [{ templateID: 'base' }, { templateID: 'base' }]);
  return { sim, gateway, ids: sandboxes.map(s => s.sandboxID) };
}

test('e2b: what is allowed exits 0', async t => {
  const { sim, gateway, ids } = await rig(t, allowAll);
  for (const args of [['sandbox', 'list'], ['sandbox', 'info', ids[0]], ['sandbox', 'metrics', ids[0]],
    ['sandbox', 'logs', ids[0]], ['template', 'list'], ['sandbox', 'pause', ids[0]],
    ['sandbox', 'kill', ids[1]]]) {
    const { code, text } = await e2b(gateway, args);
    assert.equal(code, 0, `${args.join(' ')}: ${text}`);
  }
  assert.equal((await sim.deliveries('DELETE', new RegExp(ids[1]))).length, 1);
});

for (const [what, policy, words] of [['held', SHORT, /423|Held for approval/], ['denied', denyAll, /403|Denied by policy/]])
  test(`e2b: what is ${what} exits 1 and never reads as done`, async t => {
    const { sim, gateway, ids } = await rig(t, policy);
    for (const args of [['sandbox', 'kill', ids[0]], ['sandbox', 'pause', ids[0]]]) {
      const { code, text } = await e2b(gateway, args);
      assert.equal(code, 1, text);
      assert.match(text, words);
      assert.doesNotMatch(text, /has been (killed|paused)|already paused|wasn't found/);
    }
    assert.deepEqual(await sim.deliveries('DELETE', /./), []);
  });

test('sandgate: exit codes and --json', async t => {
  const { sim, gateway, ids } = await rig(t, policyFile());
  const wait0 = { headers: { 'Sandgate-Wait': '0' } };
  const held = await gateway.agent('DELETE', `/sandboxes/${ids[0]}`, wait0);
  const id = held.headers['sandgate-approval'];
  const list = await gateway.cli(['approvals', 'ls', '--json']);
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, new RegExp(id));
  assert.equal((await gateway.cli(['approvals', 'show', 'apr_nothing'])).code, 3);
  assert.equal((await gateway.cli(['nonsense'])).code, 2);
  assert.equal((await gateway.cli(['approvals', 'approve', id, '--yes', '--no-input'])).code === 0, false,
    'a destructive approval is typed, not confirmed blindly');
  assert.equal((await sim.deliveries('DELETE', /./)).length, 0);
  const approved = await gateway.cli(['approvals', 'approve', id, '--confirm', `kill ${ids[0]}`, '--no-input']);
  assert.equal(approved.code, 0, approved.stderr);
  await gateway.state(id, 'executed');
  assert.equal((await gateway.cli(['audit', 'ls', '--limit', '5'])).code, 0);
  assert.equal((await gateway.cli(['audit', 'verify'])).code, 0);
  assert.equal((await gateway.cli(['status'])).code, 0);
  const tools = await gateway.cli(['tools']);
  assert.equal(tools.code, 0);
  for (const name of ['sandbox.create', 'webhook.stats', 'volumefile.write', 'admin.kill_sandboxes'])
    assert.match(tools.stdout, new RegExp(name.replace('.', '\\.')));
  const down = await gateway.cli(['--socket', '/nonexistent/admin.sock', 'status']);
  assert.equal(down.code, 75);
  assert.match(down.stderr, /\/nonexistent\/admin\.sock/);
});

test('sandgate: what an agent wrote is shown escaped', async t => {
  const { gateway } = await rig(t, policyFile());
  await gateway.agent('POST', '/v2/sandboxes', { body: { templateID: 'base' },
    headers: { 'Sandgate-Wait': '0', 'Sandgate-Reason': 'harmless %E2%80%AE evil' } });
  await gateway.agent('POST', '/v2/sandboxes', { body: { templateID: 'x\u202e\u001b[31m' }, headers: { 'Sandgate-Wait': '0' } });
  for (const args of [['approvals', 'ls'], ['audit', 'ls']]) {
    const { stdout } = await gateway.cli(args);
    assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  }
});
