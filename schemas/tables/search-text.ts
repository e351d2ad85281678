/**
 * The words of a text, as people read it: the only definition, for tables (SQL and indexes) and for records in streams.
 * A text has three forms:
 *
 * 1. plain: without ANSI escape sequences, also those that JSON has escaped;
 * 2. folded: also without differences of case and of Unicode's compatible forms (NFKC);
 * 3. words: also with a space for each other separator than ASCII's, and around each character that is a word by itself.
 *
 * The tokens of the third form are the words: runs of ASCII letters and digits and of all characters above ASCII.
 *
 * Ranges of characters are listed instead of Unicode's classes, because the engine's version of Unicode may differ from
 * that of this process.
 */
import { escapeSequence, removeEscapeSequences } from '../escape-sequences.ts';
import { quoteString } from './literal.ts';

type CharacterRange = readonly [first: number, last: number];

/** Spaces, punctuation and invisible characters above ASCII, as far as NFKC preserves them. */
const separatorRanges: readonly CharacterRange[] = [
  [0x80, 0xa9],
  [0xab, 0xb1],
  [0xb6, 0xb7],
  [0xbb, 0xbb],
  [0xbf, 0xbf],
  [0xd7, 0xd7],
  [0xf7, 0xf7],
  // Armenian, Hebrew and Arabic
  [0x55a, 0x55f],
  [0x589, 0x58a],
  [0x5be, 0x5be],
  [0x5c0, 0x5c0],
  [0x5c3, 0x5c3],
  [0x5c6, 0x5c6],
  [0x5f3, 0x5f4],
  [0x600, 0x60f],
  [0x61b, 0x61f],
  [0x66a, 0x66d],
  [0x6d4, 0x6d4],
  [0x700, 0x70d],
  // Devanagari, Tibetan, Burmese, Georgian, Ethiopic, Khmer and Mongolian
  [0x964, 0x965],
  [0x970, 0x970],
  [0xf04, 0xf14],
  [0xf3a, 0xf3d],
  [0x104a, 0x104f],
  [0x10fb, 0x10fb],
  [0x1360, 0x1368],
  [0x1680, 0x1680],
  [0x17d4, 0x17da],
  [0x1800, 0x180f],
  // Zero-width joiners, 200C and 200D, are part of words.
  [0x2000, 0x200b],
  [0x200e, 0x206f],
  [0x2e00, 0x2e7f],
  // Chinese and Japanese
  [0x3000, 0x3004],
  [0x3008, 0x3020],
  [0x3030, 0x3030],
  [0x303d, 0x303f],
  [0x30a0, 0x30a0],
  [0x30fb, 0x30fb],
  [0xfd3e, 0xfd3f],
  [0xfe00, 0xfe6f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffd],
  [0xe0000, 0xe0fff],
];

/** Characters of writing systems without spaces between words, Korean syllables, and symbols. */
const singleRanges: readonly CharacterRange[] = [
  // Thai, Lao, Tibetan, Burmese
  [0xe00, 0x109f],
  [0x1100, 0x11ff],
  // Khmer, Tai Le, New Tai Lue, Tai Tham, Balinese
  [0x1780, 0x17ff],
  [0x1950, 0x19ff],
  [0x1a20, 0x1aaf],
  [0x1b00, 0x1b7f],
  // Currencies, arrows, mathematics, boxes, shapes
  [0x20a0, 0x20cf],
  [0x2190, 0x2bff],
  // Chinese, Japanese, Korean
  [0x2e80, 0x9fff],
  [0xa960, 0xa97f],
  // Javanese, Burmese, Tai Viet
  [0xa980, 0xa9ff],
  [0xaa60, 0xaadf],
  [0xac00, 0xd7ff],
  [0xe000, 0xfaff],
  [0x1aff0, 0x1b2ff],
  // Emoji
  [0x1f000, 0x1fbff],
  [0x20000, 0x3ffff],
  [0xf0000, 0x10ffff],
];
const asciiSeparators = '\\x00-/:-@[-`{-\\x7f';

/** `letter` begins an escaped code point: x in RE2, u in JavaScript. */
const toClass = (ranges: readonly CharacterRange[], letter: 'x' | 'u'): string =>
  ranges
    .map((range) => range.map((code) => `\\${letter}{${code.toString(16)}}`))
    .map(([first, last]) => `${first}-${last}`)
    .join('');
const separatorClass = toClass(separatorRanges, 'x');
const singleClass = toClass(singleRanges, 'x');

/** Classes of characters of folded texts, for regular expressions of RE2. */
export const characterClasses = {
  /** A character after which a word may begin, and before which one may end. */
  boundary: `[${asciiSeparators}${separatorClass}${singleClass}]`,
  /** A character of a word, or one that is a word by itself. */
  word: `[^${asciiSeparators}${separatorClass}]`,
} as const;

/** Characters that fold to others and that lower case preserves, in the order in which they are replaced. */
const foldedCharacters: readonly (readonly [string, string])[] = [
  ['ς', 'σ'],
  ['ı', 'i'],
  ['ß', 'ss'],
  // The dot that remains of the capital İ.
  ['\u0307', ''],
];

const mayHaveEscapeSql = (text: string): string =>
  `position(${text}, '\\x1b') > 0 OR positionCaseInsensitive(${text}, '\\\\u001b') > 0`;
