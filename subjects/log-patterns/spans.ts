/** Characters of log bodies, and where values end whose form shows what they are. Each function is given a text and where to look, and goes on from there once. */

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
/** What a character may be, as bits, and the bits of each of the first 128; others are letters. */
export const characters = { SPACE, LETTER, DIGIT, JOINT, HEXADECIMAL, classes } as const;

const classOf = (code: number): number => (code < 128 ? (classes[code] as number) : LETTER);
const classAt = (text: string, index: number): number => classOf(text.charCodeAt(index));

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
const missing = new Set('null nil none undefined'.split(' '));
/** Of each of the first 128 characters: whether some word begins with it, as a small letter or a capital. */
const beginningsOf = (words: Iterable<string>): Uint8Array => {
  const begins = new Uint8Array(128);
  for (const word of words)
    for (const code of [word.charCodeAt(0), word.toUpperCase().charCodeAt(0)]) if (code < 128) begins[code] = 1;
  return begins;
};
const beginsDate = beginningsOf(calendar);
const beginsUnit = beginningsOf(units);
const beginsMissing = beginningsOf(missing);
/** Most words begin like none that is looked for, and are not cut out to be looked up. */
const mayBegin = (begins: Uint8Array, code: number): boolean => code > 127 || begins[code] === 1;
const methods = new Set('GET POST PUT PATCH DELETE HEAD OPTIONS CONNECT TRACE'.split(' '));

/** `( [ { <` and quotes. */
export const opens = (code: number): boolean =>
  code === 40 || code === 91 || code === 123 || code === 60 || code === 34 || code === 39;
/** `) ] } >` */
export const closes = (code: number): boolean => code === 41 || code === 93 || code === 125 || code === 62;
/** Blanks, quotes and closing brackets. */
const endsUrl = (code: number): boolean =>
  code <= 32 || code === 34 || code === 39 || code === 62 || code === 93 || code === 41;

/** Whether a character stands within a list: blanks stand behind commas alone, so that prose is none. */
const isInList = (text: string, at: number, code: number): boolean =>
  code === 32 ? text.charCodeAt(at - 1) === 44 : classOf(code) !== 0;

interface ListForm {
  readonly end: number;
  readonly separator: number;
  readonly least: number;
}

const closeOf = (text: string, open: number, to: number, { end, separator, least }: ListForm): number => {
  let separators = 0;
  for (let index = open + 1; index < to && index < open + 512; index++) {
    const code = text.charCodeAt(index);
    if (code === end) return separators < least ? 0 : index;
    if (code === separator) separators++;
    else if (!isInList(text, index, code)) return 0;
  }
  return 0;
};

const squareList: ListForm = { end: 93, separator: 44, least: 1 };
const roundList: ListForm = { end: 41, separator: 44, least: 1 };
const paddedList: ListForm = { end: 41, separator: 32, least: 3 };

/** The index of the bracket that closes `[a, b, c]`, `(a, b)` or `( a b )`; 0 where it is no list of words. */
export const listEnd = (text: string, open: number, to: number): number => {
  if (text.charCodeAt(open) === 91) return closeOf(text, open, to, squareList);
  return closeOf(text, open, to, text.charCodeAt(open + 1) === 32 ? paddedList : roundList);
};

/** The index after a range of numbers in brackets, as in `node-[0-31,40]`; 0 where it is none. */
export const rangeEnd = (text: string, open: number, to: number): number => {
  let between = 0;
  let index = open + 1;
  for (; index < to && index < open + 128; index++) {
    const code = text.charCodeAt(index);
    if (code === 45 || code === 44) between++;
    else if ((classAt(text, index) & DIGIT) === 0) break;
  }
  return between > 0 && classAt(text, open + 1) & DIGIT && text.charCodeAt(index) === 93 ? index + 1 : 0;
};

/** The index after a MAC or IPv6 address whose first colon is known; 0 where it is neither. */
export const addressEnd = (text: string, from: number, colon: number, to: number): number => {
  let index = colon;
  let colons = 0;
  let isShort = false;
  let digits = 0;
  const end = Math.min(to, from + 48);
  for (; index < end; index++) {
    const kind = classAt(text, index);
    if (text.charCodeAt(index) === 58) {
      colons++;
      if (text.charCodeAt(index - 1) === 58) isShort = true;
    } else if ((kind & HEXADECIMAL) === 0) break;
    digits |= kind & DIGIT;
  }
  const isWhole = colons > 2 || (isShort && digits > 0);
  return isWhole && !(index < to && classAt(text, index) & LETTER) ? index : 0;
};

