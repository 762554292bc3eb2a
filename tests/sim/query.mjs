// Query values and pages, checked as the API's validator does.
import { ApiError } from './answer.mjs';

export const invalid = (name, why) => new ApiError(400, `validation error: parameter "${name}" in query has an error: ${why}`);

/** First value of each name, decoded once. */
export function parseQuery(raw) {
  const query = new Map();
  if (!raw) return query;
  for (const part of raw.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = unescapeOnce(at < 0 ? part : part.slice(0, at));
    if (!query.has(name)) query.set(name, unescapeOnce(at < 0 ? '' : part.slice(at + 1)));
  }
  return query;
}

/** Go's url.QueryUnescape. */
export function unescapeOnce(value) {
  if (!/[%+]/.test(value)) return value;
  try {
    return decodeURIComponent(value.replace(/\+/g, ' '));
  } catch {
    throw new ApiError(400, 'validation error: invalid URL escape');
  }
}

export function intParam(query, name, { min = -Infinity, max = Infinity, otherwise }) {
  const value = query.get(name);
  if (value === undefined || value === '') return otherwise;
  if (!/^-?\d+$/.test(value)) throw invalid(name, 'value must be an integer');
  const number = Number(value);
  if (number < min) throw invalid(name, `number must be at least ${min}`);
  if (number > max) throw invalid(name, `number must be at most ${max}`);
  return number;
}

export function choiceParam(query, name, choices, otherwise) {
  const value = query.get(name);
  if (value === undefined || value === '') return otherwise;
  if (!choices.includes(value)) throw invalid(name, 'value is not one of the allowed values');
  return value;
}

export function choicesParam(query, name, choices) {
  const value = query.get(name);
  if (value === undefined || value === '') return choices;
  const wanted = value.split(',');
  if (wanted.some((one) => !choices.includes(one))) throw invalid(name, 'value is not one of the allowed values');
  return wanted;
}

export function timeParam(query, name) {
  const value = query.get(name);
  if (value === undefined || value === '') return undefined;
  const ms = Date.parse(value);
  if (!/^\d{4}-\d\d-\d\d[Tt]/.test(value) || Number.isNaN(ms)) throw invalid(name, 'must be a date-time');
  return ms;
}

export const limitParam = (query, max = 100, otherwise = max) => intParam(query, 'limit', { min: 1, max, otherwise });

/** `k=v&…` inside one query value: unescaped as a whole, then key and value each once more. */
export function metadataParam(query) {
  const value = query.get('metadata');
  if (!value) return [];
  return unescapeOnce(value).split('&').map((pair) => {
    const [key, ...rest] = pair.split('=');
    if (rest.length !== 1) throw new ApiError(400, `Error when parsing metadata: invalid filter: ${pair}`);
    return [unescapeOnce(key), unescapeOnce(rest[0])];
  });
}

/** One page of `items`, sorted newest first by [time, id] (oldest first if `asc`). The token names the
    last item seen, so that a list which changes meanwhile neither repeats nor loses any. */
export function page(items, query, keyOf, { asc = false } = {}) {
  const limit = limitParam(query);
  const start = firstAfter(items, readToken(query.get('nextToken'), asc), keyOf, asc);
  const found = items.slice(start, start + limit);
  const more = start + limit < items.length;
  return { found, headers: more ? [['X-Next-Token', writeToken(keyOf(found[found.length - 1]), asc)]] : [] };
}

function firstAfter(items, token, keyOf, asc) {
  if (!token) return 0;
  const index = items.findIndex((item) => isAfter(keyOf(item), token, asc));
  return index < 0 ? items.length : index;
}

function isAfter([time, id], [tokenTime, tokenId], asc) {
  const order = time - tokenTime || (id < tokenId ? -1 : Number(id > tokenId));
  return asc ? order > 0 : order < 0;
}

const writeToken = ([time, id], asc) => Buffer.from(`${new Date(time).toISOString()}__${id}${asc ? '__asc' : ''}`).toString('base64url');

function readToken(token, asc) {
  if (!token) return null;
  const [time, id, order] = Buffer.from(token, 'base64url').toString().split('__');
  const ms = Date.parse(time);
  if (Number.isNaN(ms) || !id || (order === 'asc') !== asc) throw new ApiError(400, 'Invalid next token');
  return [ms, id];
}