const replaceEscapesSql = (text: string): string => `replaceRegexpAll(${text}, ${quoteString(escapeSequence)}, '')`;
const foldSql = (text: string): string =>
  foldedCharacters.reduce(
    (sql, [from, to]) => `replaceAll(${sql}, ${quoteString(from)}, ${quoteString(to)})`,
    // The normalization throws for invalid UTF-8.
    `lowerUTF8(normalizeUTF8NFKC(toValidUTF8(${text})))`,
  );
const separateSql = (text: string): string =>
  `replaceRegexpAll(replaceRegexpAll(${text}, ${quoteString(`[${separatorClass}]`)}, ' '), ${quoteString(`[${singleClass}]`)}, ${quoteString(' \\0 ')})`;
/** Most texts are ASCII without escape sequences. The engine computes other forms only for other texts. */
const isSimpleSql = (text: string): string => `isValidASCII(${text}) AND NOT (${mayHaveEscapeSql(text)})`;
const buildFormSql = (text: string, toForm: (plain: string) => string): string =>
  `if(${isSimpleSql(text)}, lower(${text}), ${toForm(replaceEscapesSql(text))})`;
const toWordsSql = (plain: string): string => separateSql(foldSql(plain));

/** Returns SQL of the plain form of a text, an SQL expression. */
export const buildPlainTextSql = (text: string): string =>
  `if(${mayHaveEscapeSql(text)}, ${replaceEscapesSql(text)}, ${text})`;
/** Returns SQL of the plain form of a text of few distinct values, which the engine computes once for each of them. */
export const buildPlainNameSql = replaceEscapesSql;
/** Returns SQL of the folded form of a text. */
export const buildFoldedTextSql = (text: string): string => buildFormSql(text, foldSql);
/** Returns SQL of the words of a text: a text whose tokens they are. */
export const buildWordsTextSql = (text: string): string => buildFormSql(text, toWordsSql);
/**
 * Returns SQL of what `toUnusualWords` returns; empty for most texts. The engine may compute all parts of it for each
 * row, which takes little time for an empty text.
 */
export const buildUnusualWordsSql = (text: string): string => {
  const unusual = `if(${isSimpleSql(text)}, '', ${text})`;
  return `concat(if(empty(${unusual}), '', ' '), ${toWordsSql(replaceEscapesSql(unusual))})`;
};

const simpleCharacters = String.raw`\0-\x1a\x1c-\x5b\x5d-\x7f`;
/** Matches a character above ASCII, an escape character or a backslash, which may begin one in JSON. */
const unusualPattern = new RegExp(`[^${simpleCharacters}]`);
const foldedPattern = new RegExp(`[${foldedCharacters.map(([from]) => from).join('')}]`, 'g');
const foldedByCharacter = new Map(foldedCharacters);
const separatorPattern = new RegExp(`[${toClass(separatorRanges, 'u')}]`, 'gu');
const singlePattern = new RegExp(`[${toClass(singleRanges, 'u')}]`, 'gu');
const boundaryPattern = new RegExp(
  `[${asciiSeparators}${toClass(separatorRanges, 'u')}${toClass(singleRanges, 'u')}]`,
  'u',
);

/** Returns the plain form of a text. */
export const toPlainText = (text: string): string => (unusualPattern.test(text) ? removeEscapeSequences(text) : text);

/** Returns the folded form of a text. */
export const foldText = (text: string): string =>
  unusualPattern.test(text)
    ? toPlainText(text)
        .normalize('NFKC')
        .toLowerCase()
        .replace(foldedPattern, (character) => foldedByCharacter.get(character) ?? '')
    : text.toLowerCase();

/** Returns the words of a folded text, between separators of ASCII. */
export const separateWords = (folded: string): string =>
  folded.replace(separatorPattern, ' ').replace(singlePattern, ' $& ');

/** Returns the words of a text, between separators of ASCII. */
export const toWordsText = (text: string): string =>
  unusualPattern.test(text) ? separateWords(foldText(text)) : text.toLowerCase();

/** Returns whether a folded text has a character that is not part of a longer word. */
export const hasBoundary = (folded: string): boolean => boundaryPattern.test(folded);

const wordPattern = /[0-9A-Za-z\u0080-\u{10ffff}]+/gu;

/** Returns the different words of a text. */
export const splitWords = (text: string): readonly string[] => [...new Set(toWordsText(text).match(wordPattern))];

const [escapeByte, backslashByte] = [0x1b, 0x5c];
const escapedEscape = [0x5c, 0x75, 0x30, 0x30, 0x31, 0x62];
const isEscapedAt = (bytes: Uint8Array, position: number, end: number): boolean =>
  position + escapedEscape.length <= end &&
  escapedEscape.every((byte, index) => ((bytes[position + index] as number) | 0x20) === (byte | 0x20));

/** 1 for a byte of an unusual text, 2 for one that may begin an escape in JSON. */
const byteKinds = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte > 127 || byte === escapeByte ? 1 : byte === backslashByte ? 2 : 0,
);

/** Returns whether the words of a UTF-8 text are not those of the text in lower case. */
export const hasUnusualWords = (bytes: Uint8Array, from: number, to: number): boolean => {
  let kinds = 0;
  for (let position = from; position < to; position++) kinds |= byteKinds[bytes[position] as number] as number;
  if (kinds < 2) return kinds === 1;
  if ((kinds & 1) === 1) return true;
  for (let position = from; position < to; position++)
    if (bytes[position] === backslashByte && isEscapedAt(bytes, position, to)) return true;
  return false;
};

/** Returns the text of the words of a text for which `hasUnusualWords` is true. It is not empty. */
export const toUnusualWords = (text: string): string => ` ${toWordsText(text)}`;
