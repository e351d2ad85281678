/** Parses JSON objects and logfmt. The message and the names of the keys distinguish patterns. */

const MAX_HASHES = 10_000;
const hashByName = new Map<string, number>();
export const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Initial value of the hash of a key. Numbers in keys do not distinguish bodies: each number is hashed as `0`. */
const SEED = 17;
const mixKeyHash = (hash: number, code: number, previousCode: number): number => {
  if (!isDigit(code)) return Math.imul(hash ^ code, 0x01000193);
  return isDigit(previousCode) ? hash : Math.imul(hash ^ 48, 0x01000193);
};
const finishHash = (hash: number): number => hash ^ (hash >>> 15);

export const hashKey = (name: string): number => {
  const cached = hashByName.get(name);
  if (cached !== undefined) return cached;
  let hash = SEED;
  for (let index = 0; index < name.length; index++)
    hash = mixKeyHash(hash, name.charCodeAt(index), name.charCodeAt(index - 1));
  hash = finishHash(hash);
  if (hashByName.size >= MAX_HASHES) hashByName.clear();
  hashByName.set(name.length < 13 ? name : Buffer.from(name).toString(), hash);
  return hash;
};

/**
 * Keys of messages, without case, `_` and `-`: what several loggers, their formats and shippers write. If a body has
 * several, the first of this list is its message.
 */
const messageKeys = [
  ...[
    'message',
    'msg',
    '@message',
    '@m',
    'renderedmessage',
    'shortmessage',
    'logmessage',
    'messagetext',
    'textpayload',
  ],
  ...['text', 'body', 'log', 'event', '@mt', 'messagetemplate', 'fullmessage'],
  ...[
    'error.message',
    'err.message',
    'exception.message',
    'error.msg',
    'err.msg',
    'jsonpayload.message',
    'log.message',
  ],
  ...[
    'data.message',
    'fields.message',
    'record.message',
    'errormessage',
    'errmsg',
    'exceptionmessage',
    'errordescription',
  ],
  ...['error', 'err', 'exception', 'reason', 'detail'],
];
const NO_RANK = messageKeys.length;
const rankByKey = new Map(messageKeys.map((key, rank) => [key, rank]));
const rankByName = new Map<string, number>();

/** Returns the rank of a key among those of messages; `NO_RANK` if it is none. */
const findMessageRank = (name: string): number => {
  if (name.length > MAX_MESSAGE_KEY) return NO_RANK;
  const known = rankByName.get(name);
  if (known !== undefined) return known;
  const rank = rankByKey.get(name.toLowerCase().replace(/[_-]/g, '')) ?? NO_RANK;
  if (rankByName.size >= MAX_HASHES) rankByName.clear();
  rankByName.set(Buffer.from(name).toString(), rank);
  return rank;
};
const MAX_MESSAGE_KEY = 32;
const MAX_FIELDS = 64;
/** `JSON.stringify` overflows the stack on values that `JSON.parse` accepts, at a depth that depends on the caller. */
const MAX_DEPTH = 64;
const TOO_DEEP = '…';

/** Name and value of a key */
export type KeyValue = readonly [name: string, value: string];

/** Positions of logfmt fields, and the hashes of their keys. Most fields are never read as text. */
export class LogfmtPairs {
  #body = '';
  /** For each field: start and end of the key, and of the value */
  readonly #positions = new Int32Array(4 * MAX_FIELDS);
  #count = 0;
  /** Sum of the hashes of the keys */
  hashSum = 0;

  begin(body: string): void {
    this.#body = body;
    this.#count = 0;
    this.hashSum = 0;
  }

