/**
 * Splits a log body into words and variables, in one pass and without backtracking.
 *
 * A variable is recognized by its form alone: anything with a digit (numbers, hexadecimal, UUIDs, addresses, times),
 * URLs, paths, names with dots or an at sign, quoted text. The words and their order distinguish log statements; values
 * between them may be absent or present (an address with or without its name, `2451 bytes (2.39 KB)`, a list of any
 * length). All variables between two words therefore form one variable, with the punctuation around them. Punctuation
 * alone is not significant.
 *
 * Names of technology with a digit (`s3`, `utf8mb4`, `HTTP 404`) are words. Letters outside ASCII form no ids, so digits
 * next to them are variables, and the letters words: `订单12支付失败` has two words. If a body has no word, the letters
 * of its values are words (`order-12-failed`, `"disk full"`), because a pattern needs constant text.
 */

import { BodyText } from './body-text.ts';
import { hashKey, type KeyedBody, type KeyValue, LogfmtPairs, readJson, readLogfmt } from './keyed-body.ts';
import {
  characters,
  findAddressEnd,
  findDescriptionEnd,
  findForeignQuoteEnd,
  findListEnd,
  findNumberedNameEnd,
  findObjectEnd,
  findQuoteEnd,
  findRangeEnd,
  findStemEnd,
  findUnitEnd,
  findUrlEnd,
  isAnnouncedUnit,
  isClosingBracket,
  isDatePart,
  isFieldAt,
  isHost,
  isHttpRequest,
  isHttpStatus,
  isMissingValue,
  isName,
  isOpeningBracket,
  isPicture,
  isTechnicalWord,
  isUnitName,
  isWordAt,
  isWordLike,
  MAX_TECHNICAL_WORD,
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

/** Kinds of variables whose letters may be words, as bits */
const kindsWithWords = (1 << PATH) | (1 << QUOTED) | (1 << NAME) | (1 << ID) | (1 << VALUE);

export const toVariableKind = (code: number): VariableKind => kinds[code] ?? 'value';

/** Hash of every variable; no word has it */
export const VARIABLE = 0;
/** Hash of a position of a pattern that accepts both words and variables */
export const ANY = 1;
/** Maximum number of words and variables of one body; the remainder does not distinguish patterns */
export const MAX_TOKENS = 96;

// Local copies for the inner loop: access to imported names takes 25% longer.
const { SPACE, LETTER, DIGIT, JOINT, HEXADECIMAL, AT, QUERY, FOREIGN, classes } = characters;
const getClassAt = (codes: Uint16Array, index: number): number => classes[codes[index] as number] as number;

const mix = (hash: number, value: number): number => Math.imul(hash ^ value, 0x01000193);
const scramble = (hash: number): number => {
  const mixedOnce = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return mixedOnce ^ (mixedOnce >>> 13);
};

/** Increment for slashes, which counts dots and slashes in one number */
const SLASH = 0x2000;
const punctuationCounts = new Uint16Array(128);
punctuationCounts[46] = 1;
punctuationCounts[47] = punctuationCounts[92] = SLASH;
const getDotCount = (counts: number): number => counts & (SLASH - 1);
const getSlashCount = (counts: number): number => counts >>> 13;

/** Last code of the blocks after ASCII with Latin letters and their accents */
const LAST_LATIN = 0x36f;

/** Maximum length of the text before a variable that `maskVariables` passes on */
const MAX_TEXT_BEFORE = 32;
/** Maximum number of tokens of a body without words; variables next to each other are one */
const MAX_TOKENS_WITHOUT_WORD = 4;
/** Minimum number of digits and letters from `a` to `f` that are not code such as `E1001` */
const MIN_HEX_ID = 8;

/** Hash of an empty run of characters */
const SEED = 0x811c9dc5 | 0;

/** Returns the hash of a word, which differs from the reserved hashes. */
const toWordHash = (hash: number): number => (hash === VARIABLE || hash === ANY ? 2 : hash);

/** A body that may be text in the wire format */
export interface WireBody {
  readonly body: string;
  /** Passes the bytes of a text body to `inspect` and returns its result; false if the body is not text. */
  inspectBody(inspect: (bytes: Uint8Array, from: number, to: number) => boolean): boolean;
}

/** Tokens of one body. An instance is reused: `read` overwrites it. */
export class Tokens implements KeyedBody {
  /** Number of tokens */
  count = 0;
  /** For each token: `VARIABLE` or the hash of the word */
  readonly hashes = new Int32Array(MAX_TOKENS);
  readonly starts = new Int32Array(MAX_TOKENS);
  readonly ends = new Int32Array(MAX_TOKENS);
  readonly kinds = new Uint8Array(MAX_TOKENS);
  form: KeyedBody['form'] = 'text';
  readonly jsonFields: KeyValue[] = [];
  readonly pairs = new LogfmtPairs();
  message = '';
  /** Equal for bodies with the same words at the same positions */
  shapeHash = 0;
  /** Equal for bodies with the same number of tokens */
  structure = 0;

  readonly #body = new BodyText();
  /** Character codes to which `starts` and `ends` refer */
  readonly codes = this.#body.codes;
  /** End of the current line */
  #end = 0;
  /** Hash of the punctuation before the first token, which distinguishes bodies without words */
  #leadingPunctuationHash = 0;
  /**
   * Number of brackets and quotes that were opened since the last token, opened within it, and closed after it but
   * opened before it
   */
  #openedSinceToken = 0;
  #openedWithinToken = 0;
  #closedAfterToken = 0;
  #hasNoClosingDoubleQuote = false;
  #hasNoClosingSingleQuote = false;
  /** Whether the next quote closes an HTTP request or a message, whose words distinguish bodies */
  #isInWordsInQuotes = false;
  /** Kinds of all variables, as bits */
  #seenKinds = 0;
  /** Whether letters of values are words, because the body has no other words */
  #hasWordsInValues = false;
  /**
   * Properties of the last run: its character classes, whether all its characters are hexadecimal, and its numbers of
   * dots and slashes
   */
  #runClasses = 0;
  #isHex = false;
  #dotAndSlashCounts = 0;
  /** For a word: end and hash up to its last letter */
  #wordEnd = 0;
  #wordHash = 0;

  /** Reads a body: by its keys if it is a JSON object or logfmt, otherwise as text. */
  read(body: string | WireBody): void {
    // The length is set only if needed, because setting it is slower than many of the following steps.
    if (this.jsonFields.length > 0) this.jsonFields.length = 0;
    this.form = 'text';
    this.message = '';
    if (typeof body === 'string') this.#readString(body);
    else if (!body.inspectBody(this.#readBytes)) this.#readString(body.body);
    this.#end = this.#body.end;
    this.#hasWordsInValues = false;
    this.#scanBody();
    if (this.#hasNoWord()) this.#scanWordsInValues();
    this.#computeHashes();
  }

  /** Scans a body without a word again: letters of its values are words. Values without words remain variables. */
  #scanWordsInValues(): void {
    this.#hasWordsInValues = true;
    this.#scanBody();
    if (!this.#hasNoWord()) return;
    this.#hasWordsInValues = false;
    this.#scanBody();
  }

  #scanBody(): void {
    this.#reset();
    this.#scan(this.#body.start, this.#end);
  }

  /** Returns whether there are only variables and pictures, and values that may have words. */
  #hasNoWord(): boolean {
    if (this.count > MAX_TOKENS_WITHOUT_WORD || (this.#seenKinds & kindsWithWords) === 0) return false;
    for (let index = 0; index < this.count; index++)
      if (this.hashes[index] !== VARIABLE && !isPicture(this.codes[this.starts[index] as number] as number))
        return false;
    return true;
  }

  readonly #readBytes = (bytes: Uint8Array, from: number, to: number): boolean => this.#body.readBytes(bytes, from, to);

  #readString(body: string): void {
    this.#body.readText(readJson(body, this) ?? readLogfmt(body, this) ?? body);
  }

  #reset(): void {
    this.count = 0;
    this.#leadingPunctuationHash = 0;
    this.#openedSinceToken = 0;
    this.#openedWithinToken = 0;
    this.#closedAfterToken = 0;
    this.#hasNoClosingDoubleQuote = false;
    this.#hasNoClosingSingleQuote = false;
    this.#isInWordsInQuotes = false;
    this.#seenKinds = 0;
  }

  /** Returns the fields of a JSON or logfmt body, except the message. */
  get fields(): readonly KeyValue[] {
    return this.form === 'logfmt' ? this.pairs.fields() : this.jsonFields;
  }

  value(index: number): string {
    return this.#body.text.slice(this.starts[index], this.ends[index]);
  }

  /** Returns the text before token `index`, or after the last token. */
  readGap(index: number): string {
    // If the number of tokens reaches the limit, the text after the last one is ignored.
    if (index === MAX_TOKENS) return '';
    const { text } = this.#body;
    const from = index === 0 ? 0 : (this.ends[index - 1] as number);
    const end = Math.min(index < this.count ? this.#findGapEnd(index, from) : this.#end, from + 64);
    // Most gaps are one space, or empty.
    if (end <= from) return '';
    const first = text.charCodeAt(from);
    if (end === from + 1 && first < 128) return first === 32 || (first > 8 && first < 14) ? ' ' : text.charAt(from);
    return text.slice(from, end).replace(/\s+/g, ' ');
  }

  /** Returns the end of the text between `from` and a token. "<1" is a number, so its sign is not punctuation. */
  #findGapEnd(index: number, from: number): number {
    const start = this.starts[index] as number;
    return this.hashes[index] === VARIABLE && start > from && this.codes[start - 1] === 60 ? start - 1 : start;
  }

  /**
   * Returns the full text, with `mark` for each variable. For ids, and for numbers that may be a status or code,
   * `toMark` returns the mark; it receives the value and the text before it.
   */
  maskVariables(placeholder: string, toMark?: (value: string, before: string) => string): string {
    const { text } = this.#body;
    let maskedText = '';
    /** Start of the literal text that is not copied yet. */
    let run = 0;
    for (let index = 0; index < this.count; index++) {
      const gap = index === 0 ? 0 : (this.ends[index - 1] as number);
      const start = this.starts[index] as number;
      if (!this.#isPlain(gap, start)) {
        maskedText += text.slice(run, gap) + this.readGap(index);
        run = start;
      }
      if (this.hashes[index] !== VARIABLE) continue;
      if (run < start) maskedText += text.slice(run, this.#findGapEnd(index, gap));
      const end = this.ends[index] as number;
      if (toMark !== undefined && this.#mayDescribe(index, start, end))
        maskedText += toMark(text.slice(start, end), text.slice(Math.max(0, start - MAX_TEXT_BEFORE), start));
      else maskedText += placeholder;
      run = end;
    }
    const last = this.count === 0 ? 0 : (this.ends[this.count - 1] as number);
    return maskedText + text.slice(run, last) + this.readGap(this.count);
  }

  /** Returns whether a variable is an id, a short number, or begins with a number of three digits. */
  #mayDescribe(index: number, start: number, end: number): boolean {
    const kind = this.kinds[index];
    if (kind !== NUMBER) return kind === ID && end - start > 4;
    return end - start < 6 || (getClassAt(this.codes, start + 3) & (DIGIT | LETTER)) === 0;
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

  #computeHashes(): void {
    let shape = 7;
    let secondHash = 0x811c9dc5;
    let words = 0;
    for (let index = 0; index < this.count; index++) {
      const hash = this.hashes[index] as number;
      if (hash !== VARIABLE) words++;
      shape = scramble(mix(shape, hash));
      secondHash = Math.imul(secondHash ^ hash, 0x85ebca6b) ^ (secondHash >>> 13);
    }
    // A sum, so that the order of keys is not significant.
    let keys = this.form.length;
    if (this.form === 'logfmt') keys = (keys + this.pairs.hashSum) | 0;
    for (const [name] of this.jsonFields) keys = (keys + hashKey(name)) | 0;
    if (this.message !== '') keys ^= hashKey(this.message);
    if (words === 0) keys = mix(keys, this.#leadingPunctuationHash);
    const structure = scramble(mix(scramble(this.count), keys));
    shape = scramble(mix(shape, structure));
    this.structure = structure;
    this.shapeHash = (shape >>> 0) * 0x20_0000 + (scramble(secondHash) >>> 11);
  }

  #scan(from: number, to: number): void {
    const codes = this.codes;
    let index = from;
    while (index < to && this.count < MAX_TOKENS) {
      const kind = getClassAt(codes, index);
      if (kind === SPACE) index++;
      else if (kind & LETTER) index = this.#readLetters(index, to);
      else if (kind & DIGIT) index = this.#readValue(index, index, to, HEXADECIMAL);
      else if (kind !== 0) index = this.#readWord(index, index, to, SEED);
      else index = this.#readPunctuation(index, to);
    }
  }

  /** Reads a run that begins with letters; most words consist of nothing else. */
  #readLetters(from: number, to: number): number {
    const codes = this.codes;
    let index = from;
    let hash = SEED;
    let common: number = HEXADECIMAL;
    let seenClasses: number = LETTER;
    let code = 0;
    let kind: number = LETTER;
    for (; index < to; index++) {
      code = codes[index] as number;
      kind = classes[code] as number;
      if ((kind & LETTER) === 0) break;
      common &= kind;
      seenClasses |= kind;
      hash = mix(hash, code);
    }
    this.#runClasses = seenClasses & (LETTER | FOREIGN);
    this.#dotAndSlashCounts = 0;
    if (kind & DIGIT) return this.#readValue(from, index, to, common);
    this.#isHex = common !== 0;
    if (kind & JOINT) return this.#readWord(from, index, to, hash);
    this.#wordEnd = index;
    this.#wordHash = toWordHash(hash);
    if (code === 58 || code === 91 || seenClasses & FOREIGN) return this.#readWithoutDigit(from, index, to);
    const numbered = code === 40 ? findNumberedNameEnd(codes, from, index, to) : 0;
    if (numbered > 0) return this.#addVariable(from, numbered, NAME);
    if (common !== 0 && index - from >= 8) return this.#addVariable(from, index, HEX);
    return this.#readDateOrAssignment(from, index, to) || this.#addWord(from, index);
  }

  #readPunctuation(index: number, to: number): number {
    const code = this.codes[index] as number;
    const after = this.#readSpecialValue(index, to, code);
    if (after > 0) return after;
    this.#addPunctuation(code);
    if (isOpeningBracket(code)) this.#openedSinceToken++;
    else if (isClosingBracket(code)) this.#closeBracket(index + 1);
    return index + 1;
  }

  /** Returns the index after a value that begins with this punctuation; 0 if there is none. */
  #readSpecialValue(index: number, to: number, code: number): number {
    const codes = this.codes;
    if (code === 34 || code === 39) return this.#readQuoted(index, to, code);
    if (code === 91 || code === 40) return this.#readList(index, to);
    if (code > 127) return this.#readForeignQuoted(index, to, code);
    const next = index + 1 < to ? getClassAt(codes, index + 1) : SPACE;
    // "<1 sec" is a number.
    if (code === 60 && next & DIGIT) return this.#readValue(index + 1, index + 1, to, HEXADECIMAL);
    // "::1" and "::ffff:192.0.2.1" are addresses.
    if (code !== 58 || codes[index + 1] !== 58 || this.#isLetter(index - 1)) return 0;
    const end = findAddressEnd(codes, index, index, to);
    return end > 0 ? this.#addVariable(index, end, ADDRESS) : 0;
  }

  /** Returns the index of the end of a list; 0 if there is none. */
  #readList(open: number, to: number): number {
    const close = this.#hasWordsInValues ? 0 : findListEnd(this.codes, open, to);
    if (close === 0) return 0;
    this.#addPunctuation(this.codes[open] as number);
    this.#openedSinceToken++;
    return this.#addVariable(open + 1, close, getClassAt(this.codes, open + 1) & DIGIT ? NUMBER : VALUE);
  }

  #addPunctuation(code: number): void {
    if (this.count === 0) this.#leadingPunctuationHash = mix(this.#leadingPunctuationHash, code);
  }

  /**
   * Handles a bracket or quote that closes before `end`. If it was opened after or within a variable, it is part of
   * that variable.
   */
  #closeBracket(end: number): void {
    if (this.#openedSinceToken > 0) {
      this.#openedSinceToken--;
      if (this.#openedSinceToken > 0) return;
    } else if (this.#openedWithinToken > 0) this.#openedWithinToken--;
    else {
      this.#closedAfterToken++;
      return;
    }
    const last = this.count - 1;
    if (last >= 0 && this.hashes[last] === VARIABLE) this.ends[last] = end;
  }

  /** Returns the index after quoted text; 0 if the quote is only punctuation. */
  #readQuoted(index: number, to: number, code: number): number {
    const codes = this.codes;
    if (this.#isOnlyPunctuation(code, index)) return 0;
    const isMessage = code === 34 && this.#mayBeQuotedMessage(index);
    const close = findQuoteEnd(codes, index, { to, hasEscapes: isMessage || codes[index - 1] === 61 });
    if (close === to) {
      if (code === 34) this.#hasNoClosingDoubleQuote = true;
      else this.#hasNoClosingSingleQuote = true;
      return 0;
    }
    if (close === index + 1 || (code === 39 && (this.#isLetter(index - 1) || this.#isLetter(close + 1)))) return 0;
    if (isHttpRequest(codes, index + 1) || (isMessage && this.#isQuotedMessage(index, close, to))) {
      this.#isInWordsInQuotes = code === 34;
      return 0;
    }
    this.#addPunctuation(code);
    this.#openedSinceToken++;
    this.#addVariable(index + 1, close, QUOTED);
    this.#closeBracket(close + 1);
    return close + 1;
  }

  /**
   * Returns whether quoted text is the message of klog, which has fields after it: `"Pod started" pod="a/b"`. It begins
   * the body, or follows the source in a header: `server.go:23] "Synced"`.
   */
  #isQuotedMessage(open: number, close: number, to: number): boolean {
    if (close + 1 === to) return open > this.#body.start;
    return this.codes[close + 1] === 32 && isFieldAt(this.codes, close + 2, to);
  }

  #mayBeQuotedMessage(open: number): boolean {
    return open === this.#body.start || (this.codes[open - 1] === 32 && this.codes[open - 2] === 93);
  }

  /** Returns whether a quote is known to begin no quoted value. */
  #isOnlyPunctuation(code: number, index: number): boolean {
    if (this.#hasWordsInValues || this.#closesWords(code, index)) return true;
    return code === 34 ? this.#hasNoClosingDoubleQuote : this.#hasNoClosingSingleQuote;
  }

  /** Returns the index after text in quotes outside ASCII (`“…”`, `「…」`); 0 if there is none. */
  #readForeignQuoted(index: number, to: number, code: number): number {
    const close = this.#hasWordsInValues ? 0 : findForeignQuoteEnd(this.codes, index, to);
    if (close <= index + 1) return 0;
    this.#addPunctuation(code);
    return this.#addVariable(index + 1, close, QUOTED) + 1;
  }

  #isLetter(index: number): boolean {
    return index >= 0 && index < this.#end && (getClassAt(this.codes, index) & (LETTER | DIGIT)) !== 0;
  }

  #closesWords(code: number, index: number): boolean {
    const closes = code === 34 && this.#isInWordsInQuotes && this.codes[index - 1] !== 92;
    if (closes) this.#isInWordsInQuotes = false;
    return closes;
  }

  /** Reads a run with punctuation, which may begin with letters up to `start`, with the hash `lettersHash`. */
  #readWord(from: number, start: number, to: number, lettersHash: number): number {
    const codes = this.codes;
    let index = start;
    let seenClasses = 0;
    let counts = 0;
    let hash = lettersHash;
    let last = start;
    let lastHash = lettersHash;
    let kind = 0;
    for (; index < to; index++) {
      const code = codes[index] as number;
      kind = classes[code] as number;
      if ((kind & (LETTER | JOINT)) === 0) break;
      seenClasses |= kind;
      // Two dots separate a name from its value: `enable...0`.
      if (code === 46 && codes[index + 1] === 46) break;
      hash = mix(hash, code);
      if (kind & JOINT) counts += punctuationCounts[code] as number;
      else {
        last = index + 1;
        lastHash = hash;
      }
    }
    this.#runClasses = start > from ? seenClasses | this.#runClasses : seenClasses;
    this.#dotAndSlashCounts = counts;
    if (kind & DIGIT) return this.#readValue(from, index, to, 0);
    this.#isHex = false;
    this.#wordEnd = last;
    this.#wordHash = toWordHash(lastHash);
    return this.#readWithoutDigit(from, index, to);
  }

  /**
   * Reads a run with a digit at `start`, which is not a word. The private fields describe the part before `start`;
   * `before` contains the character classes that all its characters share.
   */
  #readValue(from: number, start: number, to: number, before: number): number {
    const codes = this.codes;
    let index = start;
    let seenClasses = start > from ? this.#runClasses : 0;
    let counts = start > from ? this.#dotAndSlashCounts : 0;
    let common = before;
    for (; index < to; index++) {
      const code = codes[index] as number;
      const kind = classes[code] as number;
      if ((kind & (LETTER | DIGIT | JOINT)) === 0) break;
      common &= kind;
      if (kind & JOINT) {
        if (code === 46 && codes[index + 1] === 46) break;
        counts += punctuationCounts[code] as number;
      }
      seenClasses |= kind;
    }
    this.#runClasses = seenClasses;
    this.#dotAndSlashCounts = counts;
    this.#isHex = common !== 0;
    if (seenClasses & FOREIGN) return this.#readForeign(from, index);
    return (
      this.#readColonOrBracket(from, index, to) ||
      (this.#mayBeWord(from, index) && this.#readTechnicalWord(from, index)) ||
      this.#readNumberedWord(from, index) ||
      this.#readDigits(from, index, to)
    );
  }

  /** Returns false for most values, which are not technical word, at little cost. */
  #mayBeWord(from: number, end: number): boolean {
    if (this.#runClasses & LETTER)
      return (
        end - from <= MAX_TECHNICAL_WORD && (getClassAt(this.codes, from) & DIGIT) === 0 && this.#dotAndSlashCounts < 2
      );
    return end - from < 5 && from > 4 && ((this.codes[from - 2] as number) | 32) === 112;
  }

  /** Returns the end of a technical word such as `s3` or of an HTTP status; 0 if there is none. */
  #readTechnicalWord(from: number, end: number): number {
    const codes = this.codes;
    let last = end;
    if (this.#runClasses & JOINT) while (getClassAt(codes, last - 1) & JOINT) last--;
    const isWord =
      this.#runClasses & LETTER ? isTechnicalWord(codes, from, last, this.#isHex) : isHttpStatus(codes, from, last);
    if (!isWord) return 0;
    this.#addWordOf(from, last);
    return end;
  }

  /** Adds a word of these characters, whatever they are. */
  #addWordOf(from: number, to: number): void {
    let hash = SEED;
    for (let index = from; index < to; index++) hash = mix(hash, this.codes[index] as number);
    this.#wordEnd = to;
    this.#wordHash = toWordHash(hash);
    this.#addWord(from, to);
  }

  /**
   * Reads a run with letters outside ASCII, which are words. The parts between them are read by themselves: names are
   * words (`数据库MySQL连接失败`), and what has a digit is a variable.
   */
  #readForeign(from: number, end: number): number {
    let index = from;
    while (index < end && this.count < MAX_TOKENS) {
      const start = index;
      const isOther = this.#isOtherScript(start);
      while (index < end && this.#isOtherScript(index) === isOther) index++;
      if (isOther) this.#addWordOf(start, index);
      else this.#readLatinPart(start, index);
    }
    return end;
  }

  #isOtherScript(index: number): boolean {
    return (getClassAt(this.codes, index) & FOREIGN) !== 0 && (this.codes[index] as number) > LAST_LATIN;
  }

  #hasSeveralScripts(from: number, end: number): boolean {
    const isFirst = this.#isOtherScript(from);
    for (let index = from + 1; index < end; index++) if (this.#isOtherScript(index) !== isFirst) return true;
    return false;
  }

  /** Reads a part of Latin letters, digits and joints. Digits after letters with accents are a variable. */
  #readLatinPart(from: number, end: number): void {
    const codes = this.codes;
    let seenClasses = 0;
    let common: number = HEXADECIMAL;
    let word = from;
    for (let index = from; index < end; index++) {
      const kind = getClassAt(codes, index);
      if (kind & LETTER && (seenClasses & DIGIT) === 0) word = index + 1;
      seenClasses |= kind;
      common &= kind;
    }
    if ((seenClasses & (LETTER | DIGIT)) === 0)
      for (let at = from; at < end; at++) this.#addPunctuation(codes[at] as number);
    else if (common !== 0 && end - from >= MIN_HEX_ID) this.#addVariable(from, end, HEX);
    else if ((seenClasses & DIGIT) === 0) this.#addWordOf(from, word);
    else if (seenClasses & FOREIGN && word > from) this.#readAccented(from, word, end);
    else this.#readLatinValue(from, end, (seenClasses & LETTER) !== 0);
  }

  #readLatinValue(from: number, end: number, hasLetters: boolean): void {
    if (hasLetters && isTechnicalWord(this.codes, from, end, false)) this.#addWordOf(from, end);
    else if (this.#hasWordsInValues) this.#readWordsOfValue(from, end);
    else this.#addVariable(from, end, hasLetters ? ID : NUMBER);
  }

  /** Reads letters up to `word`, and the digits and letters after them. */
  #readAccented(from: number, word: number, end: number): void {
    this.#addWordOf(from, word);
    let last = end;
    while (last > word && getClassAt(this.codes, last - 1) & LETTER) last--;
    this.#addVariable(word, last, NUMBER);
    if (last < end) this.#addWordOf(last, end);
  }

  /** Returns the index after a value that continues after a colon or bracket at `end`; 0 if it does not. */
  #readColonOrBracket(from: number, end: number, to: number): number {
    const code = this.codes[end] as number;
    if (code === 58) return this.#readColon(from, end, to);
    const after = code === 91 ? findRangeEnd(this.codes, end, to) : 0;
    return after > 0 ? this.#addVariable(from, after, ID) : 0;
  }

  /** Handles a run without a digit. */
  #readWithoutDigit(from: number, end: number, to: number): number {
    if ((this.#runClasses & LETTER) === 0) return this.#readJoints(from, to);
    const after = this.#readColonOrBracket(from, end, to);
    if (after > 0) return after;
    const valueEnd = this.#runClasses & JOINT || end - from >= 8 ? this.#readNamedValue(from, end, to) : 0;
    if (valueEnd === 0 && this.#runClasses & FOREIGN && this.#hasSeveralScripts(from, end))
      return this.#readForeign(from, end);
    return valueEnd || this.#readDateOrAssignment(from, end, to) || this.#addWord(from, end);
  }

  /** Recognizes email addresses, paths, names with dots, and long hexadecimal numbers; returns 0 for others. */
  #readNamedValue(from: number, end: number, to: number): number {
    const last = this.#wordEnd;
    const dots = getDotCount(this.#dotAndSlashCounts);
    const slashes = getSlashCount(this.#dotAndSlashCounts);
    if (last - from > 2 && this.#hasAt(from, end)) return this.#addVariable(from, end, EMAIL);
    if (slashes > 1 || (slashes === 1 && (this.codes[from] === 47 || dots > 0)))
      return this.#isWordInValue(from) ? 0 : this.#readPath(from, end, to);
    if (this.#runClasses & FOREIGN || this.#hasWordsInValues)
      return this.#isHex ? this.#addVariable(from, end, HEX) : 0;
    const nameEnd = dots > 0 ? this.#findDottedNameEnd(from, last, to) : 0;
    if (nameEnd > 0) return this.#addVariable(from, nameEnd, NAME);
    return this.#isHex ? this.#addVariable(from, end, HEX) : 0;
  }

  /** Returns the end of a name with dots, with the description of a unit that systemd announces; 0 if it is none. */
  #findDottedNameEnd(from: number, last: number, to: number): number {
    if (getDotCount(this.#dotAndSlashCounts) > 1) return isName(this.codes, from, last) ? last : 0;
    if (!isUnitName(this.codes, from, last)) return 0;
    return isAnnouncedUnit(this.codes, from) ? findDescriptionEnd(this.codes, last, to) : last;
  }

  /** Returns whether the letters of a path are words: it is relative, and the body has no words. */
  #isWordInValue(from: number): boolean {
    return this.#hasWordsInValues && (getClassAt(this.codes, from) & LETTER) !== 0;
  }

  /** Returns whether the run contains an at sign after its beginning. */
  #hasAt(from: number, end: number): boolean {
    if ((this.#runClasses & AT) === 0) return false;
    let index = from + 1;
    while (index < end && this.codes[index] !== 64) index++;
    return index < end;
  }

  /** Recognizes names of months and days in dates, and values after an equals sign; returns 0 for others. */
  #readDateOrAssignment(from: number, end: number, to: number): number {
    if (end - from === 3 && isDatePart(this.codes, end, to)) return this.#addVariable(from, end, TIME);
    return from > 0 && this.codes[from - 1] === 61 ? this.#readAssignment(from, end, to) : 0;
  }

  /** Returns the end of a missing value or of an object (`Name{…}`) after an equals sign; 0 for others. */
  #readAssignment(from: number, end: number, to: number): number {
    const codes = this.codes;
    if (isMissingValue(codes, from, end)) return this.#addVariable(from, end, VALUE);
    const after = codes[end] === 123 ? findObjectEnd(codes, end, to) : 0;
    return after > 0 ? this.#addVariable(from, after, VALUE) : 0;
  }

  /** Reads `...`, `-->` or `***`: punctuation, which may also be a placeholder of a value in a list. */
  #readJoints(from: number, to: number): number {
    const codes = this.codes;
    let stars = 0;
    let index = from;
    for (; index < to && getClassAt(codes, index) & JOINT; index++) if (codes[index] === 42) stars++;
    if (stars > 2 && stars === index - from) return this.#addVariable(from, index, VALUE);
    for (let joint = from; joint < index; joint++) this.#addPunctuation(codes[joint] as number);
    return index;
  }

  /**
   * Recognizes URLs, drives, hosts with ports and hexadecimal addresses, which contain colons; returns 0 for others.
   */
  #readColon(from: number, colon: number, to: number): number {
    const codes = this.codes;
    const next = codes[colon + 1];
    if (next === 47 && codes[colon + 2] === 47 && getSlashCount(this.#dotAndSlashCounts) === 0)
      return this.#runClasses & FOREIGN ? this.#readWordBeforeUrl(from, colon) : this.#readUrl(from, colon, to, URL);
    if (next === 92 && colon - from === 1) return this.#readUrl(from, colon, to, PATH);
    if (getClassAt(codes, colon + 1) & DIGIT && (isWordAt(codes, from, 'localhost:') || isHost(codes, from, colon)))
      return this.#addVariable(from, colon, ADDRESS);
    const after = this.#isHex && colon - from <= 4 ? findAddressEnd(codes, from, colon, to) : 0;
    return after > 0 ? this.#addVariable(from, after, ADDRESS) : 0;
  }

  /** Reads the letters outside ASCII before a URL, which is read next; returns 0 if no URL begins. */
  #readWordBeforeUrl(from: number, colon: number): number {
    let start = colon;
    while ((getClassAt(this.codes, start - 1) & FOREIGN) === 0) start--;
    if (start === colon) return 0;
    this.#addWordOf(from, start);
    return start;
  }

  /** Returns the end of a URL or a path with a drive. */
  #readUrl(from: number, colon: number, to: number, kind: number): number {
    const codes = this.codes;
    let index = findUrlEnd(codes, colon + 1, to);
    while (index > colon + 3 && (codes[index - 1] === 44 || codes[index - 1] === 59)) index--;
    return this.#addVariable(from, index, kind);
  }

  /** Reads a path with its query. */
  #readPath(from: number, end: number, to: number): number {
    return this.#addVariable(from, this.#runClasses & QUERY ? findUrlEnd(this.codes, end, to) : end, PATH);
  }

  /** Returns the index of the number in a numbered word such as `core.2275`, which is read next; 0 if there is none. */
  #readNumberedWord(from: number, end: number): number {
    const codes = this.codes;
    if (getDotCount(this.#dotAndSlashCounts) !== 1 || !(this.#runClasses & LETTER)) return 0;
    let last = end;
    while (getClassAt(codes, last - 1) & JOINT) last--;
    const stem = findStemEnd(codes, from, last);
    if (stem === 0) return 0;
    this.#readStem(from, stem);
    return this.#addWord(from, stem) + 1;
  }

  /** Reads letters and `_`. */
  #readStem(from: number, to: number): void {
    let hash = SEED;
    this.#wordEnd = from;
    this.#wordHash = 0;
    for (let index = from; index < to; index++) {
      hash = mix(hash, this.codes[index] as number);
      if ((getClassAt(this.codes, index) & LETTER) === 0) continue;
      this.#wordEnd = index + 1;
      this.#wordHash = hash;
    }
    this.#wordHash = toWordHash(this.#wordHash);
  }

  #readDigits(from: number, end: number, to: number): number {
    const kind = this.#runClasses & LETTER ? this.#getMixedKind(from, end) : this.#getNumericKind();
    if (this.#hasWordsInValues && this.#mayHaveWords(kind, from, end)) return this.#readWordsOfValue(from, end);
    if (kind === PATH) return this.#readPath(from, end, to);
    return this.#addVariable(from, kind === NUMBER ? findUnitEnd(this.codes, end, to) : end, kind);
  }

  /** Returns whether letters of a value are words: of ids, relative paths, and codes such as `E1001`. */
  #mayHaveWords(kind: number, from: number, end: number): boolean {
    if (kind === ID) return true;
    const isPath = kind === PATH || (kind === HEX && end - from < MIN_HEX_ID);
    return isPath && this.#isWordInValue(from);
  }

  /** Reads the parts of a value between joints: letters with digits before or after them are words, ids are variables. */
  #readWordsOfValue(from: number, end: number): number {
    const codes = this.codes;
    let start = from;
    for (let index = from; index <= end && this.count < MAX_TOKENS; index++) {
      if (index < end && (getClassAt(codes, index) & JOINT) === 0) continue;
      if (index > start) this.#readPartOfValue(start, index);
      if (index < end) this.#addPunctuation(codes[index] as number);
      start = index + 1;
    }
    return end;
  }

  /** Reads letters and digits without joints. An id has several numbers between its letters. */
  #readPartOfValue(from: number, end: number): void {
    let letters = 0;
    let numbers = 0;
    let before = 0;
    for (let index = from; index < end; index++) {
      const kind = getClassAt(this.codes, index) & (LETTER | DIGIT);
      if (kind === LETTER) letters++;
      if (kind === DIGIT && before !== DIGIT) numbers++;
      before = kind;
    }
    if (letters > 0 && numbers < 2 && isWordLike(this.codes, from, end)) this.#readWordAndNumber(from, end);
    else this.#addVariable(from, end, letters > 0 ? ID : NUMBER);
  }

  /** Reads letters around at most one number. */
  #readWordAndNumber(from: number, end: number): void {
    const codes = this.codes;
    let index = from;
    while (index < end && this.count < MAX_TOKENS) {
      const start = index;
      const kind = getClassAt(codes, start) & LETTER ? LETTER : DIGIT;
      while (index < end && getClassAt(codes, index) & kind) index++;
      // A letter after a number is a unit, or the end of a time.
      if (kind === DIGIT || (start > from && index - start < 2)) this.#addVariable(start, index, NUMBER);
      else this.#addWordOf(start, index);
    }
  }

  #getNumericKind(): number {
    if (getSlashCount(this.#dotAndSlashCounts) > 0) return TIME;
    return getDotCount(this.#dotAndSlashCounts) === 3 ? ADDRESS : NUMBER;
  }

  #getMixedKind(from: number, end: number): number {
    const codes = this.codes;
    if (this.#hasAt(from, end)) return EMAIL;
    if (getSlashCount(this.#dotAndSlashCounts) > 0) return PATH;
    if (this.#isHex || (codes[from] === 48 && codes[from + 1] === 120)) {
      if (this.#isHex && end - from < MIN_HEX_ID) this.#seenKinds |= 1 << ID;
      return HEX;
    }
    if (end - from === 36 && codes[from + 8] === 45 && codes[from + 13] === 45) return UUID;
    return getDotCount(this.#dotAndSlashCounts) > 1 ? ADDRESS : ID;
  }

  #addWord(from: number, end: number): number {
    const last = this.#wordEnd;
    // A list of values, each followed by the same word, counts as one value and one word.
    if (this.#isRepetition(this.#wordHash)) {
      this.count -= 2;
      this.ends[this.count - 1] = this.ends[this.count + 1] as number;
    }
    this.#addToken(from, last, this.#wordHash);
    return end;
  }

  /** Returns whether the word and variable before the last token equal the last token and this one. */
  #isRepetition(hash: number): boolean {
    const { count, hashes } = this;
    if (count < 3 || hashes[count - 2] !== hash) return false;
    return hashes[count - 1] === hashes[count - 3] && (hash === VARIABLE) !== (hashes[count - 1] === VARIABLE);
  }

  #addToken(from: number, to: number, hash: number): void {
    const { count } = this;
    this.hashes[count] = hash;
    this.starts[count] = from;
    this.ends[count] = to;
    this.#openedSinceToken = 0;
    this.#openedWithinToken = 0;
    this.#closedAfterToken = 0;
    this.count = count + 1;
  }

  /** Adds a variable, or extends the preceding one. Returns `to`. */
  #addVariable(from: number, to: number, kind: number): number {
    this.#seenKinds |= 1 << kind;
    const before = this.count - 1;
    if (before < 0 || this.hashes[before] !== VARIABLE) {
      // Likewise, a list of values, each preceded by the same word, counts as one word and one value.
      if (this.#isRepetition(VARIABLE)) {
        this.count--;
        this.ends[this.count - 1] = to;
        return to;
      }
      this.kinds[this.count] = kind;
      this.#addToken(from, to, VARIABLE);
      return to;
    }
    this.ends[before] = to;
    if (kind === TIME) this.kinds[before] = TIME;
    this.#openedWithinToken += this.#openedSinceToken;
    this.#openedSinceToken = 0;
    let start = this.starts[before] as number;
    for (; this.#closedAfterToken > 0; this.#closedAfterToken--)
      if (start > 0 && isOpeningBracket(this.codes[start - 1] as number)) start--;
    this.starts[before] = start;
    return to;
  }
}
