/**
 * Splits a log body into words and variables, in one pass and without backtracking.
 *
 * A variable is recognized by its form alone: anything with a digit (numbers, hexadecimal, UUIDs, addresses, times),
 * URLs, paths, names with dots or an at sign, quoted text. The words and their order distinguish log statements; values
 * between them may be absent or present (an address with or without its name, `2451 bytes (2.39 KB)`, a list of any
 * length). All variables between two words therefore form one variable, with the punctuation around them. Punctuation
 * alone is not significant.
 */

import { BodyText } from './body-text.ts';
import { type Field, type Keyed, keyHash, Pairs, readJson, readLogfmt } from './keyed.ts';
import {
  addressEnd,
  characters,
  closes,
  isDate,
  isHost,
  isMissing,
  isName,
  isOpeningBracket,
  isRequest,
  isWordAt,
  listEnd,
  objectEnd,
  rangeEnd,
  stemEnd,
  unitEnd,
  urlEnd,
} from './spans.ts';

/** Form of a variable. The first variable of a list determines the kind of the list. */
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

/** Hash of every variable; no word has it */
export const VARIABLE = 0;
/** Hash of a position of a pattern that accepts both words and variables */
export const ANY = 1;
/** Maximum number of words and variables of one body; the remainder does not distinguish patterns */
export const MAX_TOKENS = 96;

// Local copies for the inner loop: access to imported names takes 25% longer.
const { SPACE, LETTER, DIGIT, JOINT, HEXADECIMAL, AT, QUERY, classes } = characters;
const classAt = (codes: Uint16Array, index: number): number => classes[codes[index] as number] as number;

const mix = (hash: number, value: number): number => Math.imul(hash ^ value, 0x01000193);
const scramble = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return once ^ (once >>> 13);
};

/** Increment for slashes, which counts dots and slashes in one number */
const SLASH = 0x2000;
const counted = new Uint16Array(128);
counted[46] = 1;
counted[47] = counted[92] = SLASH;
const dotsIn = (counts: number): number => counts & (SLASH - 1);
const slashesIn = (counts: number): number => counts >>> 13;

/** Hash of an empty run of characters */
const SEED = 0x811c9dc5 | 0;

/** Returns the hash of a word, which differs from the reserved hashes. */
const ofWord = (hash: number): number => (hash === VARIABLE || hash === ANY ? 2 : hash);

/** A body that may be text in the wire format */
export interface WireBody {
  readonly body: string;
  /** Passes the bytes of a text body to `inspect` and returns its result; false if the body is not text. */
  inspectBody(inspect: (bytes: Uint8Array, from: number, to: number) => boolean): boolean;
}

/** Tokens of one body. An instance is reused: `read` overwrites it. */
export class Tokens implements Keyed {
  /** Number of tokens */
  count = 0;
  /** For each token: `VARIABLE` or the hash of the word */
  readonly hashes = new Int32Array(MAX_TOKENS);
  readonly starts = new Int32Array(MAX_TOKENS);
  readonly ends = new Int32Array(MAX_TOKENS);
  readonly kinds = new Uint8Array(MAX_TOKENS);
  form: Keyed['form'] = 'text';
  readonly ofJson: Field[] = [];
  readonly pairs = new Pairs();
  message = '';
  /** Equal for bodies with the same words at the same positions */
  shape = 0;
  /** Equal for bodies with the same number of tokens */
  structure = 0;

  readonly #body = new BodyText();
  /** Character codes to which `starts` and `ends` refer */
  readonly codes = this.#body.codes;
  /** End of the current line */
  #end = 0;
  /** Hash of the punctuation before the first token, which distinguishes bodies without words */
  #marks = 0;
  /**
   * Brackets and quotes since the last token, those opened within the token, and those closed after it but opened
   * before
   */
  #opened = 0;
  #within = 0;
  #closed = 0;
  #noDouble = false;
  #noSingle = false;
  /** Whether the next quote closes an HTTP request */
  #inRequest = false;
  /**
   * Properties of the last run: its character classes, whether all are hexadecimal, and its number of dots and slashes
   */
  #seen = 0;
  #hex = false;
  #counts = 0;
  /** For a word: end and hash up to its last letter */
  #last = 0;
  #hash = 0;

