// What the self-tests share: a simulator in this process, a plain client, a raw client.
import http from 'node:http';
import net from 'node:net';
import { startSimulator } from './simulator.mjs';

export const KEY = `e2b_${'ab12'.repeat(10)}`;

/** A simulator with its clients; `t.after` closes it. */
export async function simulator(t, options = {}) {
  const sim = await startSimulator({ keys: [KEY], ...options });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => {
    agent.destroy();
    return sim.close();
  });
  return {
    sim,
    port: sim.http.port,
    agent,
    api: (method, path, body, more = {}) => request(sim.url, method, path, body, { agent, key: KEY, ...more }),
    control: async (method, path, body) => (await request(sim.controlUrl, method, path, body)).json,
    refused: async (method, path, body) => (await request(sim.controlUrl, method, path, body)).status,
    fault: async (match, wish) => (await request(sim.controlUrl, 'POST', '/faults', { match, do: wish })).json.id,
  };
}

/** A body that is a string goes as it is, anything else as JSON. */
export function request(url, method, path, body, { agent, key, headers = {} } = {}) {
  const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const all = { ...(key && { 'X-API-Key': key }), ...(payload !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) }), ...headers };
  return new Promise((resolve, reject) => {
    const req = http.request(url + path, { method, agent, headers: all }, (res) => {
      const parts = [];
      res.on('data', (part) => parts.push(part));
      res.on('error', reject);
      res.on('end', () => resolve(answerOf(res, Buffer.concat(parts))));
    });
    req.on('error', reject);
    req.end(payload);
  });
}

function answerOf(res, bytes) {
  const answer = { status: res.statusCode, headers: res.headers, bytes, text: bytes.toString() };
  try { answer.json = JSON.parse(answer.text); } catch { answer.json = undefined; }
  return answer;
}

/** Sends bytes, gives all that came back until the end, and how it ended. */
export function raw(port, bytes, { endAfter } = {}) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    const parts = [];
    let how = 'fin';
    socket.setTimeout(5000, () => { how = 'timeout'; socket.destroy(); }); // a test that is wrong must fail, not hang
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (part) => {
      parts.push(part);
      if (endAfter?.(Buffer.concat(parts).toString('latin1'))) socket.destroy();
    });
    socket.on('error', (error) => { how = error.code; });
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve({ bytes: Buffer.concat(parts), text: Buffer.concat(parts).toString('latin1'), how }));
  });
}

export const head = (method, path, more = '') => `${method} ${path} HTTP/1.1\r\nHost: sim\r\nX-API-Key: ${KEY}\r\n${more}\r\n`;
export const post = (path, body, more = '') => head('POST', path, `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}`) + body;
