/**
 * Parses key-value pairs from a text such as `type=EXECVE argc=2 a0="cat"`. A key is a maximal run of letters, digits,
 * `_`, `.` and `-` that begins with a letter or `_`. A value is either quoted or ends at a space, quote, comma or
 * semicolon.
 */

const minPairs = 2;
const maxPairs = 200;
const maxKeyLength = 64;
const [space, doubleQuote, singleQuote, comma, semicolon, backslash] = [32, 34, 39, 44, 59, 92];

const isLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
const isKeyStart = (code: number): boolean => isLetter(code) || code === 95;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
/** Returns whether a character may occur in a key. */
export const isKeyCharacter = (code: number): boolean =>
  isKeyStart(code) || isDigit(code) || code === 45 || code === 46;
const isLineEnd = (code: number): boolean => code === 10 || code === 13 || code === 0x2028 || code === 0x2029;

/** Returns the start of the key that ends before a position; -1 if there is none after `past`. */
const findKeyStart = (text: string, end: number, minStart: number): number => {
  let start = end;
  while (start > 0 && end - start <= maxKeyLength && isKeyCharacter(text.charCodeAt(start - 1))) start--;
  const length = end - start;
  return start >= minStart && length > 0 && length <= maxKeyLength && isKeyStart(text.charCodeAt(start)) ? start : -1;
};

/** Returns the end of the quoted text that begins at a position; -1 if it is unterminated. */
const findQuotedEnd = (text: string, start: number, quote: number): number => {
  if (quote === singleQuote) return text.indexOf("'", start);
  for (let position = start; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === doubleQuote) return position;
    if (code === backslash && isLineEnd(text.charCodeAt(++position))) return -1;
  }
  return -1;
};

/** Matches an unquoted value. A regular expression, because there are many non-ASCII spaces */
const unquotedPattern = /[^\s"',;]*/y;
/** Returns whether an ASCII character ends an unquoted value. */
export const endsUnquotedValue = (code: number): boolean =>
  code === space ||
  (code >= 9 && code <= 13) ||
  code === doubleQuote ||
  code === singleQuote ||
  code === comma ||
  code === semicolon;

const findUnquotedEnd = (text: string, start: number): number => {
  for (let position = start; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (endsUnquotedValue(code)) return position;
    if (code < 128) continue;
    unquotedPattern.lastIndex = position;
    return position + (unquotedPattern.exec(text)?.[0].length ?? 0);
  }
  return text.length;
};

const unescapeText = (text: string): string => (text.includes('\\') ? text.replaceAll(/\\(["\\])/g, '$1') : text);

/** Returns the value that begins at a position, and the position after it. */
const readValue = (text: string, start: number): { readonly value: string; readonly end: number } => {
  const quote = text.charCodeAt(start);
  const closingQuote = quote === doubleQuote || quote === singleQuote ? findQuotedEnd(text, start + 1, quote) : -1;
  if (closingQuote < 0) {
    const end = findUnquotedEnd(text, start);
    return { value: text.slice(start, end), end };
  }
  const quoted = text.slice(start + 1, closingQuote);
  return { value: quote === doubleQuote ? unescapeText(quoted) : quoted, end: closingQuote + 1 };
};

/** Returns the pairs of a text that has at least two pairs. The first pair of a key wins. */
export const parseKeyValues = (text: string): Map<string, string> | undefined => {
  const pairs = new Map<string, string>();
  let end = 0;
  for (let equals = text.indexOf('='); equals >= 0; equals = text.indexOf('=', Math.max(equals + 1, end))) {
    const start = findKeyStart(text, equals, end);
    if (start < 0) continue;
    const key = text.slice(start, equals);
    const parsedValue = readValue(text, equals + 1);
    ({ end } = parsedValue);
    if (!pairs.has(key)) pairs.set(key, parsedValue.value);
    if (pairs.size >= maxPairs) break;
  }
  return pairs.size < minPairs ? undefined : pairs;
};
