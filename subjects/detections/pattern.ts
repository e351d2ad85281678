/** Patterns with wildcards: `*` matches any number of characters, `?` matches one */

/** A character or a wildcard */
const anySequence = Symbol('*');
const anyCharacter = Symbol('?');
type Token = string | typeof anySequence | typeof anyCharacter;
export type Pattern = readonly Token[];

/** Parses a pattern. A backslash escapes `*`, `?` and a backslash, and is literal before any other character. */
export const parsePattern = (text: string): Pattern => {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    const next = text[at + 1];
    if (character === '\\' && (next === '*' || next === '?' || next === '\\')) {
      tokens.push(next);
      at++;
    } else if (character === '*') tokens.push(anySequence);
    else if (character === '?') tokens.push(anyCharacter);
    else tokens.push(character);
  }
  return tokens;
};

/** Returns a pattern of the text without wildcards. */
export const literalPattern = (text: string): Pattern => [
  ...Array.from({ length: text.length }, (_, at) => text[at] as string),
];

export const hasWildcards = (pattern: Pattern): boolean => pattern.some((token) => typeof token !== 'string');

/** Returns the text of a pattern that has no wildcards. */
export const textOfPattern = (pattern: Pattern): string =>
  pattern.filter((token) => typeof token === 'string').join('');

export const startsWith = (pattern: Pattern): Pattern =>
  pattern.at(-1) === anySequence ? pattern : [...pattern, anySequence];
export const endsWith = (pattern: Pattern): Pattern =>
  pattern[0] === anySequence ? pattern : [anySequence, ...pattern];
export const contains = (pattern: Pattern): Pattern => startsWith(endsWith(pattern));

/** Text between two `*`, in which `null` represents `?` */
type PatternSegment = readonly (string | null)[];

const splitSegments = (pattern: Pattern): PatternSegment[] => {
  const pieces: (string | null)[][] = [[]];
  for (const token of pattern) {
    if (token === anySequence) pieces.push([]);
    else pieces.at(-1)?.push(token === anyCharacter ? null : (token as string));
  }
  return pieces;
};

/** Folds a text as Sigma compares it: in lower case. */
export const foldCase = (text: string): string => text.toLowerCase();

/** Returns texts in lower case that must occur in every match of the pattern, the longest first. */
export const requiredTexts = (pattern: Pattern): string[] => {
  const runs: string[] = [''];
  for (const token of pattern) {
    if (typeof token === 'string') runs[runs.length - 1] += token;
    else runs.push('');
  }
  return runs
    .filter((run) => run !== '')
    .map(foldCase)
    .toSorted((left, right) => right.length - left.length);
};

const matchesAt = (text: string, piece: PatternSegment, at: number): boolean => {
  if (at < 0 || at + piece.length > text.length) return false;
  for (let index = 0; index < piece.length; index++) {
    const expected = piece[index];
    if (expected !== null && text[at + index] !== expected) return false;
  }
  return true;
};

const findSegment = (text: string, piece: PatternSegment, from: number): number => {
  if (!piece.includes(null)) return text.indexOf(piece.join(''), from);
  for (let at = from; at + piece.length <= text.length; at++) if (matchesAt(text, piece, at)) return at;
  return -1;
};

const createGeneralTest = (pieces: readonly PatternSegment[]): ((text: string) => boolean) => {
  const first = pieces[0] as PatternSegment;
  const last = pieces.at(-1) as PatternSegment;
  if (pieces.length === 1) return (text) => text.length === first.length && matchesAt(text, first, 0);
  const middle = pieces.slice(1, -1).filter(({ length }) => length > 0);
  return (text) => {
    if (text.length < first.length + last.length) return false;
    if (!matchesAt(text, first, 0) || !matchesAt(text, last, text.length - last.length)) return false;
    let at = first.length;
    for (const piece of middle) {
      const found = findSegment(text, piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return at <= text.length - last.length;
  };
};

/**
 * Returns a test for whether a full text matches. `fold` is applied to the pattern; the caller folds the texts. Takes
 * time linear in the text's length; with `?`, multiplied by the length of the pattern.
 */
export const createPatternTest = (pattern: Pattern, fold: (text: string) => string): ((text: string) => boolean) => {
  const pieces = splitSegments(pattern.map((token) => (typeof token === 'string' ? fold(token) : token)));
  if (pieces.some((piece) => piece.includes(null))) return createGeneralTest(pieces);
  const texts = pieces.map((piece) => piece.join(''));
  const [first = '', second = '', third] = texts;
  if (texts.length === 1) return (text) => text === first;
  if (texts.length === 2 && first === '' && second === '') return () => true;
  if (texts.length === 2 && second === '') return (text) => text.startsWith(first);
  if (texts.length === 2 && first === '') return (text) => text.endsWith(second);
  if (texts.length === 3 && first === '' && third === '') return (text) => text.includes(second);
  return createGeneralTest(pieces);
};
