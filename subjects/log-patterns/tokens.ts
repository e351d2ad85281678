/**
 * Cuts a log body into words and variables, in one pass and without backtracking.
 *
 * A variable is what its form alone shows to be a value: anything with a digit (numbers, hexadecimal, UUIDs, addresses, times), URLs, paths,
 * names with dots or an at sign, quoted text. What tells statements apart are their words in their order: values come and go between them (an
 * address with or without its name, `2451 bytes (2.39 KB)`, a list of any length). So all variables between two words are one variable, with
 * the punctuation around them, and punctuation alone tells nothing.
 */

import { type Keyed, keyHash, readJson, readLogfmt } from './keyed.ts';

/** What a variable looks like. The first variable of a list names the list. */
export type VariableKind =
  | 'number'
  | 'hex'
  | 'uuid'
  | 'address'
  | 'email'
  | 'url'
  | 'path'
  | 'time'
  | 'quoted'
  | 'name'
  | 'id'
  | 'value';

const kinds: readonly VariableKind[] = [
  'number',
  'hex',
  'uuid',
  'address',
  'email',
  'url',
  'path',
  'time',
  'quoted',
  'name',
  'id',
  'value',
];
const NUMBER = 0;
const HEX = 1;
const UUID = 2;
const ADDRESS = 3;
const EMAIL = 4;
const URL = 5;
const PATH = 6;
const TIME = 7;
const QUOTED = 8;
const NAME = 9;
const ID = 10;
const VALUE = 11;

export const kindOf = (code: number): VariableKind => kinds[code] ?? 'value';

/** The hash of every variable; words never have it. */
export const VARIABLE = 0;
/** The hash of a place of a pattern where words and variables may stand. */
export const ANY = 1;
/** Words and variables kept of one body; what follows does not tell patterns apart. */
export const MAX_TOKENS = 96;
/** Characters looked at. */
const MAX_LENGTH = 4096;

const SPACE = 1;
const LETTER = 2;
const DIGIT = 4;
/** Punctuation within words: `. / - _ @ …` */
const JOINT = 8;
const HEXADECIMAL = 16;

const classes = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  if (code <= 32) classes[code] = SPACE;
  else if (/[A-Za-z]/.test(character)) classes[code] = LETTER | (/[a-fA-F]/.test(character) ? HEXADECIMAL : 0);
  else if (/[0-9]/.test(character)) classes[code] = DIGIT | HEXADECIMAL;
  else if ('._-/\\@#$%~+&*!?^`'.includes(character)) classes[code] = JOINT;
}
const classAt = (text: string, index: number): number => {
  const code = text.charCodeAt(index);
  return code < 128 ? (classes[code] as number) : LETTER;
};

/** Months, days and halves of a day, where a time stands beside them. */
const calendar = new Set('jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun'.split(' '));
const units = new Set(
  (
    'ns us µs ms msec msecs s sec secs min mins h hr hrs b kb mb gb tb pb kib mib gib tib hz khz mhz ghz am pm utc gmt ' +
    'byte bytes kbytes mbytes nanoseconds microseconds millisecond milliseconds second seconds minute minutes hour hours day days'
  ).split(' '),
);
/** Letters of the longest unit. */
const MAX_UNIT = 12;
const methods = new Set('GET POST PUT PATCH DELETE HEAD OPTIONS CONNECT TRACE'.split(' '));

/** `( [ { <` and quotes. */
const opens = (code: number): boolean =>
  code === 40 || code === 91 || code === 123 || code === 60 || code === 34 || code === 39;
/** `) ] } >` */
const closes = (code: number): boolean => code === 41 || code === 93 || code === 125 || code === 62;
/** Blanks, quotes and closing brackets. */
const endsUrl = (code: number): boolean =>
  code <= 32 || code === 34 || code === 39 || code === 62 || code === 93 || code === 41;

const mix = (hash: number, value: number): number => Math.imul(hash ^ value, 0x01000193);
const scramble = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return once ^ (once >>> 13);
};

/** Where a long text is cut: behind a whole word, unless that is very long. */
const endOfWhole = (text: string): number => {
  for (let end = MAX_LENGTH; end > MAX_LENGTH / 2; end--)
    if ((classAt(text, end - 1) & (LETTER | DIGIT | JOINT)) === 0) return end;
  return MAX_LENGTH;
};