  /** Reads a body: by its keys if it is a JSON object or logfmt, otherwise as text. */
  read(body: string | WireBody): void {
    // Setting the length is slower than many of the following steps.
    if (this.ofJson.length > 0) this.ofJson.length = 0;
    this.form = 'text';
    this.message = '';
    if (typeof body === 'string') this.#readString(body);
    else if (!body.inspectBody(this.#readBytes)) this.#readString(body.body);
    this.#reset();
    const { start, end } = this.#body;
    this.#end = end;
    this.#scan(start, end);
    this.#seal();
  }

  readonly #readBytes = (bytes: Uint8Array, from: number, to: number): boolean => this.#body.readBytes(bytes, from, to);

  #readString(body: string): void {
    this.#body.read(readJson(body, this) ?? readLogfmt(body, this) ?? body);
  }

  #reset(): void {
    this.count = 0;
    this.#marks = 0;
    this.#opened = 0;
    this.#within = 0;
    this.#closed = 0;
    this.#noDouble = false;
    this.#noSingle = false;
    this.#inRequest = false;
  }

  /** Returns the fields of a JSON or logfmt body, except the message. */
  get fields(): readonly Field[] {
    return this.form === 'logfmt' ? this.pairs.fields() : this.ofJson;
  }

  value(index: number): string {
    return this.#body.text.slice(this.starts[index], this.ends[index]);
  }

  /** Returns the text before token `index`, or after the last token. */
  gap(index: number): string {
    // Text after the last token within the limit is ignored.
    if (index === MAX_TOKENS) return '';
    const { text } = this.#body;
    const from = index === 0 ? 0 : (this.ends[index - 1] as number);
    const end = Math.min(index < this.count ? this.#shownTo(index, from) : this.#end, from + 64);
    // Most gaps are one space, or empty.
    if (end <= from) return '';
    const first = text.charCodeAt(from);
    if (end === from + 1 && first < 128) return first === 32 || (first > 8 && first < 14) ? ' ' : text.charAt(from);
    return text.slice(from, end).replace(/\s+/g, ' ');
  }

  /** Returns the end of the text between `from` and a token. "<1" is a number, so its sign is not punctuation. */
  #shownTo(index: number, from: number): number {
    const start = this.starts[index] as number;
    return this.hashes[index] === VARIABLE && start > from && this.codes[start - 1] === 60 ? start - 1 : start;
  }

  /** Returns the full text, with `mark` for each variable. */
  masked(mark: string): string {
    const { text } = this.#body;
    let masked = '';
    /** Start of the literal text that is not copied yet. */
    let run = 0;
    for (let index = 0; index < this.count; index++) {
      const before = index === 0 ? 0 : (this.ends[index - 1] as number);
      const start = this.starts[index] as number;
      if (!this.#isPlain(before, start)) {
        masked += text.slice(run, before) + this.gap(index);
        run = start;
      }
      if (this.hashes[index] !== VARIABLE) continue;
      if (run < start) masked += text.slice(run, this.#shownTo(index, before));
      masked += mark;
      run = this.ends[index] as number;
    }
    const last = this.count === 0 ? 0 : (this.ends[this.count - 1] as number);
    return masked + text.slice(run, last) + this.gap(this.count);
  }

  /** Returns whether a gap is displayed unchanged, whatever token follows. */
  #isPlain(from: number, to: number): boolean {
    const length = to - from;
    if (length < 0 || length > 64) return false;
    let before = 0;
    for (let at = from; at < to; at++) {
      const code = this.codes[at] as number;
      if (code < 32 || code > 126 || (code === 32 && before === 32)) return false;
      before = code;
    }
    return true;
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
    // A sum, so that the order of keys is not significant.
    let keys = this.form.length;
    if (this.form === 'logfmt') keys = (keys + this.pairs.hashes) | 0;
    for (const [name] of this.ofJson) keys = (keys + keyHash(name)) | 0;
    if (this.message !== '') keys ^= keyHash(this.message);
    if (words === 0) keys = mix(keys, this.#marks);
    const structure = scramble(mix(scramble(this.count), keys));
    shape = scramble(mix(shape, structure));
    this.structure = structure;
    this.shape = (shape >>> 0) * 0x20_0000 + (scramble(other) >>> 11);
  }

  #scan(from: number, to: number): void {
    const codes = this.codes;
    let index = from;
    while (index < to && this.count < MAX_TOKENS) {
      const kind = classAt(codes, index);
      if (kind === SPACE) index++;
      else if (kind & LETTER) index = this.#readLetters(index, to);
      else if (kind & DIGIT) index = this.#value(index, index, to, HEXADECIMAL);
      else if (kind !== 0) index = this.#word(index, index, to, SEED);
      else index = this.#punctuation(index, to);
    }
  }

