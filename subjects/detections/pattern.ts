/** Patterns with wildcards: `*` matches any number of characters, `?` matches one */

/** A character or a wildcard */
const anySequence = Symbol('*');
const anyCharacter = Symbol('?');
type Token = string | typeof anySequence | typeof anyCharacter;
export type Pattern = readonly Token[];

/** Parses a pattern. A backslash escapes `*`, `?` and a backslash, and is literal before any other character. */
export const parsePattern = (text: string): Pattern => {
  const tokens: Token[] = [];
  for (let position = 0; position < text.length; position++) {
    const character = text[position] as string;
    const next = text[position + 1];
    if (character === '\\' && (next === '*' || next === '?' || next === '\\')) {
      tokens.push(next);
      position++;
    } else if (character === '*') tokens.push(anySequence);
    else if (character === '?') tokens.push(anyCharacter);
    else tokens.push(character);
  }
  return tokens;
};

/** Returns a pattern of the text without wildcards. */
export const literalPattern = (text: string): Pattern => [
  ...Array.from({ length: text.length }, (_, position) => text[position] as string),
];

export const hasWildcards = (pattern: Pattern): boolean => pattern.some((token) => typeof token !== 'string');

/** Returns the text of a pattern that has no wildcards. */
export const getPatternText = (pattern: Pattern): string =>
  pattern.filter((token) => typeof token === 'string').join('');

export const startsWith = (pattern: Pattern): Pattern =>
  pattern.at(-1) === anySequence ? pattern : [...pattern, anySequence];
export const endsWith = (pattern: Pattern): Pattern =>
  pattern[0] === anySequence ? pattern : [anySequence, ...pattern];
export const contains = (pattern: Pattern): Pattern => startsWith(endsWith(pattern));

/** Text between two `*`, in which `null` represents `?` */
type PatternSegment = readonly (string | null)[];

const splitSegments = (pattern: Pattern): PatternSegment[] => {
  const segments: (string | null)[][] = [[]];
  for (const token of pattern) {
    if (token === anySequence) segments.push([]);
    else segments.at(-1)?.push(token === anyCharacter ? null : (token as string));
  }
  return segments;
};

/** Folds a text as Sigma compares it: in lower case. */
export const foldCase = (text: string): string => text.toLowerCase();

/** Returns texts in lower case that must occur in every match of the pattern, the longest first. */
export const findRequiredTexts = (pattern: Pattern): string[] => {
  const runs: string[] = [''];
  for (const token of pattern) {
    if (typeof token === 'string') runs[runs.length - 1] += token;
    else runs.push('');
  }
  return runs
    .filter((literalRun) => literalRun !== '')
    .map(foldCase)
    .toSorted((left, right) => right.length - left.length);
};

const matchesAt = (text: string, segment: PatternSegment, position: number): boolean => {
  if (position < 0 || position + segment.length > text.length) return false;
  for (let index = 0; index < segment.length; index++) {
    const expected = segment[index];
    if (expected !== null && text[position + index] !== expected) return false;
  }
  return true;
};

const findSegment = (text: string, segment: PatternSegment, from: number): number => {
  if (!segment.includes(null)) return text.indexOf(segment.join(''), from);
  for (let position = from; position + segment.length <= text.length; position++)
    if (matchesAt(text, segment, position)) return position;
  return -1;
};

const createGeneralTest = (segments: readonly PatternSegment[]): ((text: string) => boolean) => {
  const first = segments[0] as PatternSegment;
  const last = segments.at(-1) as PatternSegment;
  if (segments.length === 1) return (text) => text.length === first.length && matchesAt(text, first, 0);
  const middle = segments.slice(1, -1).filter(({ length }) => length > 0);
  return (text) => {
    if (text.length < first.length + last.length) return false;
    if (!matchesAt(text, first, 0) || !matchesAt(text, last, text.length - last.length)) return false;
    let position = first.length;
    for (const segment of middle) {
      const foundAt = findSegment(text, segment, position);
      if (foundAt < 0) return false;
      position = foundAt + segment.length;
    }
    return position <= text.length - last.length;
  };
};

/**
 * Returns a test for whether a full text matches. `fold` is applied to the pattern; the caller folds the texts. Takes
 * time linear in the text's length; with `?`, multiplied by the length of the pattern.
 */
export const createPatternTest = (
  pattern: Pattern,
  foldText: (text: string) => string,
): ((text: string) => boolean) => {
  const segments = splitSegments(pattern.map((token) => (typeof token === 'string' ? foldText(token) : token)));
  if (segments.some((segment) => segment.includes(null))) return createGeneralTest(segments);
  const texts = segments.map((segment) => segment.join(''));
  const [first = '', second = '', third] = texts;
  if (texts.length === 1) return (text) => text === first;
  if (texts.length === 2 && first === '' && second === '') return () => true;
  if (texts.length === 2 && second === '') return (text) => text.startsWith(first);
  if (texts.length === 2 && first === '') return (text) => text.endsWith(second);
  if (texts.length === 3 && first === '' && third === '') return (text) => text.includes(second);
  return createGeneralTest(segments);
};