/** The index after an object (`Name{…}`) whose bracket is known; 0 where it does not end soon. */
export const objectEnd = (text: string, open: number, to: number): number => {
  let depth = 0;
  for (let index = open; index < to && index < open + 256; index++) {
    const code = text.charCodeAt(index);
    if (code === 123) depth++;
    else if (code === 125 && --depth === 0) return index + 1;
  }
  return 0;
};

/** Where the word of a numbered one ends, as in `core.2275`: only letters and `_` before the dot, only digits behind it; else 0. */
export const stemEnd = (text: string, from: number, to: number): number => {
  let index = from;
  while (index < to && (classAt(text, index) & LETTER || text.charCodeAt(index) === 95)) index++;
  const stem = index;
  if (stem < from + 3 || text.charCodeAt(stem) !== 46) return 0;
  for (index++; index < to; index++) if ((classAt(text, index) & DIGIT) === 0) return 0;
  return stem;
};

/** Whether a word says that there is no value. */
export const isMissing = (text: string, from: number, to: number): boolean =>
  to - from < 10 && mayBegin(beginsMissing, text.charCodeAt(from)) && missing.has(text.slice(from, to).toLowerCase());

/** Up to where a URL or a path with a query ends. */
export const urlEnd = (text: string, from: number, to: number): number => {
  let index = from;
  while (index < to && !endsUrl(text.charCodeAt(index))) index++;
  return index;
};

/** The end of a unit after a number: `10 ms` and `3 KB` are one value. */
export const unitEnd = (text: string, end: number, to: number): number => {
  if (text.charCodeAt(end) !== 32 || !mayBegin(beginsUnit, text.charCodeAt(end + 1))) return end;
  let index = end + 1;
  while (index < to && index < end + 2 + MAX_UNIT && classAt(text, index) & LETTER) index++;
  const next = index < to ? classAt(text, index) : SPACE;
  if (index === end + 1 || (next & (LETTER | DIGIT | JOINT) && text.charCodeAt(index) !== 46)) return end;
  return units.has(text.slice(end + 1, index).toLowerCase()) ? index : end;
};

/** Whether a name before a port stands here: small letters, and a dot within. */
export const isHost = (text: string, from: number, to: number): boolean => {
  let dots = 0;
  for (let index = from; index < to; index++) {
    const code = text.charCodeAt(index);
    if (code >= 65 && code <= 90) return false;
    if (code === 46) dots++;
  }
  return dots > 0 && text.charCodeAt(from) !== 46 && text.charCodeAt(to - 1) !== 46;
};

/** Names of hosts, packages and classes are values; names of errors and of events in capitals say what happened. */
export const isName = (text: string, from: number, to: number): boolean => {
  let index = to;
  let capitals = true;
  while (index > from && text.charCodeAt(index - 1) !== 46) {
    index--;
    const code = text.charCodeAt(index);
    if (code >= 97 && code <= 122) capitals = false;
  }
  if (index === from || text.charCodeAt(from) === 46) return false;
  return !(capitals || text.startsWith('Exception', to - 9) || text.startsWith('Error', to - 5));
};

/** Whether a name of a month or day ends here: a digit or another such name follows. */
export const isDate = (text: string, end: number, to: number): boolean => {
  if (!(mayBegin(beginsDate, text.charCodeAt(end - 3)) && calendar.has(text.slice(end - 3, end).toLowerCase())))
    return false;
  let index = end;
  while (index < to && (text.charCodeAt(index) === 32 || text.charCodeAt(index) === 44)) index++;
  if (index === end || index >= to) return false;
  return classAt(text, index) === (DIGIT | HEXADECIMAL) || calendar.has(text.slice(index, index + 3).toLowerCase());
};

/** Whether a method of HTTP stands here, as in `"GET /path HTTP/1.1"`. */
export const isRequest = (text: string, from: number): boolean => {
  let index = from;
  while (index < from + 8 && classAt(text, index) & LETTER) index++;
  return index > from + 2 && text.charCodeAt(index) === 32 && methods.has(text.slice(from, index));
};