/** The tokens of one body. One instance is used again and again: `read` overwrites it. */
export class Tokens implements Keyed {
  /** How many there are. */
  count = 0;
  text = '';
  /** Of each token: `VARIABLE` or the hash of the word. */
  readonly hashes = new Int32Array(MAX_TOKENS);
  readonly starts = new Int32Array(MAX_TOKENS);
  readonly ends = new Int32Array(MAX_TOKENS);
  readonly kinds = new Uint8Array(MAX_TOKENS);
  form: Keyed['form'] = 'text';
  readonly fields: Keyed['fields'] = [];
  message = '';
  /** The same for bodies with the same words at the same places. */
  shape = 0;
  /** The same for bodies with the same count of tokens. */
  structure = 0;

  #end = 0;
  /** Hash of the punctuation before the first token: what tells bodies without a word apart. */
  #marks = 0;
  /** Brackets and quotes since the last token, those that are open within it, and those that were closed behind it but stand open before it. */
  #opened = 0;
  #within = 0;
  #closed = 0;
  #noDouble = false;
  #noSingle = false;
  /** Whether the next quote closes a request that is read. */
  #inRequest = false;
  /** Of the run that was read last: its characters' classes, whether all are hexadecimal, and its punctuation. */
  #seen = 0;
  #hex = false;
  #dots = 0;
  #slashes = 0;
  #at = false;
  #query = false;
  /** Of the same run: the end and the hash up to its last letter or digit. */
  #last = 0;
  #hash = 0;

  /** Reads a body: by its keys where it is a JSON object or logfmt, else as text. */
  read(body: string): void {
    this.fields.length = 0;
    this.form = 'text';
    this.message = '';
    const text = readJson(body, this) ?? readLogfmt(body, this) ?? body;
    this.#reset(text);
    let start = 0;
    while (start < this.text.length && classAt(this.text, start) === SPACE) start++;
    const line = this.text.indexOf('\n', start);
    this.#end = line < 0 ? this.text.length : line;
    this.#scan(start, this.#end);
    this.#seal();
  }

