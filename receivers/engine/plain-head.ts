/** Heads of requests in the plainest form that HTTP/1.1 has (RFC 9112): what is in any way special is for a parser that knows it all. */
import type { IncomingHttpHeaders } from 'node:http';

export interface PlainHead {
  readonly target: string;
  /** Names in lower case, each of them once. */
  readonly headers: IncomingHttpHeaders;
  readonly contentLength: number;
  /** Where the body begins. */
  readonly end: number;
}

const requestLine = /POST (\/[\x21-\x7e]*) HTTP\/1\.1\r\n/y;
/** A value begins with what is no space: one way to read a line, so that spaces without end are no work. */
const field = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t ]*([\x21-\x7e][\x20-\x7e]*)?\r\n/y;
/** With one of these the body is framed otherwise, or more than a request and an answer is asked for. */
const special = new Set(['transfer-encoding', 'expect', 'upgrade', 'trailer', 'proxy-connection']);
/** As much as Node's parser takes: it knows how to refuse more. */
const mostBytes = 16 * 1024;
const digits = /^\d{1,9}$/;

/** Senders spell few names, and each always alike. */
const lowerCase = new Map<string, string>();
const mostNames = 256;
const lowered = (name: string): string => {
  const known = lowerCase.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (lowerCase.size < mostNames) lowerCase.set(name, lower);
  return lower;
};

const isKeptAlive = (connection: string | undefined): boolean =>
  connection === undefined || connection.toLowerCase() === 'keep-alive';

/** The head that begins at `from`; `undefined` when it is not whole, or not plain: then nothing is said about it. */
export const plainHead = (bytes: Buffer, from: number): PlainHead | undefined => {
  const last = bytes.indexOf('\r\n\r\n', from, 'latin1');
  if (last < 0 || last - from > mostBytes) return undefined;
  const text = bytes.toString('latin1', from, last + 2);
  requestLine.lastIndex = 0;
  const target = requestLine.exec(text)?.[1];
  if (target === undefined) return undefined;
  const headers: IncomingHttpHeaders = Object.create(null);
  let at = requestLine.lastIndex;
  while (at < text.length) {
    field.lastIndex = at;
    const match = field.exec(text);
    if (match === null) return undefined;
    at = field.lastIndex;
    const name = lowered(match[1] as string);
    if (headers[name] !== undefined || special.has(name)) return undefined;
    headers[name] = match[2]?.trimEnd() ?? '';
  }
  const length = headers['content-length'];
  if (length === undefined || !digits.test(length) || headers.host === undefined || !isKeptAlive(headers.connection))
    return undefined;
  return { target, headers, contentLength: Number(length), end: last + 4 };
};
