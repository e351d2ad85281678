/**
 * Skips bytes without a secret in a few nanoseconds per byte. A rule needs one of its keywords. Keywords that name a value
 * are in most records, so that they need an operator and a value behind them as well. Keywords of fewer than three
 * characters need a long run of characters of tokens.
 */
import { addToList } from '../../schemas/add-to-list.ts';
import { ByteTextSearcher } from '../../schemas/byte-texts.ts';
import { redactionStart } from './redaction.ts';
import { secretRules } from './rules.ts';

const minKeywordLength = 3;

/** Rules by the number of their keyword in the searcher */
const rulesByKeyword = new Map<string, number[]>();
/** Rules whose keywords are too short to be searched for */
const shortKeywordRules: number[] = [];
for (const [index, { keywords }] of secretRules.entries())
  if (keywords.some((word) => word.length < minKeywordLength)) shortKeywordRules.push(index);
  else for (const word of keywords) addToList(rulesByKeyword, word, index);
// Secrets that were replaced are reported too.
rulesByKeyword.set(redactionStart, []);
const keywordRules = [...rulesByKeyword.values()];
const searcher = new ByteTextSearcher(rulesByKeyword.keys(), { ignoresCase: true });
/** Whether all rules of a keyword need a value behind it */
const needsValue = keywordRules.map(
  (rules) => rules.length > 0 && rules.every((index) => secretRules[index]?.hasNamedValue === true),
);

/** Classes of bytes, as bits */
const tokenClass = 1;
const nameClass = 2;
const separatorClass = 4;
const operatorClass = 8;
const valueClass = 16;
const quoteClass = 32;
const escapeClass = 64;
const keywordClass = 128;

const classes = new Uint8Array(256);
const addClass = (bit: number, characters: string): void => {
  for (const character of characters) {
    const code = character.charCodeAt(0);
    classes[code] = (classes[code] as number) | bit;
  }
};
const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
addClass(tokenClass, `${alphanumeric}+/_-.~=`);
addClass(nameClass, `${alphanumeric}_.- \t`);
addClass(separatorClass, ' \t\n\f\r\'"\\');
addClass(escapeClass, '%\\');
addClass(keywordClass, `${alphanumeric}_.-`);
addClass(operatorClass, '=>:|?,');
addClass(quoteClass, '`\'" \t\n\f\r=\\>');
addClass(valueClass, `${alphanumeric}_.=+/-:~`);

/** Characters between a keyword and the operator: more than the rules allow, because their names go on behind keywords */
const maxNameLength = 48;
const minValueLength = 8;
/** Tag of the value behind the key of an attribute, in protobuf */
const valueTag = 0x12;

const hasClass = (bytes: Uint8Array, position: number, bit: number): boolean =>
  ((classes[bytes[position] as number] as number) & bit) !== 0;

const skipClass = (bytes: Uint8Array, from: number, to: number, bit: number): number => {
  let position = from;
  while (position < to && hasClass(bytes, position, bit)) position++;
  return position;
};

/** Returns whether a keyword that ends at `end` may be the name of a value of the generic rule. */
const mayNameValue = (bytes: Uint8Array, end: number, to: number): boolean => {
  let position = skipClass(bytes, end, Math.min(to, end + maxNameLength), nameClass);
  position = skipClass(bytes, position, Math.min(to, position + 4), separatorClass);
  if (position >= to) return false;
  if (bytes[position] === valueTag) return (bytes[position + 1] as number) >= minValueLength;
  // A percent-encoded operator
  if (bytes[position] === 0x25) return true;
  const operatorEnd = skipClass(bytes, position, Math.min(to, position + 4), operatorClass);
  if (operatorEnd === position) return false;
  position = skipClass(bytes, operatorEnd, Math.min(to, operatorEnd + 8), quoteClass);
  return skipClass(bytes, position, Math.min(to, position + minValueLength), valueClass) - position >= minValueLength;
};

/** Length of a run of characters of tokens that may have a short keyword, or be base64 of a name with a value */
const minRunLength = 20;
/** Characters of base64 that are decoded to decide whether it is a text */
const sampleLength = 16;

