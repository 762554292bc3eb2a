// A benchmark, not a timed test: it reports ratios to nginx in the same run and judges
// nothing.  Every round visits every system; medians of the rounds are compared.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Gateway, TOP, allowAll, realKey, eventually } from '../e2e/harness.mjs';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const ROUNDS = option('rounds', 3), SECONDS = option('seconds', 3);
const CONNECTIONS = [1, 16, 64, 256];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sandgate-bench-'));
fs.chmodSync(folder, 0o755);
const PORTS = { stub: 18431, nginx: 18432, auth: 18433 };
const sandbox = { templateID: 'base', sandboxID: 'i0123456789abcdefghij', clientID: '0', startedAt: '2026-01-01T00:00:00Z',
  endAt: '2026-01-01T01:00:00Z', cpuCount: 2, memoryMB: 512, diskSizeMB: 1024, state: 'running', envdVersion: '0.4.2' };
const listing = JSON.stringify(Array.from({ length: 7 }, () => sandbox)).padEnd(1676, ' ');
const created = JSON.stringify({ templateID: 'base', sandboxID: 'i0123456789abcdefghij', clientID: '0', envdVersion: '0.4.2' });

// ---- nginx, twice: as the stub upstream and as the reference ------------------------------
function nginx(name, workers, http) {
  const conf = path.join(folder, `${name}.conf`);
  fs.writeFileSync(conf, `worker_processes ${workers}; daemon off; pid ${folder}/${name}.pid;
error_log ${folder}/${name}.err; ${process.getuid() === 0 ? 'user root;' : ''}
events { worker_connections 4096; }
http { access_log off; keepalive_requests 1000000; client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s; ${http} }`);
  const child = spawn('nginx', ['-p', folder, '-c', conf], { stdio: 'inherit' });
  process.on('exit', () => child.kill());
  return child;
}
const stub = nginx('stub', 1, `server { listen 127.0.0.1:${PORTS.stub} backlog=4096; default_type application/json;
  location / { if ($request_method = POST) { return 201 '${created}'; } return 200 '${listing}'; } }`);
const proxy = `proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://stub;`;
const front = nginx('front', 2, `upstream stub { server 127.0.0.1:${PORTS.stub}; keepalive 256; keepalive_requests 1000000; }
  server { listen 127.0.0.1:${PORTS.nginx} backlog=4096; access_log ${folder}/access.log; location / { ${proxy} } }
  server { listen 127.0.0.1:${PORTS.auth} backlog=4096; access_log ${folder}/access.log;
    location / { auth_request /auth; ${proxy} }
    location = /auth { internal; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass_request_body off;
      proxy_set_header Content-Length ""; proxy_pass http://stub; } }`);

// ---- Sandgate: authenticated, judged, recorded durably -----------------------------------
const gateway = await Gateway.start({ sim: { url: `http://127.0.0.1:${PORTS.stub}`, key: realKey() }, policy: allowAll,
  config: { log: { level: 'info' }, limits: { agent_connections: 4000 } } });

// ---- measuring ----------------------------------------------------------------------------
const TICK = Number(execFileSync('getconf', ['CLK_TCK']));
function cpuOf(pids) {
  return pids.reduce((sum, pid) => {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / TICK;
  }, 0);
}
const childrenOf = pid => execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).trim().split('\n').map(Number);
await eventually('nginx', () => { try { return childrenOf(front.pid).length >= 2 && childrenOf(stub.pid).length >= 1; } catch { return false; } });

const SYSTEMS = {
  direct: { url: `http://127.0.0.1:${PORTS.stub}`, pids: childrenOf(stub.pid) },
  nginx: { url: `http://127.0.0.1:${PORTS.nginx}`, pids: childrenOf(front.pid) },
  'nginx + auth_request': { url: `http://127.0.0.1:${PORTS.auth}`, pids: childrenOf(front.pid) },
  Sandgate: { url: gateway.url, pids: [gateway.child.pid] },
};

function unit(text) {
  const [, number, of] = /([\d.]+)(us|ms|s|m)/.exec(text);
  return Number(number) * { us: 1, ms: 1e3, s: 1e6, m: 6e7 }[of];
}

