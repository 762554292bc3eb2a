// Answers: the small constructors that handlers use, and their way onto the wire.
import { STATUS_CODES } from 'node:http'; // the table of phrases only

const JSON_TYPE = 'application/json; charset=utf-8';

/** A refusal in E2B's shape; the body's code is always the status. */
export class ApiError extends Error {
  constructor(status, message, errorCode) {
    super(message);
    this.status = status;
    this.errorCode = errorCode;
  }
}

export const json = (status, value, headers = []) => ({ status, type: JSON_TYPE, body: JSON.stringify(value), headers });
export const text = (status, body) => ({ status, type: 'text/plain; charset=utf-8', body, headers: [] });
export const empty = (status, headers = []) => ({ status, type: null, body: '', headers });

export function errorAnswer(status, message, errorCode) {
  return json(status, errorCode ? { code: status, error_code: errorCode, message } : { code: status, message });
}

let dateText = '';
let dateFor = 0;

/** The Date header's text, made once a second. */
function httpDate() {
  const second = Math.trunc(Date.now() / 1000);
  if (second !== dateFor) {
    dateFor = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

/** Header pairs that every answer carries beside its framing. */
export function headerPairs(answer) {
  const pairs = answer.type ? [['Content-Type', answer.type]] : [];
  pairs.push(...answer.headers, ['Date', httpDate()]);
  return pairs;
}

/** The whole answer as one string: the quick path for everything without a fault. */
export function encode(answer, method, keep) {
  let head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n`;
  if (answer.type) head += `Content-Type: ${answer.type}\r\n`;
  for (const [name, value] of answer.headers) head += `${name}: ${value}\r\n`;
  head += `Date: ${httpDate()}\r\n`;
  if (answer.status !== 204) head += `Content-Length: ${Buffer.byteLength(answer.body)}\r\n`;
  if (!keep) head += 'Connection: close\r\n';
  return method === 'HEAD' ? `${head}\r\n` : `${head}\r\n${answer.body}`;
}

export { STATUS_CODES };