  add(hash: number, keyStart: number, equals: number, from: number, to: number): void {
    if (this.#count >= MAX_FIELDS) return;
    const at = 4 * this.#count++;
    this.#positions[at] = keyStart;
    this.#positions[at + 1] = equals;
    this.#positions[at + 2] = from;
    this.#positions[at + 3] = to;
    this.hashSum = (this.hashSum + hash) | 0;
  }

  fields(): KeyValue[] {
    const at = (index: number): number => this.#positions[index] as number;
    return Array.from({ length: this.#count }, (_, index) => [
      this.#body.slice(at(4 * index), at(4 * index + 1)),
      this.#body.slice(at(4 * index + 2), at(4 * index + 3)),
    ]);
  }
}

/** A body that consists of keys and values */
export interface KeyedBody {
  form: 'text' | 'json' | 'logfmt';
  /** For JSON: name and value of each key except the message */
  readonly jsonFields: KeyValue[];
  /** For logfmt: positions of the fields */
  readonly pairs: LogfmtPairs;
  /** Key of the message; empty if there is none */
  message: string;
}

/** Returns the message of a JSON object; `undefined` if the body is not one. */
export const readJson = (body: string, target: KeyedBody): string | undefined => {
  if (body.charCodeAt(0) !== 123 || body.length > 65_536) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  target.form = 'json';
  messageScan.rank = NO_RANK;
  messageScan.text = '';
  readFields(value as object, '', target);
  return messageScan.text;
};

/** Best message key of the current body so far, and its text */
const messageScan = { rank: 0, text: '' };

const readFields = (value: object, path: string, into: KeyedBody): void => {
  for (const [key, item] of Object.entries(value)) {
    if (into.jsonFields.length >= MAX_FIELDS) break;
    const name = path + key;
    if (typeof item === 'string') addText(name, item, into);
    else if (typeof item === 'object' && item !== null && !Array.isArray(item) && path.length < 64)
      readFields(item, `${name}.`, into);
    else into.jsonFields.push([name, stringifyValue(item)]);
  }
};

/** Adds a text as the message if its key has a better rank than those before it; otherwise as a field. */
const addText = (name: string, text: string, into: KeyedBody): void => {
  const rank = findMessageRank(name);
  if (rank >= messageScan.rank) {
    into.jsonFields.push([name, text]);
    return;
  }
  if (messageScan.rank < NO_RANK) into.jsonFields.push([into.message, messageScan.text]);
  messageScan.rank = rank;
  messageScan.text = text;
  into.message = name;
};

const stringifyValue = (item: unknown): string => (isDeeper(item, MAX_DEPTH) ? TOO_DEEP : JSON.stringify(item));

const isDeeper = (item: unknown, levels: number): boolean =>
  typeof item === 'object' &&
  item !== null &&
  (levels === 0 || Object.values(item).some((nestedItem) => isDeeper(nestedItem, levels - 1)));

/** Letters, digits, `_`, `-`, `.` and `@`. */
export const isKey = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 64 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  code === 95 ||
  code === 46 ||
  code === 45;

/** Indexed by ASCII code */
const keyCharacters = Uint8Array.from({ length: 128 }, (_, code) => (isKey(code) ? 1 : 0));

/** Key and message of the current body, empty if there are none, and the hash of the last key */
const scanResult = { key: '', message: '', hash: 0 };
/** Keys of messages in logfmt. Other keys of messages are too frequent as fields next to a message. */
const logfmtMessageKeys = new Set(['message', 'msg', 'body', 'log', 'text', 'event', 'MESSAGE', '@message']);
const logfmtMessageHashes = new Set([...logfmtMessageKeys].map(hashKey));

/**
 * Returns the message of a body that consists of at least two `key=value` or `key="value"` pairs; `undefined` for other
 * bodies.
 */
export const readLogfmt = (body: string, into: KeyedBody): string | undefined => {
  if (body.length > 65_536) return undefined;
  let index = 0;
  let pairs = 0;
  scanResult.key = '';
  scanResult.message = '';
  into.pairs.begin(body);
  while (index < body.length) {
    index = readPair(body, index, into.pairs);
    if (index < 0) return undefined;
    pairs++;
    while (index < body.length && body.charCodeAt(index) <= 32) index++;
  }
  if (pairs < 2) return undefined;
  into.form = 'logfmt';
  into.message = scanResult.key;
  return scanResult.message;
};

/** Stores the hash of the key that begins at `start`, and returns the end of the key. */
const scanKey = (body: string, start: number): number => {
  let hash = SEED;
  let code = 0;
  let end = start;
  for (let before = 0; end < body.length; end++) {
    before = code;
    code = body.charCodeAt(end);
    if (code > 127 || keyCharacters[code] === 0) break;
    hash = mixKeyHash(hash, code, before);
  }
  scanResult.hash = finishHash(hash);
  return end;
};

/** Reads one pair. Returns the index after it, or -1 if there is none. */
const readPair = (body: string, start: number, pairs: LogfmtPairs): number => {
  const equals = scanKey(body, start);
  const { hash } = scanResult;
  if (equals === start || body.charCodeAt(equals) !== 61) return -1;
  const isQuoted = body.charCodeAt(equals + 1) === 34;
  const from = equals + (isQuoted ? 2 : 1);
  const to = isQuoted ? findQuotedEnd(body, from) : findBareEnd(body, from);
  if (isQuoted && (to >= body.length || body.charCodeAt(to + 1) > 32)) return -1;
  const key = scanResult.key === '' && logfmtMessageHashes.has(hash) ? body.slice(start, equals) : '';
  if (logfmtMessageKeys.has(key)) {
    scanResult.key = key;
    scanResult.message = body.slice(from, to);
  } else pairs.add(hash, start, equals, from, to);
  return isQuoted ? to + 1 : to;
};

const findBareEnd = (body: string, from: number): number => {
  let index = from;
  while (index < body.length && body.charCodeAt(index) > 32) index++;
  return index;
};

/** Returns the index of the closing quote; past the end if there is none. */
const findQuotedEnd = (body: string, from: number): number => {
  let index = from;
  while (index < body.length && body.charCodeAt(index) !== 34) index += body.charCodeAt(index) === 92 ? 2 : 1;
  return index;
};
