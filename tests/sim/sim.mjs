#!/usr/bin/env node
// The E2B control-plane simulator's command line. See README.md.
import fs from 'node:fs';
import { DEFAULTS, startSimulator } from './simulator.mjs';

const HELP = `node tests/sim/sim.mjs [options]
  --port N            API port (0 = any free one)
  --control-port N    control port (0 = any free one)
  --host H            address of both (127.0.0.1)
  --key KEY           accepted API key, e2b_<hex>; may be repeated
  --ready-file F      write the line with the URLs there too
  --seed-sandboxes N  start with N running sandboxes
  --template NAME     start with this template as one's own; may be repeated
  --any-template      a create from an unknown template makes the template
  --keep N            requests kept for GET /requests (${DEFAULTS.keep})
  --help
Prints {"url":…,"control":…} once it listens. Ends with 0 on SIGTERM or SIGINT.`;

const whole = (text, name) => {
  if (!/^\d+$/.test(text ?? '')) fail(`${name} needs a number`);
  return Number(text);
};
const more = (list, value) => [...(list ?? []), value];

// option → what it does to the settings
const OPTIONS = {
  '--port': (o, next) => { o.port = whole(next(), '--port'); },
  '--control-port': (o, next) => { o.controlPort = whole(next(), '--control-port'); },
  '--host': (o, next) => { o.host = next(); },
  '--key': (o, next) => { o.keys = more(o.keys, next()); },
  '--ready-file': (o, next) => { o.readyFile = next(); },
  '--seed-sandboxes': (o, next) => { o.seedSandboxes = whole(next(), '--seed-sandboxes'); },
  '--template': (o, next) => { o.templates = more(o.templates, next()); },
  '--any-template': (o) => { o.anyTemplate = true; },
  '--keep': (o, next) => { o.keep = whole(next(), '--keep'); },
  '--help': () => { console.log(HELP); process.exit(0); },
};

function fail(message) {
  console.error(`sim: ${message}\n${HELP}`);
  process.exit(2);
}

function readOptions(args) {
  const options = {};
  for (let i = 0; i < args.length; i++) {
    const apply = OPTIONS[args[i]] ?? fail(`unknown option ${args[i]}`);
    const name = args[i];
    apply(options, () => args[++i] ?? fail(`${name} needs a value`));
  }
  for (const key of options.keys ?? []) if (!/^e2b_[0-9a-f]+$/i.test(key)) fail('--key must be e2b_ and hex digits');
  return options;
}

/** Whole or not at all, for whoever waits for the file to appear. */
function writeReady(file, line) {
  fs.writeFileSync(`${file}.new`, `${line}\n`);
  fs.renameSync(`${file}.new`, file);
}

const { readyFile, ...options } = readOptions(process.argv.slice(2));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
const simulator = await startSimulator(options).catch((error) => fail(error.message));
const line = JSON.stringify({ url: simulator.url, control: simulator.controlUrl });
console.log(line);
if (readyFile) writeReady(readyFile, line);