  #reset(text: string): void {
    // Cut first, so that nothing below looks further.
    this.text = text.length > MAX_LENGTH ? text.slice(0, endOfWhole(text)) : text;
    this.count = 0;
    this.#marks = 0;
    this.#opened = 0;
    this.#within = 0;
    this.#closed = 0;
    this.#noDouble = false;
    this.#noSingle = false;
    this.#inRequest = false;
  }

  value(index: number): string {
    return this.text.slice(this.starts[index], this.ends[index]);
  }

  /** What stands before token `index`, or after the last one. */
  gap(index: number): string {
    // What comes after the last token that fits is not looked at.
    if (index === MAX_TOKENS) return '';
    const from = index === 0 ? 0 : (this.ends[index - 1] as number);
    const to = index < this.count ? (this.starts[index] as number) : this.#end;
    // "<1" is a number, so that its sign is none of the punctuation.
    const sign = index < this.count && this.hashes[index] === VARIABLE && this.text.charCodeAt(to - 1) === 60;
    return this.text.slice(from, Math.min(sign ? to - 1 : to, from + 64)).replace(/\s+/g, ' ');
  }

  #seal(): void {
    let shape = 7;
    let other = 0x811c9dc5;
    let words = 0;
    for (let index = 0; index < this.count; index++) {
      const hash = this.hashes[index] as number;
      if (hash !== VARIABLE) words++;
      shape = scramble(mix(shape, hash));
      other = Math.imul(other ^ hash, 0x85ebca6b) ^ (other >>> 13);
    }
    // A sum, so that the order of keys makes no difference.
    let keys = this.form.length;
    if (this.form !== 'text') for (const [name] of this.fields) keys = (keys + keyHash(name)) | 0;
    if (this.message !== '') keys ^= keyHash(this.message);
    if (words === 0) keys = mix(keys, this.#marks);
    const structure = scramble(mix(scramble(this.count), keys));
    shape = scramble(mix(shape, structure));
    this.structure = structure;
    this.shape = (shape >>> 0) * 0x20_0000 + (scramble(other) >>> 11);
  }

  #scan(from: number, to: number): void {
    const { text } = this;
    let index = from;
    while (index < to && this.count < MAX_TOKENS) {
      const kind = classAt(text, index);
      if (kind === SPACE) {
        do index++;
        while (index < to && classAt(text, index) === SPACE);
      } else if (kind !== 0) index = this.#word(index, to);
      else index = this.#punctuation(index, to);
    }
  }

  #punctuation(index: number, to: number): number {
    const { text } = this;
    const code = text.charCodeAt(index);
    if (code === 34 || code === 39) {
      const after = this.#quoted(index, to, code);
      if (after > 0) return after;
    }
    if (code === 91) {
      const after = this.#list(index, to);
      if (after > 0) return after;
    }
    // "<1 sec" is a number.
    if (code === 60 && index + 1 < to && classAt(text, index + 1) & DIGIT) return this.#word(index + 1, to);
    this.#mark(code);
    if (opens(code)) this.#opened++;
    else if (closes(code)) this.#close(index + 1);
    return index + 1;
  }

  #mark(code: number): void {
    if (this.count === 0) this.#marks = mix(this.#marks, code);
  }

  /** A bracket or quote closes before `end`: what was opened since a variable, or within it, is part of it. */
  #close(end: number): void {
    if (this.#opened > 0) {
      this.#opened--;
      if (this.#opened > 0) return;
    } else if (this.#within > 0) this.#within--;
    else {
      this.#closed++;
      return;
    }
    const last = this.count - 1;
    if (last >= 0 && this.hashes[last] === VARIABLE) this.ends[last] = end;
  }

  /** The index after `[a, b, c]`, or 0 where it is no list of words. */
  #list(index: number, to: number): number {
    const { text } = this;
    let commas = 0;
    let close = index + 1;
    for (; close < to && close < index + 512; close++) {
      const code = text.charCodeAt(close);
      if (code === 93) break;
      if (code === 44) commas++;
      else if (code === 32 ? text.charCodeAt(close - 1) !== 44 : classAt(text, close) === 0) return 0;
    }
    if (commas === 0 || text.charCodeAt(close) !== 93) return 0;
    this.#mark(91);
    this.#opened++;
    this.#variable(index + 1, close, classAt(text, index + 1) & DIGIT ? NUMBER : VALUE);
    return close;
  }

  /** The index after quoted text, or 0 where it is only punctuation. */
  #quoted(index: number, to: number, code: number): number {
    const { text } = this;
    if (this.#closesRequest(code) || (code === 34 ? this.#noDouble : this.#noSingle)) return 0;
    const close = text.indexOf(code === 34 ? '"' : "'", index + 1);
    if (close < 0 || close >= to) {
      if (code === 34) this.#noDouble = true;
      else this.#noSingle = true;
      return 0;
    }
    if (close === index + 1 || (code === 39 && (this.#isLetter(index - 1) || this.#isLetter(close + 1)))) return 0;
    if (this.#isRequest(index + 1)) {
      this.#inRequest = code === 34;
      return 0;
    }
    this.#mark(code);
    this.#opened++;
    this.#variable(index + 1, close, QUOTED);
    this.#close(close + 1);
    return close + 1;
  }

  #isLetter(index: number): boolean {
    return index >= 0 && index < this.#end && (classAt(this.text, index) & (LETTER | DIGIT)) !== 0;
  }

  #closesRequest(code: number): boolean {
    const closes = code === 34 && this.#inRequest;
    if (closes) this.#inRequest = false;
    return closes;
  }

  /** Whether a method of HTTP stands here, as in `"GET /path HTTP/1.1"`: what is within these quotes is read. */
  #isRequest(from: number): boolean {
    let index = from;
    while (index < from + 8 && classAt(this.text, index) & LETTER) index++;
    return index > from + 2 && this.text.charCodeAt(index) === 32 && methods.has(this.text.slice(from, index));
  }

  /** A run of letters, digits and joints. */
  #word(from: number, to: number): number {
    const end = this.#run(from, to);
    if ((this.#seen & (LETTER | DIGIT)) === 0) return this.#joints(from, to);
    if (end < to && this.text.charCodeAt(end) === 58) {
      const after = this.#colon(from, end, to);
      if (after > 0) return after;
    }
    if (this.#seen & DIGIT) return this.#digits(from, end, to);
    const named = this.#seen & JOINT || end - from >= 8 ? this.#named(from, end, to) : 0;
    return named || this.#plain(from, end, to) || this.#literal(from, end);
  }

  /** The end of the run; leaves what it holds in the fields. */
  #run(from: number, to: number): number {
    const { text } = this;
    let index = from;
    let seen = 0;
    let hash = 0x811c9dc5;
    let last = from;
    let lastHash = 0;
    // What all characters have in common: hexadecimal ones have it.
    let common = HEXADECIMAL;
    this.#dots = 0;
    this.#slashes = 0;
    this.#at = false;
    this.#query = false;
    for (; index < to; index++) {
      const code = text.charCodeAt(index);
      const kind = code < 128 ? (classes[code] as number) : LETTER;
      if ((kind & (LETTER | DIGIT | JOINT)) === 0) break;
      seen |= kind;
      common &= kind;
      hash = mix(hash, code);
      if (kind & JOINT) {
        if (this.#joint(code, index, from)) break;
      } else {
        last = index + 1;
        lastHash = hash;
      }
    }
    this.#seen = seen;
    this.#hex = common !== 0;
    this.#last = last;
    this.#hash = lastHash === VARIABLE || lastHash === ANY ? 2 : lastHash;
    return index;
  }

  /** Counts a joint; whether the run ends here, as two dots lead from a name to its value: `enable...0`. */
  #joint(code: number, index: number, from: number): boolean {
    if (code === 46) {
      if (this.text.charCodeAt(index + 1) === 46) return true;
      this.#dots++;
    } else if (code === 47 || code === 92) this.#slashes++;
    else if (code === 63) this.#query = true;
    else if (code === 64 && index > from) this.#at = true;
    return false;
  }

  #literal(from: number, end: number): number {
    const last = this.#last;
    this.#constant(from, last, this.#hash);
    return end;
  }

  /** E-mail, paths, names with dots, long hexadecimal; 0 where it is none of them. */
  #named(from: number, end: number, to: number): number {
    const last = this.#last;
    if (this.#at && last - from > 2) return this.#variable(from, end, EMAIL);
    if (this.#slashes > 1 || (this.#slashes === 1 && (this.text.charCodeAt(from) === 47 || this.#dots > 0)))
      return this.#path(from, end, to);
    if (this.#dots > 1 && this.#isName(from, last)) return this.#variable(from, last, NAME);
    if (this.#hex) return this.#variable(from, end, HEX);
    return 0;
  }

  /** Names of months and days in dates, and what an equals sign assigns; 0 where it is neither. */
  #plain(from: number, end: number, to: number): number {
    if (end - from === 3 && this.#isDate(end, to)) return this.#variable(from, end, TIME);
    return from > 0 && this.text.charCodeAt(from - 1) === 61 ? this.#assigned(from, end, to) : 0;
  }

  /** The end of a missing value or of an object (`Name{…}`) after an equals sign; 0 where it is neither. */
  #assigned(from: number, end: number, to: number): number {
    const { text } = this;
    if (end - from === 4 && text.startsWith('null', from)) return this.#variable(from, end, VALUE);
    if (text.charCodeAt(end) !== 123) return 0;
    let depth = 0;
    for (let index = end; index < to && index < end + 256; index++) {
      const code = text.charCodeAt(index);
      if (code === 123) depth++;
      else if (code === 125 && --depth === 0) return this.#variable(from, index + 1, VALUE);
    }
    return 0;
  }

  /** `...`, `-->`, `***`: punctuation, which may also hold the place of a value in a list. */
  #joints(from: number, to: number): number {
    const { text } = this;
    let stars = 0;
    let index = from;
    for (; index < to && classAt(text, index) === JOINT; index++) if (text.charCodeAt(index) === 42) stars++;
    if (stars > 2 && stars === index - from) return this.#variable(from, index, VALUE);
    for (let joint = from; joint < index; joint++) this.#mark(text.charCodeAt(joint));
    return index;
  }

  /** URLs, drives, hosts with ports and addresses in hexadecimal, which contain colons; 0 where it is none of them. */
  #colon(from: number, colon: number, to: number): number {
    const { text } = this;
    const next = text.charCodeAt(colon + 1);
    if (next === 47 && text.charCodeAt(colon + 2) === 47 && this.#slashes === 0) return this.#url(from, colon, to, URL);
    if (next === 92 && colon - from === 1) return this.#url(from, colon, to, PATH);
    if (classAt(text, colon + 1) & DIGIT && (text.startsWith('localhost:', from) || this.#isHost(from, colon)))
      return this.#variable(from, colon, ADDRESS);
    return this.#hex && colon - from <= 4 ? this.#groups(from, colon, to) : 0;
  }

  /** Up to where URLs and paths of drives end. */
  #url(from: number, colon: number, to: number, kind: number): number {
    const { text } = this;
    let index = colon + 1;
    while (index < to && !endsUrl(text.charCodeAt(index))) index++;
    while (index > colon + 3 && (text.charCodeAt(index - 1) === 44 || text.charCodeAt(index - 1) === 59)) index--;
    return this.#variable(from, index, kind);
  }

  /** A path, with its query. */
  #path(from: number, end: number, to: number): number {
    let index = end;
    if (this.#query) while (index < to && !endsUrl(this.text.charCodeAt(index))) index++;
    return this.#variable(from, index, PATH);
  }

  /** MAC and IPv6 addresses; 0 where it is neither. */
  #groups(from: number, colon: number, to: number): number {
    const { text } = this;
    let index = colon;
    let colons = 0;
    const end = Math.min(to, from + 48);
    for (; index < end; index++) {
      if (text.charCodeAt(index) === 58) colons++;
      else if ((classAt(text, index) & HEXADECIMAL) === 0) break;
    }
    if (colons < 3 || (index < to && classAt(text, index) & LETTER)) return 0;
    return this.#variable(from, index, ADDRESS);
  }

  /** Whether a name before a port stands here: small letters, and a dot within. */
  #isHost(from: number, to: number): boolean {
    const { text } = this;
    let dots = 0;
    for (let index = from; index < to; index++) {
      const code = text.charCodeAt(index);
      if (code >= 65 && code <= 90) return false;
      if (code === 46) dots++;
    }
    return dots > 0 && text.charCodeAt(from) !== 46 && text.charCodeAt(to - 1) !== 46;
  }

  #digits(from: number, end: number, to: number): number {
    const kind = this.#seen & LETTER ? this.#mixedKind(from, end) : this.#numericKind();
    if (kind === PATH) return this.#path(from, end, to);
    return this.#variable(from, kind === NUMBER ? this.#unit(end, to) : end, kind);
  }

  #numericKind(): number {
    if (this.#slashes > 0) return TIME;
    return this.#dots === 3 ? ADDRESS : NUMBER;
  }

  #mixedKind(from: number, end: number): number {
    const { text } = this;
    if (this.#at) return EMAIL;
    if (this.#slashes > 0) return PATH;
    if (this.#hex || (text.charCodeAt(from) === 48 && text.charCodeAt(from + 1) === 120)) return HEX;
    if (end - from === 36 && text.charCodeAt(from + 8) === 45 && text.charCodeAt(from + 13) === 45) return UUID;
    return this.#dots > 1 ? ADDRESS : ID;
  }

  /** The end of a unit after a number: `10 ms` and `3 KB` are one value. */
  #unit(end: number, to: number): number {
    if (this.text.charCodeAt(end) !== 32) return end;
    let index = end + 1;
    while (index < to && index < end + 2 + MAX_UNIT && classAt(this.text, index) & LETTER) index++;
    const next = index < to ? classAt(this.text, index) : SPACE;
    if (index === end + 1 || (next & (LETTER | DIGIT | JOINT) && this.text.charCodeAt(index) !== 46)) return end;
    return units.has(this.text.slice(end + 1, index).toLowerCase()) ? index : end;
  }

  /** Names of hosts, packages and classes are values; names of errors and of events in capitals say what happened. */
  #isName(from: number, to: number): boolean {
    const { text } = this;
    let index = to;
    let capitals = true;
    while (index > from && text.charCodeAt(index - 1) !== 46) {
      index--;
      const code = text.charCodeAt(index);
      if (code >= 97 && code <= 122) capitals = false;
    }
    if (index === from || text.charCodeAt(from) === 46) return false;
    return !(capitals || text.startsWith('Exception', to - 9) || text.startsWith('Error', to - 5));
  }

  /** Whether a name of a month or day stands here: a digit or another such name follows. */
  #isDate(end: number, to: number): boolean {
    const { text } = this;
    if (!calendar.has(text.slice(end - 3, end).toLowerCase())) return false;
    let index = end;
    while (index < to && (text.charCodeAt(index) === 32 || text.charCodeAt(index) === 44)) index++;
    if (index === end || index >= to) return false;
    return classAt(text, index) === (DIGIT | HEXADECIMAL) || calendar.has(text.slice(index, index + 3).toLowerCase());
  }

  #constant(from: number, to: number, hash: number): void {
    const { count } = this;
    this.hashes[count] = hash;
    this.starts[count] = from;
    this.ends[count] = to;
    this.#opened = 0;
    this.#within = 0;
    this.#closed = 0;
    this.count = count + 1;
  }

  /** Adds a variable, or lets the one before it grow. Returns `to`. */
  #variable(from: number, to: number, kind: number): number {
    const before = this.count - 1;
    if (before < 0 || this.hashes[before] !== VARIABLE) {
      this.kinds[this.count] = kind;
      this.#constant(from, to, VARIABLE);
      return to;
    }
    this.ends[before] = to;
    if (kind === TIME) this.kinds[before] = TIME;
    this.#within += this.#opened;
    this.#opened = 0;
    let start = this.starts[before] as number;
    for (; this.#closed > 0; this.#closed--) if (start > 0 && opens(this.text.charCodeAt(start - 1))) start--;
    this.starts[before] = start;
    return to;
  }
}
