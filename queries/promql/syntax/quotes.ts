import { isUtf8 } from 'node:buffer';

const escapeNames = new Map([
  [7, 'a'],
  [8, 'b'],
  [12, 'f'],
  [10, 'n'],
  [13, 'r'],
  [9, 't'],
  [11, 'v'],
  [92, '\\'],
]);
const escapeCodes = new Map([...escapeNames].map(([code, name]) => [name, code]));

const formatHex = (code: number, digitCount: number): string => code.toString(16).padStart(digitCount, '0');

const escapeCharacter = (character: string, quote: string): string => {
  const code = character.codePointAt(0) as number;
  if (character === quote) return `\\${quote}`;
  const name = escapeNames.get(code);
  if (name !== undefined) return `\\${name}`;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${formatHex(code - 0xdc00, 2)}`;
  if (code < 0x20 || code === 0x7f) return `\\x${formatHex(code, 2)}`;
  if (code < 0x7f || !/[\p{C}\p{Z}]/u.test(character)) return character;
  return code > 0xffff ? `\\U${formatHex(code, 8)}` : `\\u${formatHex(code, 4)}`;
};

/** Returns a text in double quotes with unprintable characters escaped, as in Prometheus' messages and expressions. */
export const quoteText = (text: string, quote: '"' | "'" = '"'): string =>
  quote + [...text].map((character) => escapeCharacter(character, quote)).join('') + quote;

/**
 * Parses an escape sequence after its backslash. Returns its bytes and its number of characters; undefined if it is
 * invalid.
 */
const parseEscape = (text: string, quote: string): { bytes: Buffer; length: number } | undefined => {
  const first = text[0] ?? '';
  const code = escapeCodes.get(first);
  if (code !== undefined) return { bytes: Buffer.of(code), length: 1 };
  if (first === quote) return { bytes: Buffer.from(quote), length: 1 };
  const digits = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-3][0-7]{2}))/.exec(text);
  if (digits === null) return undefined;
  const [whole, byte, shortCode, longCode, octal] = digits;
  if (byte !== undefined) return { bytes: Buffer.of(Number.parseInt(byte, 16)), length: whole.length };
  if (octal !== undefined) return { bytes: Buffer.of(Number.parseInt(octal, 8)), length: whole.length };
  const codePoint = Number.parseInt(shortCode ?? longCode ?? '', 16);
  return codePoint > 0x10ffff
    ? undefined
    : { bytes: Buffer.from(String.fromCodePoint(codePoint)), length: whole.length };
};

const utf8Sequence =
  /[\0-\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;

/** Decodes bytes as text. Bytes that are not UTF-8 become lone surrogates, so that the text is not well-formed. */
const decodeBytes = (bytes: Buffer): string => {
  if (isUtf8(bytes)) return bytes.toString();
  return bytes
    .toString('latin1')
    .replaceAll(utf8Sequence, (part) =>
      /^[\x80-\xff]$/.test(part)
        ? String.fromCharCode(0xdc00 + part.charCodeAt(0))
        : Buffer.from(part, 'latin1').toString(),
    );
};

/** Returns the text between quotes with escapes replaced; undefined if one is invalid. */
const unescapeText = (inner: string, quote: string): string | undefined => {
  const parts: Buffer[] = [];
  for (let position = 0; position < inner.length; ) {
    const backslashPosition = inner.indexOf('\\', position);
    const end = backslashPosition < 0 ? inner.length : backslashPosition;
    if (end > position) parts.push(Buffer.from(inner.slice(position, end)));
    if (backslashPosition < 0) break;
    const escapeSequence = parseEscape(inner.slice(backslashPosition + 1, backslashPosition + 10), quote);
    if (escapeSequence === undefined) return undefined;
    parts.push(escapeSequence.bytes);
    position = backslashPosition + 1 + escapeSequence.length;
  }
  return decodeBytes(Buffer.concat(parts));
};

/** Returns the text of a literal in `"`, `'` or backquotes; undefined if it is invalid. */
export const unquoteText = (literal: string): string | undefined => {
  const quote = literal[0] ?? '';
  const inner = literal.slice(1, -1);
  if (literal.length < 2 || literal.at(-1) !== quote) return undefined;
  if (quote === '`') return inner.includes('`') ? undefined : inner;
  if ((quote !== '"' && quote !== "'") || inner.includes('\n')) return undefined;
  return inner.includes('\\') ? unescapeText(inner, quote) : inner;
};
