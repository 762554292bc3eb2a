// Every method and path that the installed clients call has a row in the catalogue.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { TOP, BUILD } from './harness.mjs';

// Not the control plane: envd's own files API inside of a sandbox.
const ELSEWHERE = new Set(['GET /files', 'POST /files', 'POST /files/compose', 'GET /envs']);
const PACKAGES = ['e2b', '@e2b/cli', '@e2b/code-interpreter'];

function callsIn(file) {
  const text = fs.readFileSync(file, 'utf8');
  return [...text.matchAll(/\.(GET|POST|PUT|PATCH|DELETE)\(\s*['"`](\/[^'"`?]*)['"`]/g)]
    .map(([, method, where]) => `${method} ${where}`);
}

function sources(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sources(full);
    return /\.[cm]?js$/.test(entry.name) ? [full] : [];
  });
}

const shape = call => call.replace(/\{[^}]*\}|:[a-zA-Z]+/g, '{}');

test('every call of the installed clients is an operation', () => {
  const rows = execFileSync(path.join(BUILD, 'sandgate'), ['tools', '--json'], { encoding: 'utf8' });
  const known = new Set(rows.trim().split('\n').map(line => JSON.parse(line))
    .flatMap(row => Array.isArray(row) ? row : row.operations ?? [row])
    .flatMap(op => op.routes.map(r => shape(`${r.method} ${r.path}`))));
  assert.ok(known.size > 70, `${known.size} rows`);
  const called = new Map();
  for (const name of PACKAGES)
    for (const file of sources(path.join(TOP, 'tests/clients/node_modules', name)))
      for (const call of callsIn(file)) called.set(call, name);
  assert.ok(called.size >= 35, `only ${called.size} calls found: has the SDK's form changed?`);
  const missing = [...called].filter(([call]) => !ELSEWHERE.has(call) && !known.has(shape(call)));
  assert.deepEqual(missing, []);
});
