// The raw HTTP corpus against the real daemon: reads run, writes are held.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { Simulator, Gateway, TOP, policyFile } from './harness.mjs';

const sim = await Simulator.start();
const gateway = await Gateway.start({ sim, policy: policyFile() });
const child = spawn(process.execPath, [path.join(TOP, 'tests/corpus/run.mjs'), '--agents', gateway.url,
  '--key', gateway.key, '--sim', sim.control, ...process.argv.slice(2)], { stdio: ['ignore', 'pipe', 'inherit'] });
let text = '';
child.stdout.on('data', chunk => { text += chunk; });
const code = await new Promise(resolve => child.on('exit', resolve));
const counts = text.trimEnd().split('\n').at(-1);
let bad = code !== 0;
try {
  const end = await gateway.stop();
  if (end.code !== 0) throw new Error(`sandgated ended with ${JSON.stringify(end)}`);
} catch (error) {
  bad = true;
  console.log(error.message);
}
await sim.stop();
console.log(text.trimEnd().split('\n').slice(0, -1).join('\n'));
console.log(bad && code === 0 ? 'corpus: 0 passed, 1 failed' : counts);
process.exit(bad ? 1 : 0);
