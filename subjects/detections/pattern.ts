/** Patterns with wildcards: `*` matches any number of characters, `?` matches one */

/** A character or a wildcard */
const any = Symbol('*');
const one = Symbol('?');
type Token = string | typeof any | typeof one;
export type Pattern = readonly Token[];

/** Parses Sigma's escapes: a backslash escapes `*`, `?` and a backslash, and is literal before any other character. */
export const patternOf = (text: string): Pattern => {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    const next = text[at + 1];
    if (character === '\\' && (next === '*' || next === '?' || next === '\\')) {
      tokens.push(next);
      at++;
    } else if (character === '*') tokens.push(any);
    else if (character === '?') tokens.push(one);
    else tokens.push(character);
  }
  return tokens;
};

/** Returns a pattern of the text without wildcards. */
export const plainPattern = (text: string): Pattern => [
  ...Array.from({ length: text.length }, (_, at) => text[at] as string),
];

export const hasWildcards = (pattern: Pattern): boolean => pattern.some((token) => typeof token !== 'string');

/** Returns the text of a pattern that has no wildcards. */
export const textOfPattern = (pattern: Pattern): string =>
  pattern.filter((token) => typeof token === 'string').join('');

export const startsWith = (pattern: Pattern): Pattern => (pattern.at(-1) === any ? pattern : [...pattern, any]);
export const endsWith = (pattern: Pattern): Pattern => (pattern[0] === any ? pattern : [any, ...pattern]);
export const contains = (pattern: Pattern): Pattern => startsWith(endsWith(pattern));

/** Text between two `*`, in which `null` represents `?` */
type Piece = readonly (string | null)[];

const piecesOf = (pattern: Pattern): Piece[] => {
  const pieces: (string | null)[][] = [[]];
  for (const token of pattern) {
    if (token === any) pieces.push([]);
    else pieces.at(-1)?.push(token === one ? null : (token as string));
  }
  return pieces;
};

/** Folds a text as Sigma compares it: in lower case. */
export const lowered = (text: string): string => text.toLowerCase();

/** Returns texts in lower case that must occur in every match of the pattern, the longest first. */
export const literalsOf = (pattern: Pattern): string[] => {
  const runs: string[] = [''];
  for (const token of pattern) {
    if (typeof token === 'string') runs[runs.length - 1] += token;
    else runs.push('');
  }
  return runs
    .filter((run) => run !== '')
    .map(lowered)
    .toSorted((left, right) => right.length - left.length);
};

const isAt = (text: string, piece: Piece, at: number): boolean => {
  if (at < 0 || at + piece.length > text.length) return false;
  for (let index = 0; index < piece.length; index++) {
    const expected = piece[index];
    if (expected !== null && text[at + index] !== expected) return false;
  }
  return true;
};

const find = (text: string, piece: Piece, from: number): number => {
  if (!piece.includes(null)) return text.indexOf(piece.join(''), from);
  for (let at = from; at + piece.length <= text.length; at++) if (isAt(text, piece, at)) return at;
  return -1;
};

const general = (pieces: readonly Piece[]): ((text: string) => boolean) => {
  const first = pieces[0] as Piece;
  const last = pieces.at(-1) as Piece;
  if (pieces.length === 1) return (text) => text.length === first.length && isAt(text, first, 0);
  const middle = pieces.slice(1, -1).filter(({ length }) => length > 0);
  return (text) => {
    if (text.length < first.length + last.length) return false;
    if (!isAt(text, first, 0) || !isAt(text, last, text.length - last.length)) return false;
    let at = first.length;
    for (const piece of middle) {
      const found = find(text, piece, at);
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
export const patternTest = (pattern: Pattern, fold: (text: string) => string): ((text: string) => boolean) => {
  const pieces = piecesOf(pattern.map((token) => (typeof token === 'string' ? fold(token) : token)));
  if (pieces.some((piece) => piece.includes(null))) return general(pieces);
  const texts = pieces.map((piece) => piece.join(''));
  const [first = '', second = '', third] = texts;
  if (texts.length === 1) return (text) => text === first;
  if (texts.length === 2 && first === '' && second === '') return () => true;
  if (texts.length === 2 && second === '') return (text) => text.startsWith(first);
  if (texts.length === 2 && first === '') return (text) => text.endsWith(second);
  if (texts.length === 3 && first === '' && third === '') return (text) => text.includes(second);
  return general(pieces);
};
