/** Reads JSON objects and logfmt: the message is what tells patterns apart, besides the names of the keys. */

/** Numbers within keys do not tell bodies apart. */
export const keyHash = (name: string): number => {
  let hash = 17;
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    if (code < 48 || code > 57) hash = Math.imul(hash ^ code, 0x01000193);
  }
  return hash ^ (hash >>> 15);
};

const messageKeys = new Set(['message', 'msg', 'body', 'log', 'text', 'event', 'MESSAGE', '@message']);
const MAX_FIELDS = 64;

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
    else into.fields.push([path + key, typeof item === 'string' ? item : JSON.stringify(item)]);
  }
  return message;
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
  let message: string | undefined;
  let index = 0;
  while (index < body.length) {
    const start = index;
    while (index < body.length && isKey(body.charCodeAt(index))) index++;
    if (index === start || body.charCodeAt(index) !== 61) return unread(into);
    const key = body.slice(start, index);
    let from = index + 1;
    if (body.charCodeAt(from) === 34) {
      index = ++from;
      while (index < body.length && body.charCodeAt(index) !== 34) index += body.charCodeAt(index) === 92 ? 2 : 1;
      if (index >= body.length) return unread(into);
    } else for (index = from; index < body.length && body.charCodeAt(index) > 32; ) index++;
    const value = body.slice(from, index);
    if (message === undefined && messageKeys.has(key)) {
      into.message = key;
      message = value;
    } else if (into.fields.length < MAX_FIELDS) into.fields.push([key, value]);
    if (body.charCodeAt(index) === 34) index++;
    if (index < body.length && body.charCodeAt(index) > 32) return unread(into);
    while (index < body.length && body.charCodeAt(index) <= 32) index++;
  }
  if (into.fields.length + (message === undefined ? 0 : 1) < 2) return unread(into);
  into.form = 'logfmt';
  return message ?? '';
};

const unread = (into: Keyed): undefined => {
  into.fields.length = 0;
  into.message = '';
  return undefined;
};
