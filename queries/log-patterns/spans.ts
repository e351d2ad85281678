/**
 * Defines the character classes of log bodies, and finds the ends of values that are recognized by their form. Each
 * function scans forward once from a position in the character codes of a text. Codes that count as letters (`BEYOND`)
 * follow the text, so a short lookahead is safe.
 */

import { WordSet } from './word-set.ts';

const SPACE = 1;
const LETTER = 2;
const DIGIT = 4;
/** Punctuation within words: `. / - _ @ …` */
const JOINT = 8;
const HEXADECIMAL = 16;
/** Additional classes of `@` and `?`, which are also `JOINT`. */
const AT_SIGN = 32;
const QUESTION_MARK = 64;

const classes = new Uint8Array(0x10000).fill(LETTER);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  if (code <= 32) classes[code] = SPACE;
  else if (/[A-Za-z]/.test(character)) classes[code] = LETTER | (/[a-fA-F]/.test(character) ? HEXADECIMAL : 0);
  else if (/[0-9]/.test(character)) classes[code] = DIGIT | HEXADECIMAL;
  else if ('._-/\\@#$%~+&*!?^`'.includes(character)) classes[code] = JOINT;
  else classes[code] = 0;
}
classes[63] = JOINT | QUESTION_MARK;
classes[64] = JOINT | AT_SIGN;
/** Character classes as bits, and the bits of each character; characters outside words have none */
export const characters = {
  SPACE,
  LETTER,
  DIGIT,
  JOINT,
  HEXADECIMAL,
  AT: AT_SIGN,
  QUERY: QUESTION_MARK,
  classes,
} as const;
/** Code after the end of a text; no character has this code */
export const BEYOND = 0xffff;

const classAt = (codes: Uint16Array, index: number): number => classes[codes[index] as number] as number;

/** Months, weekdays and day halves, which are part of a time next to them */
const calendarWords = new WordSet(
  'jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun'.split(' '),
);
const units = new WordSet(
  (
    'ns us µs ms msec msecs s sec secs min mins h hr hrs b kb mb gb tb pb kib mib gib tib hz khz mhz ghz am pm utc gmt ' +
    'byte bytes kbytes mbytes nanoseconds microseconds millisecond milliseconds second seconds minute minutes hour hours day days'
  ).split(' '),
);
/** Maximum number of letters of a unit */
const MAX_UNIT_LETTERS = 12;
const missingValueWords = new WordSet('null nil none undefined'.split(' '));
const httpMethods = new WordSet('get post put patch delete head options connect trace'.split(' '));

/** Returns whether a word occurs at a position, case-sensitively. */
export const isWordAt = (codes: Uint16Array, at: number, word: string): boolean => {
  if (at < 0) return false;
  for (let index = 0; index < word.length; index++) if (codes[at + index] !== word.charCodeAt(index)) return false;
  return true;
};

/** Returns whether a character is one of `( [ { <` or a quote. */
export const isOpeningBracket = (code: number): boolean =>
  code === 40 || code === 91 || code === 123 || code === 60 || code === 34 || code === 39;
/** Returns whether a character is one of `) ] } >`. */
export const isClosingBracket = (code: number): boolean => code === 41 || code === 93 || code === 125 || code === 62;
/** Returns whether a character is a blank, quote or closing bracket. */
const isUrlEnd = (code: number): boolean =>
  code <= 32 || code === 34 || code === 39 || code === 62 || code === 93 || code === 41;

/** Returns whether a character may occur in a list. Blanks only follow commas, so prose is not a list. */
const isInList = (codes: Uint16Array, at: number, code: number): boolean =>
  code === 32 ? codes[at - 1] === 44 : classes[code] !== 0;

interface ListForm {
  readonly end: number;
  readonly separator: number;
  readonly minItems: number;
}

const findListClose = (
  codes: Uint16Array,
  open: number,
  to: number,
  { end, separator, minItems }: ListForm,
): number => {
  let separators = 0;
  for (let index = open + 1; index < to && index < open + 512; index++) {
    const code = codes[index] as number;
    if (code === end) return separators < minItems ? 0 : index;
    if (code === separator) separators++;
    else if (!isInList(codes, index, code)) return 0;
  }
  return 0;
};

const squareList: ListForm = { end: 93, separator: 44, minItems: 1 };
const roundList: ListForm = { end: 41, separator: 44, minItems: 1 };
const paddedList: ListForm = { end: 41, separator: 32, minItems: 3 };

/** Returns the index of the closing bracket of `[a, b, c]`, `(a, b)` or `( a b )`; 0 if it is not a list of words. */
export const findListEnd = (codes: Uint16Array, open: number, to: number): number => {
  if (codes[open] === 91) return findListClose(codes, open, to, squareList);
  return findListClose(codes, open, to, codes[open + 1] === 32 ? paddedList : roundList);
};

