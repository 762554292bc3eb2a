// An agent as anybody would write it: E2B's own SDK, and the two environment variables.
// It is told one word of the story: list, create or secrets.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../clients/package.json', import.meta.url));
const { Sandbox, Secret } = require('e2b');

const say = text => console.log(`agent: ${text}`);

const parts = {
  async list() {
    say('Sandbox.list()');
    const sandboxes = await Sandbox.list().nextItems();
    say(`there are ${sandboxes.length}: ${sandboxes.map(s => s.sandboxId).join(', ')}`);
  },
  async create() {
    say('Sandbox.create("base") ...');
    const began = Date.now();
    const sandbox = await Sandbox.create('base', {
      timeoutMs: 300_000,
      headers: { 'Sandgate-Reason': 'to run the tests of the pull request' } });
    say(`got ${sandbox.sandboxId} after ${((Date.now() - began) / 1000).toFixed(1)} s`);
  },
  async secrets() {
    say('Secret.list()');
    const refused = await Secret.list().nextItems().then(() => null, error => error);
    if (!refused) throw new Error('the secrets were listed');
    say(`${refused.name}: ${refused.message}`);
  },
};

await parts[process.argv[2]]();
