/** Reads JSON objects and logfmt: the message is what tells patterns apart, besides the names of the keys. */

const MAX_HASHES = 10_000;
const hashes = new Map<string, number>();
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Numbers within keys do not tell bodies apart: each is as `0`. */
export const keyHash = (name: string): number => {
  const known = hashes.get(name);
  if (known !== undefined) return known;
  let hash = 17;
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    if (!isDigit(code)) hash = Math.imul(hash ^ code, 0x01000193);
    else if (!isDigit(name.charCodeAt(index - 1))) hash = Math.imul(hash ^ 48, 0x01000193);
  }
  hash ^= hash >>> 15;
  if (hashes.size >= MAX_HASHES) hashes.clear();
  hashes.set(name.length < 13 ? name : Buffer.from(name).toString(), hash);
  return hash;
};

const messageKeys = new Set(['message', 'msg', 'body', 'log', 'text', 'event', 'MESSAGE', '@message']);
const MAX_FIELDS = 64;
/** `JSON.stringify` overflows the stack on values that `JSON.parse` reads, and how deep ones depends on the caller. */
const MAX_DEPTH = 64;
const TOO_DEEP = '…';

/** A body that is written by keys. */
export interface Keyed {
  form: 'text' | 'json' | 'logfmt';
  /** Each key's name and value, but the message's. */
  readonly fields: [name: string, value: string][];
  /** The key of the message; empty where there is none. */
  message: string;
}

/** The message of a JSON object, or `undefined` where the body is none. */
export const readJson = (body: string, into: Keyed): string | undefined => {
  if (body.charCodeAt(0) !== 123 || body.length > 65_536) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  into.form = 'json';
  return fieldsOf(value as object, '', into) ?? '';
};

const fieldsOf = (value: object, path: string, into: Keyed): string | undefined => {
  let message: string | undefined;
  for (const [key, item] of Object.entries(value)) {
    if (into.fields.length >= MAX_FIELDS) break;
    if (path === '' && message === undefined && typeof item === 'string' && messageKeys.has(key)) {
      into.message = key;
      message = item;
    } else if (typeof item === 'object' && item !== null && !Array.isArray(item) && path.length < 64)
      fieldsOf(item, `${path}${key}.`, into);
    else into.fields.push([path + key, typeof item === 'string' ? item : textOf(item)]);
  }
  return message;
};

const textOf = (item: unknown): string => (isDeeper(item, MAX_DEPTH) ? TOO_DEEP : JSON.stringify(item));

const isDeeper = (item: unknown, levels: number): boolean =>
  typeof item === 'object' &&
  item !== null &&
  (levels === 0 || Object.values(item).some((within) => isDeeper(within, levels - 1)));

const unread = (into: Keyed): undefined => {
  into.fields.length = 0;
  into.message = '';
  return undefined;
};

/** Letters, digits, `_`, `-`, `.` and `@`. */
const isKey = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 64 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  code === 95 ||
  code === 46 ||
  code === 45;

/** The message of a body that is nothing but `key=value` and `key="value"`, at least two; `undefined` where it is not. */
export const readLogfmt = (body: string, into: Keyed): string | undefined => {
  if (body.length > 65_536) return undefined;
  let index = 0;
  let pairs = 0;
  const found = { message: undefined as string | undefined };
  while (index < body.length) {
    index = readPair(body, index, into, found);
    if (index < 0) return unread(into);
    pairs++;
    while (index < body.length && body.charCodeAt(index) <= 32) index++;
  }
  if (pairs < 2) return unread(into);
  into.form = 'logfmt';
  return found.message ?? '';
};

/** Reads one pair; the index after it, or -1 where there is none. */
const readPair = (body: string, start: number, into: Keyed, found: { message: string | undefined }): number => {
  const equals = endOfKey(body, start);
  if (equals === start || body.charCodeAt(equals) !== 61) return -1;
  const quoted = body.charCodeAt(equals + 1) === 34;
  const from = equals + (quoted ? 2 : 1);
  const to = quoted ? endOfQuoted(body, from) : endOfBare(body, from);
  if (quoted && (to >= body.length || body.charCodeAt(to + 1) > 32)) return -1;
  const key = body.slice(start, equals);
  if (found.message === undefined && messageKeys.has(key)) {
    into.message = key;
    found.message = body.slice(from, to);
  } else if (into.fields.length < MAX_FIELDS) into.fields.push([key, body.slice(from, to)]);
  return quoted ? to + 1 : to;
};

const endOfKey = (body: string, from: number): number => {
  let index = from;
  while (index < body.length && isKey(body.charCodeAt(index))) index++;
  return index;
};

const endOfBare = (body: string, from: number): number => {
  let index = from;
  while (index < body.length && body.charCodeAt(index) > 32) index++;
  return index;
};

/** The closing quote; past the end where there is none. */
const endOfQuoted = (body: string, from: number): number => {
  let index = from;
  while (index < body.length && body.charCodeAt(index) !== 34) index += body.charCodeAt(index) === 92 ? 2 : 1;
  return index;
};
