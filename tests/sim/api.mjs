// From a received request to E2B's answer: route, credentials, body, handler, in the server's order.
import { ApiError, empty, errorAnswer } from './answer.mjs';
import { BadJson, parseFirst } from './json.mjs';
import { headerValue } from './parse.mjs';
import { parseQuery } from './query.mjs';
import { findRoute, isKnownPath, unknownRoute } from './routes.mjs';

const NO_ROUTE = errorAnswer(404, 'validation error: no matching operation was found');
const NO_METHOD = errorAnswer(404, 'validation error: method not allowed');
const DEPRECATED = errorAnswer(404, 'Endpoints are deprecated, please update your SDK');
const KEY_HELP = 'Invalid API key, please visit https://e2b.dev/docs/api-key for more information.';
const NOTHING = {};

export class Api {
  constructor({ world, keys, baseUrl }) {
    this.world = world;
    this.setKeys(keys);
    this.baseUrl = baseUrl; // a function: the port may not be known yet
  }

  setKeys(keys) {
    this.keys = new Set(keys.map((key) => key.toLowerCase())); // the server looks the decoded bytes up
  }

  /** Fills in path, query, route and parameters; at the head, so that faults can match on them. */
  route(x) {
    const mark = x.target.indexOf('?');
    x.path = mark < 0 ? x.target : x.target.slice(0, mark);
    x.rawQuery = mark < 0 ? '' : x.target.slice(mark + 1);
    const found = findRoute(x.method, x.path);
    x.route = found ? found.route : unknownRoute(x.method);
    x.params = found ? found.params : NOTHING;
  }

  /** Runs the request on the world; never throws for what a client can do. */
  run(x) {
    try {
      return this.aside(x) ?? this.refusal(x) ?? this.effect(x);
    } catch (error) {
      if (error instanceof ApiError) return errorAnswer(error.status, error.message, error.errorCode);
      if (error instanceof BadJson) return errorAnswer(400, `validation error: request body has an error: ${error.message}`);
      throw error;
    }
  }

  effect(x) {
    const input = readBody(x);
    const answer = x.route.handle({ world: this.world, params: x.params, query: parseQuery(x.rawQuery), input, x, baseUrl: this.baseUrl() });
    x.effect = true;
    return answer;
  }

  /** What comes before routing: redirects of trailing slashes, preflights, unknown paths. */
  aside(x) {
    if (x.route.handle || x.route.auth === 'other') return null;
    if (x.path.length > 1 && x.path.endsWith('/')) return redirect(x);
    if (x.method === 'OPTIONS' && headerValue(x.headers, 'origin') !== undefined) return preflight();
    if (/^\/(?:instances|envs)(?:\/|$)/.test(x.path)) return DEPRECATED;
    return isKnownPath(x.path) ? NO_METHOD : NO_ROUTE;
  }

  refusal(x) {
    if (x.route.auth === 'open') return null;
    if (x.route.auth === 'other') return errorAnswer(401, 'authorization header is missing');
    const key = headerValue(x.headers, 'x-api-key');
    if (key === undefined || key === '') return errorAnswer(401, 'authorization header is missing');
    if (!/^e2b_[0-9a-fA-F]+$/.test(key)) return errorAnswer(401, 'authorization header is malformed');
    return this.keys.has(key.toLowerCase()) ? null : errorAnswer(401, `${KEY_HELP}\nfailed to get team by API key`);
  }
}

function redirect(x) {
  const to = x.path.replace(/\/+$/, '') + (x.rawQuery ? `?${x.rawQuery}` : '');
  return empty(x.method === 'GET' ? 301 : 307, [['Location', to]]);
}

function preflight() {
  return empty(204, [
    ['Access-Control-Allow-Origin', '*'],
    ['Access-Control-Allow-Methods', 'GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS'],
    ['Access-Control-Allow-Headers', 'Origin,Content-Length,Content-Type,User-Agent,Authorization,X-API-Key,X-Team-ID'],
  ]);
}

function readBody({ route, body, headers }) {
  if (!route.body) return NOTHING;
  if (body.length === 0 && route.optional) return NOTHING;
  if (body.length === 0) throw new BadJson('value is required but missing');
  const type = headerValue(headers, 'content-type');
  if (type && !/^application\/json\s*(?:;|$)/i.test(type)) throw new BadJson(`header Content-Type has unexpected value "${type}"`);
  return route.body(parseFirst(body.toString('utf8')));
}
