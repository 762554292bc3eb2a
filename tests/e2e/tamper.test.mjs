// An auditor with an export and the public key finds every change.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Simulator, Gateway, allowAll } from './harness.mjs';

test('sandgate audit verify finds what was changed, and where', async t => {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy: allowAll });
  t.after(async () => { await gateway.stop(); await sim.stop(); });
  const work = async n => { for (let i = 0; i < n; i++) {
    await gateway.agent('GET', '/v2/sandboxes');
    if (i % 5 === 0) await gateway.agent('POST', '/v2/sandboxes', { body: { templateID: 'base' } });
  } };
  await work(150);
  const short = await gateway.verify();
  assert.equal(short.code, 0, short.stdout + short.stderr);
  const since = path.join(gateway.folder, 'older-checkpoint');
  await work(200);
  const later = (await gateway.admin('POST', '/audit/checkpoint', {})).checkpoint;
  fs.writeFileSync(since, later);
  const whole = await gateway.verify();
  assert.equal(whole.code, 0, whole.stdout + whole.stderr);

  const lines = fs.readFileSync(whole.file, 'utf8').split('\n');
  const isRecord = line => line.startsWith('{"v":');
  const records = lines.flatMap((line, number) => isRecord(line) ? [number] : []);
  const index = 137, at = records[index], next = records[index + 1]; // some in the middle
  const edit = change => {
    const copy = [...lines];
    change(copy);
    const file = path.join(gateway.folder, 'edited.jsonl');
    fs.writeFileSync(file, copy.join('\n'));
    return gateway.cli(['audit', 'verify', file, '--key', whole.vkey]);
  };
  const flipped = line => line.replace('"boot":"', '"boot":"').replace(/"ts":(\d)/, (_, d) => `"ts":${d ^ 1 || 2}`);
  const attacks = {
    'one flipped bit': copy => { const b = Buffer.from(copy[at]); b[b.length - 3] ^= 1; copy[at] = b.toString('latin1'); },
    'a changed digit': copy => { copy[at] = flipped(copy[at]); },
    'a removed record': copy => copy.splice(at, 1),
    'two swapped records': copy => { [copy[at], copy[next]] = [copy[next], copy[at]]; },
    'an inserted record': copy => copy.splice(at, 0, copy[records[index + 3]]),
    'a duplicated record': copy => copy.splice(at, 0, copy[at]),
    'a space that JSON ignores': copy => { copy[at] = copy[at].replace('{"v":1,', '{"v":1, '); },
    'a record of another spelling': copy => { copy[at] = copy[at].replace('"t":"call"', '"t":"\\u0063all"'); },
  };
  for (const [what, change] of Object.entries(attacks)) await t.test(what, async () => {
    const verdict = await edit(change);
    assert.equal(verdict.code, 7, verdict.stdout + verdict.stderr);
    const named = /record (\d+)/i.exec(verdict.stdout + verdict.stderr);
    assert.ok(named, verdict.stdout + verdict.stderr);
    assert.ok(Math.abs(Number(named[1]) - index) <= 1, `names ${named[1]}, wants ${index}`);
  });
  await t.test('a cut tail, against an older checkpoint', async () => {
    const verdict = await gateway.cli(['audit', 'verify', short.file, '--key', whole.vkey, '--since', since]);
    assert.equal(verdict.code, 7, verdict.stdout + verdict.stderr);
    assert.match(verdict.stdout + verdict.stderr, /rolled back/i);
  });
  await t.test('another key', async () => {
    const other = await Gateway.start({});
    const { vkey } = await other.admin('GET', '/audit/head');
    await other.stop();
    const verdict = await gateway.cli(['audit', 'verify', whole.file, '--key', vkey]);
    assert.equal(verdict.code, 7);
  });
  await t.test('by hand, with what every machine has', () => {
    const leaf = lines[at];
    const out = execFileSync('sh', ['-c', '(printf "\\000"; cat) | sha256sum'], { input: leaf }).toString();
    assert.match(out, /^[0-9a-f]{64}/);
  });
});

test('a database that was set back is not served', async t => {
  const sim = await Simulator.start();
  const gateway = await Gateway.start({ sim, policy: allowAll });
  t.after(() => sim.stop());
  const data = path.join(gateway.folder, 'data');
  await gateway.stop();
  const old = path.join(gateway.folder, 'old');
  fs.cpSync(data, old, { recursive: true });
  await gateway.again();
  for (let i = 0; i < 10; i++) await gateway.agent('GET', '/v2/sandboxes');
  await gateway.stop();
  fs.rmSync(data, { recursive: true });
  fs.cpSync(old, data, { recursive: true });
  await assert.rejects(gateway.again(), /sandgated ended 2:[^]*roll/i);
});
