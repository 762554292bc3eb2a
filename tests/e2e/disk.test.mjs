// A log that cannot be written stops everything with 503, sends nothing, and recovers
// without a restart when there is room again.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Simulator, Gateway, allowAll, eventually } from './harness.mjs';

function smallDisk(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sandgate-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder], { stdio: 'pipe' });
  } catch { return null; }
  t.after(() => execFileSync('umount', ['-l', folder]));
  return folder;
}

test('a full disk', async t => {
  const disk = smallDisk(t);
  if (!disk) return t.skip('no tmpfs can be mounted here');
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy: allowAll, config: { data: path.join(disk, 'data') } });
  t.after(async () => { await gateway.stop(); await sim.stop(); });
  assert.equal((await gateway.agent('GET', '/v2/sandboxes')).status, 200);
  const filler = path.join(disk, 'filler');
  fs.writeFileSync(filler, '');
  const chunk = Buffer.alloc(64 << 10, 1);
  try { for (;;) fs.appendFileSync(filler, chunk); } catch { /* ENOSPC: that is the point */ }
  try { for (;;) fs.appendFileSync(filler, Buffer.alloc(512, 1)); } catch { /* to the last block */ }
  const big = { templateID: 'base', metadata: { filling: 'x'.repeat(8000) } };
  const refused = await eventually('503', async () => {
    const answer = await gateway.agent('POST', '/v2/sandboxes', { body: big });
    return answer.status === 503 && answer;
  });
  assert.equal(refused.json.error_code, 'log_unavailable');
  assert.ok(refused.headers['retry-after']);
  const before = (await sim.deliveries('POST', /./)).length;
  for (let i = 0; i < 20; i++) {
    const began = Date.now();
    assert.equal((await gateway.agent('POST', '/v2/sandboxes', { body: big })).status, 503);
    assert.equal((await gateway.agent('GET', '/v2/sandboxes')).status, 503);
    assert.ok(Date.now() - began < 2000);
  }
  assert.equal((await sim.deliveries('POST', /./)).length, before, 'nothing was sent');
  fs.rmSync(filler);
  await eventually('it recovers by itself', async () =>
    (await gateway.agent('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).status === 201, 10_000);
  const verdict = await gateway.verify();
  assert.equal(verdict.code, 0, verdict.stdout + verdict.stderr);
});

test('a database or WAL that is taken away is noticed within seconds', async t => {
  const sim = await Simulator.start();
  t.after(() => sim.stop());
  for (const file of ['sandgate.db', 'sandgate.db-wal']) {
    const gateway = await Gateway.start({ sim, policy: allowAll });
    fs.rmSync(path.join(gateway.folder, 'data', file));
    await eventually(`${file} is missed`, () => gateway.child.exitCode === 74, 15_000);
  }
});