/** Returns the index after a range of numbers in brackets, as in `node-[0-31,40]`; 0 if there is none. */
export const findRangeEnd = (codes: Uint16Array, open: number, to: number): number => {
  let between = 0;
  let index = open + 1;
  for (; index < to && index < open + 128; index++) {
    const code = codes[index] as number;
    if (code === 45 || code === 44) between++;
    else if ((classAt(codes, index) & DIGIT) === 0) break;
  }
  return between > 0 && classAt(codes, open + 1) & DIGIT && codes[index] === 93 ? index + 1 : 0;
};

/** Returns the index after a MAC or IPv6 address with a known first colon; 0 if it is neither. */
export const findAddressEnd = (codes: Uint16Array, from: number, colon: number, to: number): number => {
  let index = colon;
  let colons = 0;
  let isShort = false;
  let digits = 0;
  const end = Math.min(to, from + 48);
  for (; index < end; index++) {
    const kind = classAt(codes, index);
    if (codes[index] === 58) {
      colons++;
      if (index > 0 && codes[index - 1] === 58) isShort = true;
    } else if ((kind & HEXADECIMAL) === 0) break;
    digits |= kind & DIGIT;
  }
  const isWhole = colons > 2 || (isShort && digits > 0);
  return isWhole && !(index < to && classAt(codes, index) & LETTER) ? index : 0;
};

/** Returns the index after an object (`Name{…}`) with a known bracket; 0 if its end is too far. */
export const findObjectEnd = (codes: Uint16Array, open: number, to: number): number => {
  let depth = 0;
  for (let index = open; index < to && index < open + 256; index++) {
    const code = codes[index] as number;
    if (code === 123) depth++;
    else if (code === 125 && --depth === 0) return index + 1;
  }
  return 0;
};

/**
 * Returns the end of the word in a numbered word such as `core.2275`: only letters and `_` before the dot, only digits
 * after it; otherwise 0.
 */
export const findStemEnd = (codes: Uint16Array, from: number, to: number): number => {
  let index = from;
  while (index < to && (classAt(codes, index) & LETTER || codes[index] === 95)) index++;
  const stem = index;
  if (stem < from + 3 || codes[stem] !== 46) return 0;
  for (index++; index < to; index++) if ((classAt(codes, index) & DIGIT) === 0) return 0;
  return stem;
};

/** Returns whether a word denotes a missing value. */
export const isMissingValue = (codes: Uint16Array, from: number, to: number): boolean =>
  to - from < 10 && missingValueWords.has(codes, from, to);

/** Returns the end of a URL or a path with a query. */
export const findUrlEnd = (codes: Uint16Array, from: number, to: number): number => {
  let index = from;
  while (index < to && !isUrlEnd(codes[index] as number)) index++;
  return index;
};

/** Returns the end of a unit after a number: `10 ms` and `3 KB` are one value. */
export const findUnitEnd = (codes: Uint16Array, end: number, to: number): number => {
  if (codes[end] !== 32 || !units.hasPrefix(codes[end + 1] as number)) return end;
  let index = end + 1;
  while (index < to && index < end + 2 + MAX_UNIT_LETTERS && classAt(codes, index) & LETTER) index++;
  const next = index < to ? classAt(codes, index) : SPACE;
  if (index === end + 1 || (next & (LETTER | DIGIT | JOINT) && codes[index] !== 46)) return end;
  return units.has(codes, end + 1, index) ? index : end;
};

const isCapital = (code: number): boolean => code >= 65 && code <= 90;

/** Returns whether a host name before a port begins here: lowercase letters with a dot inside. */
export const isHost = (codes: Uint16Array, from: number, to: number): boolean => {
  let dots = 0;
  for (let index = from; index < to; index++) {
    const code = codes[index] as number;
    if (isCapital(code)) return false;
    if (code === 46) dots++;
  }
  return dots > 0 && codes[from] !== 46 && codes[to - 1] !== 46;
};

/**
 * Returns whether a text is a name that counts as a value: hosts, packages and classes. Names of errors and uppercase
 * event names describe the event and do not count.
 */
export const isName = (codes: Uint16Array, from: number, to: number): boolean => {
  let index = to;
  let capitals = true;
  while (index > from && codes[index - 1] !== 46) {
    index--;
    const code = codes[index] as number;
    if (code >= 97 && code <= 122) capitals = false;
  }
  if (index === from || codes[from] === 46) return false;
  return !(capitals || isWordAt(codes, to - 9, 'Exception') || isWordAt(codes, to - 5, 'Error'));
};

/** Returns whether the name of a month or day ends here, followed by a digit or another name of this kind. */
export const isDatePart = (codes: Uint16Array, end: number, to: number): boolean => {
  if (!calendarWords.has(codes, end - 3, end)) return false;
  let index = end;
  while (index < to && (codes[index] === 32 || codes[index] === 44)) index++;
  if (index === end || index >= to) return false;
  return classAt(codes, index) === (DIGIT | HEXADECIMAL) || calendarWords.has(codes, index, index + 3);
};

/** Returns whether an HTTP method begins here, as in `"GET /path HTTP/1.1"`. */
export const isHttpRequest = (codes: Uint16Array, from: number): boolean => {
  let index = from;
  while (index < from + 8 && isCapital(codes[index] as number)) index++;
  return codes[index] === 32 && httpMethods.has(codes, from, index);
};