function wrk(system, connections, method) {
  const before = cpuOf(system.pids);
  const text = execFileSync('wrk', ['-t1', `-c${connections}`, `-d${SECONDS}s`, '--latency', '-H', `X-API-Key: ${gateway.key}`,
    ...(method === 'POST' ? ['-s', path.join(TOP, 'tests/bench/post.lua')] : []), `${system.url}/v2/sandboxes`], { encoding: 'utf8' });
  const requests = Number(/(\d+) requests in/.exec(text)[1]);
  return { rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)[1]), p50: unit(/^\s+50%\s+(\S+)/m.exec(text)[1]),
    p99: unit(/^\s+99%\s+(\S+)/m.exec(text)[1]), cpu: (cpuOf(system.pids) - before) * 1e6 / requests,
    errors: Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0) };
}

// One 4 KiB append and fdatasync, as the log's commits do at the least.
function fdatasyncMedian() {
  const fd = fs.openSync(path.join(gateway.folder, 'sync'), 'w'), times = [];
  for (let i = 0; i < 200; i++) {
    fs.writeSync(fd, Buffer.alloc(4096, i));
    const began = process.hrtime.bigint();
    fs.fdatasyncSync(fd);
    times.push(Number(process.hrtime.bigint() - began) / 1000);
  }
  fs.closeSync(fd);
  return median(times);
}
const median = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

const results = new Map();
for (let round = 0; round < ROUNDS; round++)
  for (const method of ['GET', 'POST'])
    for (const connections of CONNECTIONS)
      for (const [name, system] of Object.entries(SYSTEMS)) {
        const key = `${method} ${connections} ${name}`;
        process.stderr.write(`round ${round + 1}/${ROUNDS}  ${key}\n`);
        results.set(key, [...results.get(key) ?? [], wrk(system, connections, method)]);
      }

// ---- telling ------------------------------------------------------------------------------
const of = (key, field) => median(results.get(key).map(r => r[field]));
const best = key => Math.max(...results.get(key).map(r => r.rate));
const lines = [];
const say = text => { lines.push(text); console.log(text); };
say('# Benchmarks\n');
say('Written by `./dev bench`. One stub upstream (nginx, 1 worker) directly, behind nginx (plain reverse');
say('proxy, 2 workers, keep-alive, access log on), behind nginx with `auth_request` (which audits nothing),');
say('and behind Sandgate: key checked, judged by policy, recorded durably in the signed log before the answer;');
say('a POST has its intent durable before it leaves and its outcome before the answer, on a fresh connection');
say(`each. One interleaved run, ${ROUNDS} rounds of ${SECONDS} s, medians; wrk, stub and system share the cores, so read`);
say('the ratios, not the rates.\n');
const cpus = os.cpus();
say(`Machine: ${cpus.length} × ${cpus[0].model}, ${Math.round(os.totalmem() / 2 ** 30)} GiB, Linux ${os.release()}; ` +
  `fdatasync of 4 KiB ${fdatasyncMedian().toFixed(0)} µs (p50, same run); ${new Date().toISOString().slice(0, 10)}.\n`);
for (const method of ['GET', 'POST']) {
  say(`## ${method}${method === 'GET' ? ' (1,676 B answer; one durable record)' : ' (1 KB body; two durable records)'}\n`);
  say('| connections | system | req/s | ratio to nginx (median) | (best) | p50 µs | p99 µs | CPU µs/req | CPU ratio | non-2xx |');
  say('|---|---|---|---|---|---|---|---|---|---|');
  for (const connections of CONNECTIONS)
    for (const name of Object.keys(SYSTEMS)) {
      const key = `${method} ${connections} ${name}`, base = `${method} ${connections} nginx`;
      say(`| ${connections} | ${name} | ${of(key, 'rate').toFixed(0)} | ${(of(key, 'rate') / of(base, 'rate')).toFixed(2)} | ` +
        `${(best(key) / best(base)).toFixed(2)} | ${of(key, 'p50').toFixed(0)} | ${of(key, 'p99').toFixed(0)} | ` +
        `${of(key, 'cpu').toFixed(1)} | ${(of(key, 'cpu') / of(base, 'cpu')).toFixed(2)} | ${Math.max(...results.get(key).map(r => r.errors))} |`);
    }
  say('');
}
fs.writeFileSync(path.join(TOP, 'docs/BENCHMARKS.md'), lines.join('\n') + '\n');
await gateway.stop();
front.kill(); stub.kill();
fs.rmSync(folder, { recursive: true, force: true });
process.exit(0);