const base64Values = new Int8Array(256).fill(-1);
for (const [value, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  base64Values[character.charCodeAt(0)] = value;
base64Values['-'.charCodeAt(0)] = 62;
base64Values['_'.charCodeAt(0)] = 63;

const isPrintable = (byte: number): boolean =>
  (byte >= 0x20 && byte <= 0x7e) || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** Returns whether base64 that begins at `start` begins with a text. */
const beginsWithText = (bytes: Uint8Array, start: number): boolean => {
  for (let position = start; position < start + sampleLength; position += 4) {
    const bits =
      ((base64Values[bytes[position] as number] as number) << 18) |
      ((base64Values[bytes[position + 1] as number] as number) << 12) |
      ((base64Values[bytes[position + 2] as number] as number) << 6) |
      (base64Values[bytes[position + 3] as number] as number);
    if (bits < 0 || !isPrintable(bits >> 16) || !isPrintable((bits >> 8) & 255) || !isPrintable(bits & 255))
      return false;
  }
  return true;
};

const toLowerCase = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte);

/** Pairs of bytes of the short keywords, in lower case */
const shortKeywords = new Set(
  shortKeywordRules.flatMap((index) =>
    (secretRules[index] as (typeof secretRules)[number]).keywords
      .filter((word) => word.length < minKeywordLength)
      .map((word) => (word.charCodeAt(0) << 8) | word.charCodeAt(1)),
  ),
);

interface RunFindings {
  hasShortKeyword: boolean;
  hasBase64: boolean;
}
const runFindings: RunFindings = { hasShortKeyword: false, hasBase64: false };

const inspectRun = (bytes: Uint8Array, start: number, end: number): void => {
  let base64Start = start;
  let previous = 0;
  for (let position = start; position < end; position++) {
    const byte = bytes[position] as number;
    if ((base64Values[byte] as number) < 0) base64Start = position + 1;
    else if (position - base64Start === minRunLength - 1 && beginsWithText(bytes, base64Start))
      runFindings.hasBase64 = true;
    const lowerCase = toLowerCase(byte);
    if (shortKeywords.has((previous << 8) | lowerCase)) runFindings.hasShortKeyword = true;
    previous = lowerCase;
  }
};

/** Finds what long runs of characters of tokens contain. */
const inspectRuns = (bytes: Uint8Array, from: number, to: number): RunFindings => {
  runFindings.hasShortKeyword = false;
  runFindings.hasBase64 = false;
  for (let position = from + minRunLength - 1; position < to; position += minRunLength) {
    if (!hasClass(bytes, position, tokenClass)) continue;
    let start = position;
    while (start > from && hasClass(bytes, start - 1, tokenClass)) start--;
    const end = skipClass(bytes, position, to, tokenClass);
    if (end - start >= minRunLength) inspectRun(bytes, start, end);
    position = Math.max(position, end - 1);
  }
  return runFindings;
};

const readHexDigit = (byte: number | undefined): number =>
  byte === undefined ? -1 : Number.parseInt(String.fromCharCode(byte), 16);

const backslash = 0x5c;
const letterU = 0x75;
addClass(escapeClass, '%\\');

/** Returns whether a character of a keyword may be escaped. Other escapes leave keywords as they are. */
const hidesKeyword = (bytes: Uint8Array, position: number, to: number): boolean => {
  if (bytes[position] === backslash) return position + 1 < to && bytes[position + 1] === letterU;
  if (position + 2 >= to) return false;
  const code = readHexDigit(bytes[position + 1]) * 16 + readHexDigit(bytes[position + 2]);
  return ((classes[code] ?? 0) & keywordClass) !== 0;
};

let scannedBytes: Uint8Array = new Uint8Array(0);
let scannedEnd = 0;
let hasCandidate = false;
const noteCandidate = (keyword: number, end: number): void => {
  hasCandidate ||= !needsValue[keyword] || mayNameValue(scannedBytes, end, scannedEnd);
};

/** Returns whether bytes may contain a secret, also an encoded one. May be true without one, but never false with one. */
export const mayContainSecret = (bytes: Uint8Array, from: number, to: number): boolean => {
  if (to - from < minValueLength) return false;
  hasCandidate = false;
  scannedBytes = bytes;
  scannedEnd = to;
  searcher.scan(bytes, from, to, noteCandidate);
  if (hasCandidate) return true;
  for (let position = from; position < to; position++)
    if (((classes[bytes[position] as number] as number) & escapeClass) !== 0 && hidesKeyword(bytes, position, to))
      return true;
  const { hasBase64, hasShortKeyword } = inspectRuns(bytes, from, to);
  return hasBase64 || hasShortKeyword;
};

/** Returns whether a part of the bytes may be base64 of a text. */
export const mayContainBase64 = (bytes: Uint8Array): boolean => inspectRuns(bytes, 0, bytes.length).hasBase64;

const namesWithKeyword = new Map<string, boolean>();
const maxNames = 10_000;

/** Returns whether a value of an attribute may be a secret because of the name of the attribute. */
export const mayNameSecret = (name: string, length: number): boolean => {
  if (length < minValueLength) return false;
  let hasKeyword = namesWithKeyword.get(name);
  if (hasKeyword === undefined) {
    hasKeyword = false;
    const bytes = Buffer.from(name);
    searcher.scan(bytes, 0, bytes.length, () => {
      hasKeyword = true;
    });
    if (namesWithKeyword.size >= maxNames) namesWithKeyword.clear();
    namesWithKeyword.set(name, hasKeyword);
  }
  return hasKeyword;
};

/** Returns the numbers of the rules that may find a secret in bytes, in order. */
export const collectCandidates = (bytes: Uint8Array): number[] => {
  const candidates = new Set<number>();
  searcher.scan(bytes, 0, bytes.length, (keyword, end) => {
    for (const rule of keywordRules[keyword] as number[])
      if (secretRules[rule]?.hasNamedValue !== true || mayNameValue(bytes, end, bytes.length)) candidates.add(rule);
  });
  if (inspectRuns(bytes, 0, bytes.length).hasShortKeyword) for (const rule of shortKeywordRules) candidates.add(rule);
  return [...candidates].sort((left, right) => left - right);
};