  /** Reads a run that begins with letters; most words consist of nothing else. */
  #readLetters(from: number, to: number): number {
    const codes = this.codes;
    let index = from;
    let hash = SEED;
    let common: number = HEXADECIMAL;
    let code = 0;
    let kind: number = LETTER;
    for (; index < to; index++) {
      code = codes[index] as number;
      kind = classes[code] as number;
      if ((kind & LETTER) === 0) break;
      common &= kind;
      hash = mix(hash, code);
    }
    this.#seen = LETTER;
    this.#counts = 0;
    if (kind & DIGIT) return this.#value(from, index, to, common);
    this.#hex = common !== 0;
    if (kind & JOINT) return this.#word(from, index, to, hash);
    this.#last = index;
    this.#hash = ofWord(hash);
    if (code === 58 || code === 91) return this.#ended(from, index, to);
    if (common !== 0 && index - from >= 8) return this.#variable(from, index, HEX);
    return this.#plain(from, index, to) || this.#literal(from, index);
  }

  #punctuation(index: number, to: number): number {
    const code = this.codes[index] as number;
    const after = this.#span(index, to, code);
    if (after > 0) return after;
    this.#mark(code);
    if (isOpeningBracket(code)) this.#opened++;
    else if (closes(code)) this.#close(index + 1);
    return index + 1;
  }

  /** Returns the index after a value that begins with this punctuation; 0 if there is none. */
  #span(index: number, to: number, code: number): number {
    const codes = this.codes;
    if (code === 34 || code === 39) return this.#quoted(index, to, code);
    if (code === 91 || code === 40) return this.#list(index, to);
    const next = index + 1 < to ? classAt(codes, index + 1) : SPACE;
    // "<1 sec" is a number.
    if (code === 60 && next & DIGIT) return this.#value(index + 1, index + 1, to, HEXADECIMAL);
    // "::1" and "::ffff:192.0.2.1" are addresses.
    if (code !== 58 || codes[index + 1] !== 58 || this.#isLetter(index - 1)) return 0;
    const end = addressEnd(codes, index, index, to);
    return end > 0 ? this.#variable(index, end, ADDRESS) : 0;
  }

  /** Returns the index of the end of a list; 0 if there is none. */
  #list(open: number, to: number): number {
    const close = listEnd(this.codes, open, to);
    if (close === 0) return 0;
    this.#mark(this.codes[open] as number);
    this.#opened++;
    return this.#variable(open + 1, close, classAt(this.codes, open + 1) & DIGIT ? NUMBER : VALUE);
  }

  #mark(code: number): void {
    if (this.count === 0) this.#marks = mix(this.#marks, code);
  }

  /**
   * Handles a bracket or quote that closes before `end`. If it was opened after or within a variable, it is part of
   * that variable.
   */
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

  /** Returns the index after quoted text; 0 if the quote is only punctuation. */
  #quoted(index: number, to: number, code: number): number {
    const codes = this.codes;
    if (this.#closesRequest(code) || (code === 34 ? this.#noDouble : this.#noSingle)) return 0;
    let close = index + 1;
    while (close < to && codes[close] !== code) close++;
    if (close === to) {
      if (code === 34) this.#noDouble = true;
      else this.#noSingle = true;
      return 0;
    }
    if (close === index + 1 || (code === 39 && (this.#isLetter(index - 1) || this.#isLetter(close + 1)))) return 0;
    if (isRequest(codes, index + 1)) {
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
    return index >= 0 && index < this.#end && (classAt(this.codes, index) & (LETTER | DIGIT)) !== 0;
  }

  #closesRequest(code: number): boolean {
    const closes = code === 34 && this.#inRequest;
    if (closes) this.#inRequest = false;
    return closes;
  }

  /** Reads a run with punctuation, which may begin with letters up to `start`, with the hash `lettersHash`. */
  #word(from: number, start: number, to: number, lettersHash: number): number {
    const codes = this.codes;
    let index = start;
    let seen = 0;
    let counts = 0;
    let hash = lettersHash;
    let last = start;
    let lastHash = lettersHash;
    let kind = 0;
    for (; index < to; index++) {
      const code = codes[index] as number;
      kind = classes[code] as number;
      if ((kind & (LETTER | JOINT)) === 0) break;
      seen |= kind;
      // Two dots separate a name from its value: `enable...0`.
      if (code === 46 && codes[index + 1] === 46) break;
      hash = mix(hash, code);
      if (kind & JOINT) counts += counted[code] as number;
      else {
        last = index + 1;
        lastHash = hash;
      }
    }
    this.#seen = start > from ? seen | LETTER : seen;
    this.#counts = counts;
    if (kind & DIGIT) return this.#value(from, index, to, 0);
    this.#hex = false;
    this.#last = last;
    this.#hash = ofWord(lastHash);
    return this.#ended(from, index, to);
  }

  /**
   * Reads a run with a digit at `start`, which is not a word. The part before it is in the fields; `before` contains
   * the common character classes.
   */
  #value(from: number, start: number, to: number, before: number): number {
    const codes = this.codes;
    let index = start;
    let seen = start > from ? this.#seen : 0;
    let counts = start > from ? this.#counts : 0;
    let common = before;
    for (; index < to; index++) {
      const code = codes[index] as number;
      const kind = classes[code] as number;
      if ((kind & (LETTER | DIGIT | JOINT)) === 0) break;
      common &= kind;
      if (kind & JOINT) {
        if (code === 46 && codes[index + 1] === 46) break;
        counts += counted[code] as number;
      }
      seen |= kind;
    }
    this.#seen = seen;
    this.#counts = counts;
    this.#hex = common !== 0;
    return this.#bracketed(from, index, to) || this.#numbered(from, index) || this.#digits(from, index, to);
  }

  /** Returns the index after a value that continues after a colon or bracket at `end`; 0 if it does not. */
  #bracketed(from: number, end: number, to: number): number {
    const code = this.codes[end] as number;
    if (code === 58) return this.#colon(from, end, to);
    const after = code === 91 ? rangeEnd(this.codes, end, to) : 0;
    return after > 0 ? this.#variable(from, after, ID) : 0;
  }

  /** Handles a run without a digit. */
  #ended(from: number, end: number, to: number): number {
    if ((this.#seen & LETTER) === 0) return this.#joints(from, to);
    const after = this.#bracketed(from, end, to);
    if (after > 0) return after;
    const named = this.#seen & JOINT || end - from >= 8 ? this.#named(from, end, to) : 0;
    return named || this.#plain(from, end, to) || this.#literal(from, end);
  }

  /** Recognizes email addresses, paths, names with dots, and long hexadecimal numbers; returns 0 for others. */
  #named(from: number, end: number, to: number): number {
    const last = this.#last;
    const dots = dotsIn(this.#counts);
    const slashes = slashesIn(this.#counts);
    if (last - from > 2 && this.#hasAt(from, end)) return this.#variable(from, end, EMAIL);
    if (slashes > 1 || (slashes === 1 && (this.codes[from] === 47 || dots > 0))) return this.#path(from, end, to);
    if (dots > 1 && isName(this.codes, from, last)) return this.#variable(from, last, NAME);
    if (this.#hex) return this.#variable(from, end, HEX);
    return 0;
  }

  /** Returns whether the run contains an at sign after its beginning. */
  #hasAt(from: number, end: number): boolean {
    if ((this.#seen & AT) === 0) return false;
    let index = from + 1;
    while (index < end && this.codes[index] !== 64) index++;
    return index < end;
  }

  /** Recognizes names of months and days in dates, and values after an equals sign; returns 0 for others. */
  #plain(from: number, end: number, to: number): number {
    if (end - from === 3 && isDate(this.codes, end, to)) return this.#variable(from, end, TIME);
    return from > 0 && this.codes[from - 1] === 61 ? this.#assigned(from, end, to) : 0;
  }

  /** Returns the end of a missing value or of an object (`Name{…}`) after an equals sign; 0 for others. */
  #assigned(from: number, end: number, to: number): number {
    const codes = this.codes;
    if (isMissing(codes, from, end)) return this.#variable(from, end, VALUE);
    const after = codes[end] === 123 ? objectEnd(codes, end, to) : 0;
    return after > 0 ? this.#variable(from, after, VALUE) : 0;
  }

  /** Reads `...`, `-->` or `***`: punctuation, which may also be a placeholder of a value in a list. */
  #joints(from: number, to: number): number {
    const codes = this.codes;
    let stars = 0;
    let index = from;
    for (; index < to && classAt(codes, index) & JOINT; index++) if (codes[index] === 42) stars++;
    if (stars > 2 && stars === index - from) return this.#variable(from, index, VALUE);
    for (let joint = from; joint < index; joint++) this.#mark(codes[joint] as number);
    return index;
  }

  /**
   * Recognizes URLs, drives, hosts with ports and hexadecimal addresses, which contain colons; returns 0 for others.
   */
  #colon(from: number, colon: number, to: number): number {
    const codes = this.codes;
    const next = codes[colon + 1];
    if (next === 47 && codes[colon + 2] === 47 && slashesIn(this.#counts) === 0) return this.#url(from, colon, to, URL);
    if (next === 92 && colon - from === 1) return this.#url(from, colon, to, PATH);
    if (classAt(codes, colon + 1) & DIGIT && (isWordAt(codes, from, 'localhost:') || isHost(codes, from, colon)))
      return this.#variable(from, colon, ADDRESS);
    const after = this.#hex && colon - from <= 4 ? addressEnd(codes, from, colon, to) : 0;
    return after > 0 ? this.#variable(from, after, ADDRESS) : 0;
  }

  /** Returns the end of a URL or a path with a drive. */
  #url(from: number, colon: number, to: number, kind: number): number {
    const codes = this.codes;
    let index = urlEnd(codes, colon + 1, to);
    while (index > colon + 3 && (codes[index - 1] === 44 || codes[index - 1] === 59)) index--;
    return this.#variable(from, index, kind);
  }

  /** Reads a path with its query. */
  #path(from: number, end: number, to: number): number {
    return this.#variable(from, this.#seen & QUERY ? urlEnd(this.codes, end, to) : end, PATH);
  }

  /** Returns the index of the number in a numbered word such as `core.2275`, which is read next; 0 if there is none. */
  #numbered(from: number, end: number): number {
    const codes = this.codes;
    if (dotsIn(this.#counts) !== 1 || !(this.#seen & LETTER)) return 0;
    let last = end;
    while (classAt(codes, last - 1) & JOINT) last--;
    const stem = stemEnd(codes, from, last);
    if (stem === 0) return 0;
    this.#stem(from, stem);
    return this.#literal(from, stem) + 1;
  }

  /** Reads letters and `_`. */
  #stem(from: number, to: number): void {
    let hash = SEED;
    this.#last = from;
    this.#hash = 0;
    for (let index = from; index < to; index++) {
      hash = mix(hash, this.codes[index] as number);
      if ((classAt(this.codes, index) & LETTER) === 0) continue;
      this.#last = index + 1;
      this.#hash = hash;
    }
    this.#hash = ofWord(this.#hash);
  }

  #digits(from: number, end: number, to: number): number {
    const kind = this.#seen & LETTER ? this.#mixedKind(from, end) : this.#numericKind();
    if (kind === PATH) return this.#path(from, end, to);
    return this.#variable(from, kind === NUMBER ? unitEnd(this.codes, end, to) : end, kind);
  }

  #numericKind(): number {
    if (slashesIn(this.#counts) > 0) return TIME;
    return dotsIn(this.#counts) === 3 ? ADDRESS : NUMBER;
  }

  #mixedKind(from: number, end: number): number {
    const codes = this.codes;
    if (this.#hasAt(from, end)) return EMAIL;
    if (slashesIn(this.#counts) > 0) return PATH;
    if (this.#hex || (codes[from] === 48 && codes[from + 1] === 120)) return HEX;
    if (end - from === 36 && codes[from + 8] === 45 && codes[from + 13] === 45) return UUID;
    return dotsIn(this.#counts) > 1 ? ADDRESS : ID;
  }

  #literal(from: number, end: number): number {
    const last = this.#last;
    // A list of values that are each followed by the same word counts as one of them.
    if (this.#repeats(this.#hash)) {
      this.count -= 2;
      this.ends[this.count - 1] = this.ends[this.count + 1] as number;
    }
    this.#constant(from, last, this.#hash);
    return end;
  }

  /** Returns whether the word and variable before the last token equal the last token and this one. */
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

  /** Adds a variable, or extends the preceding one. Returns `to`. */
  #variable(from: number, to: number, kind: number): number {
    const before = this.count - 1;
    if (before < 0 || this.hashes[before] !== VARIABLE) {
      // The same applies to a list of values that are each preceded by the same word.
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
    for (; this.#closed > 0; this.#closed--)
      if (start > 0 && isOpeningBracket(this.codes[start - 1] as number)) start--;
    this.starts[before] = start;
    return to;
  }
}
