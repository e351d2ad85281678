/** Decodes texts once: percent-encoding, escapes of JSON, and base64. */
import { mayContainBase64 } from './prefilter.ts';

/** A decoded text, and where its parts were in the encoded one. */
export interface DecodedText {
  readonly text: string;
  /** Returns the range in the encoded text from which a range was decoded. */
  getRange(start: number, end: number): readonly [start: number, end: number];
}

/** Decodes a text piece by piece. `pattern` finds encoded pieces, and `decode` returns their text. */
const decodePieces = (
  text: string,
  pattern: RegExp,
  decode: (piece: string) => string | undefined,
): DecodedText | undefined => {
  let decoded = '';
  /** Positions in the decoded and in the encoded text at the end of each piece, ascending */
  const decodedEnds: number[] = [0];
  const encodedEnds: number[] = [0];
  let copied = 0;
  for (const match of text.matchAll(pattern)) {
    const piece = decode(match[0]);
    if (piece === undefined) continue;
    decoded += text.slice(copied, match.index);
    decodedEnds.push(decoded.length);
    encodedEnds.push(match.index);
    decoded += piece;
    copied = match.index + match[0].length;
    decodedEnds.push(decoded.length);
    encodedEnds.push(copied);
  }
  if (copied === 0) return undefined;
  decoded += text.slice(copied);
  /** Odd entries begin an encoded piece, which is replaced as a whole. */
  const locate = (position: number, isEnd: boolean): number => {
    let low = 0;
    let high = decodedEnds.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const end = decodedEnds[middle] as number;
      if (isEnd ? end < position : end <= position) low = middle;
      else high = middle - 1;
    }
    const isInPiece = low % 2 === 1;
    if (isInPiece) return isEnd ? (encodedEnds[low + 1] as number) : (encodedEnds[low] as number);
    return (encodedEnds[low] as number) + position - (decodedEnds[low] as number);
  };
  return { text: decoded, getRange: (start, end) => [locate(start, false), locate(end, true)] };
};

const percentPattern = /(?:%[0-9A-Fa-f]{2})+/g;
const escapePattern = /\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])/g;
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

const decodePercent = (piece: string): string => Buffer.from(piece.replaceAll('%', ''), 'hex').toString('latin1');

const decodeEscape = (piece: string): string => {
  const character = piece.charAt(1);
  return character === 'u'
    ? String.fromCharCode(Number.parseInt(piece.slice(2), 16))
    : (escapes[character] ?? character);
};

/** Bytes at the beginning that decide whether base64 contains a text */
const sampleCharacters = 16;
const isPrintable = (bytes: Buffer): boolean => {
  for (const byte of bytes)
    if ((byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) || byte > 0x7e) return false;
  return true;
};

const decodeBase64 = (run: string): string | undefined => {
  if (!isPrintable(Buffer.from(run.slice(0, sampleCharacters), 'base64'))) return undefined;
  const bytes = Buffer.from(run, 'base64');
  return isPrintable(bytes) ? bytes.toString('latin1') : undefined;
};

/** Characters before base64 in a run of other characters, such as a name and `=`. */
const base64Pattern = /[A-Za-z0-9+/_-]{20,}={0,2}/g;

/** Returns the decoded forms of a text that differ from it. */
export const decodeText = (text: string): DecodedText[] => {
  const forms: (DecodedText | undefined)[] = [];
  if (/%[0-9A-Fa-f]{2}/.test(text)) forms.push(decodePieces(text, percentPattern, decodePercent));
  if (text.includes('\\')) forms.push(decodePieces(text, escapePattern, decodeEscape));
  if (mayContainBase64(Buffer.from(text))) forms.push(decodePieces(text, base64Pattern, decodeBase64));
  return forms.filter((form) => form !== undefined);
};
