/**
 * Cuts a log body into words and variables, in one pass and without backtracking.
 *
 * A variable is what its form alone shows to be a value: anything with a digit (numbers, hexadecimal, UUIDs, addresses, times), URLs, paths,
 * names with dots or an at sign, quoted text. What tells statements apart are their words in their order: values come and go between them (an
 * address with or without its name, `2451 bytes (2.39 KB)`, a list of any length). So all variables between two words are one variable, with
 * the punctuation around them, and punctuation alone tells nothing.
 */

import { type Keyed, keyHash, readJson, readLogfmt } from './keyed.ts';
import {
  addressEnd,
  characters,
  closes,
  isDate,
  isHost,
  isMissing,
  isName,
  isRequest,
  listEnd,
  objectEnd,
  opens,
  rangeEnd,
  stemEnd,
  unitEnd,
  urlEnd,
} from './spans.ts';

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

// What is read for every character is this module's own: imported names take a quarter longer.
const { SPACE, LETTER, DIGIT, JOINT, HEXADECIMAL, classes } = characters;
const classAt = (text: string, index: number): number => {
  const code = text.charCodeAt(index);
  return code < 128 ? (classes[code] as number) : LETTER;
};

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
    const end = Math.min(sign ? to - 1 : to, from + 64);
    // Most are one space, or nothing.
    if (end <= from) return '';
    const first = this.text.charCodeAt(from);
    if (end === from + 1 && first < 128)
      return first === 32 || (first > 8 && first < 14) ? ' ' : this.text.charAt(from);
    return this.text.slice(from, end).replace(/\s+/g, ' ');
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
    const code = this.text.charCodeAt(index);
    const after = this.#span(index, to, code);
    if (after > 0) return after;
    this.#mark(code);
    if (opens(code)) this.#opened++;
    else if (closes(code)) this.#close(index + 1);
    return index + 1;
  }

  /** The index after a value that begins with this punctuation; 0 where it is none. */
  #span(index: number, to: number, code: number): number {
    const { text } = this;
    if (code === 34 || code === 39) return this.#quoted(index, to, code);
    if (code === 91 || code === 40) return this.#list(index, to);
    const next = index + 1 < to ? classAt(text, index + 1) : SPACE;
    // "<1 sec" is a number.
    if (code === 60 && next & DIGIT) return this.#word(index + 1, to);
    // "::1" and "::ffff:192.0.2.1" are addresses.
    if (code !== 58 || text.charCodeAt(index + 1) !== 58 || this.#isLetter(index - 1)) return 0;
    const end = addressEnd(text, index, index, to);
    return end > 0 ? this.#variable(index, end, ADDRESS) : 0;
  }

  /** The index of the end of a list; 0 where it is none. */
  #list(open: number, to: number): number {
    const close = listEnd(this.text, open, to);
    if (close === 0) return 0;
    this.#mark(this.text.charCodeAt(open));
    this.#opened++;
    return this.#variable(open + 1, close, classAt(this.text, open + 1) & DIGIT ? NUMBER : VALUE);
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
    if (isRequest(text, index + 1)) {
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

  /** A run of letters, digits and joints. */
  #word(from: number, to: number): number {
    const end = this.#run(from, to);
    if ((this.#seen & (LETTER | DIGIT)) === 0) return this.#joints(from, to);
    if (end < to && this.text.charCodeAt(end) === 58) {
      const after = this.#colon(from, end, to);
      if (after > 0) return after;
    }
    if (end < to && this.text.charCodeAt(end) === 91) {
      const after = rangeEnd(this.text, end, to);
      if (after > 0) return this.#variable(from, after, ID);
    }
    if (this.#seen & DIGIT) return this.#numbered(from) || this.#digits(from, end, to);
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

  /** E-mail, paths, names with dots, long hexadecimal; 0 where it is none of them. */
  #named(from: number, end: number, to: number): number {
    const last = this.#last;
    if (this.#at && last - from > 2) return this.#variable(from, end, EMAIL);
    if (this.#slashes > 1 || (this.#slashes === 1 && (this.text.charCodeAt(from) === 47 || this.#dots > 0)))
      return this.#path(from, end, to);
    if (this.#dots > 1 && isName(this.text, from, last)) return this.#variable(from, last, NAME);
    if (this.#hex) return this.#variable(from, end, HEX);
    return 0;
  }

  /** Names of months and days in dates, and what an equals sign assigns; 0 where it is neither. */
  #plain(from: number, end: number, to: number): number {
    if (end - from === 3 && isDate(this.text, end, to)) return this.#variable(from, end, TIME);
    return from > 0 && this.text.charCodeAt(from - 1) === 61 ? this.#assigned(from, end, to) : 0;
  }

  /** The end of a missing value or of an object (`Name{…}`) after an equals sign; 0 where it is neither. */
  #assigned(from: number, end: number, to: number): number {
    const { text } = this;
    if (isMissing(text, from, end)) return this.#variable(from, end, VALUE);
    const after = text.charCodeAt(end) === 123 ? objectEnd(text, end, to) : 0;
    return after > 0 ? this.#variable(from, after, VALUE) : 0;
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
    if (classAt(text, colon + 1) & DIGIT && (text.startsWith('localhost:', from) || isHost(text, from, colon)))
      return this.#variable(from, colon, ADDRESS);
    const after = this.#hex && colon - from <= 4 ? addressEnd(text, from, colon, to) : 0;
    return after > 0 ? this.#variable(from, after, ADDRESS) : 0;
  }

  /** Up to where URLs and paths of drives end. */
  #url(from: number, colon: number, to: number, kind: number): number {
    const { text } = this;
    let index = urlEnd(text, colon + 1, to);
    while (index > colon + 3 && (text.charCodeAt(index - 1) === 44 || text.charCodeAt(index - 1) === 59)) index--;
    return this.#variable(from, index, kind);
  }

  /** A path, with its query. */
  #path(from: number, end: number, to: number): number {
    return this.#variable(from, this.#query ? urlEnd(this.text, end, to) : end, PATH);
  }

  /** The index of the number of a numbered word, as in `core.2275`, which is read next; 0 where it is none. */
  #numbered(from: number): number {
    const { text } = this;
    if (this.#dots !== 1 || !(this.#seen & LETTER)) return 0;
    const stem = stemEnd(text, from, this.#last);
    if (stem === 0) return 0;
    this.#run(from, stem);
    return this.#literal(from, stem) + 1;
  }

  #digits(from: number, end: number, to: number): number {
    const kind = this.#seen & LETTER ? this.#mixedKind(from, end) : this.#numericKind();
    if (kind === PATH) return this.#path(from, end, to);
    return this.#variable(from, kind === NUMBER ? unitEnd(this.text, end, to) : end, kind);
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

  #literal(from: number, end: number): number {
    const last = this.#last;
    // A list of values with the same word behind each is as one of them.
    if (this.#repeats(this.#hash)) {
      this.count -= 2;
      this.ends[this.count - 1] = this.ends[this.count + 1] as number;
    }
    this.#constant(from, last, this.#hash);
    return end;
  }

  /** Whether a word and a variable stand before the last token, which are the same as the last one and this. */
  #repeats(hash: number): boolean {
    const { count, hashes } = this;
    if (count < 3 || hashes[count - 2] !== hash) return false;
    return hashes[count - 1] === hashes[count - 3] && (hash === VARIABLE) !== (hashes[count - 1] === VARIABLE);
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
      // So is a list of values with the same word before each.
      if (this.#repeats(VARIABLE)) {
        this.count--;
        this.ends[this.count - 1] = to;
        return to;
      }
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
