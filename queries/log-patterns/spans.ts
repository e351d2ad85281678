/**
 * Defines the character classes of log bodies, and finds the end of values that are recognized by their format. Each
 * function scans forward once from a position in the character codes of a text. Codes that count as letters (`BEYOND`)
 * follow the text, so a short lookahead is safe.
 */

import { isDigit } from './keyed-body.ts';
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
/** Additional class of letters outside ASCII, and of emoji. Digits next to them are values: such letters form no ids. */
const FOREIGN = 128;

const classes = new Uint8Array(0x10000).fill(LETTER | FOREIGN);
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
/** Blocks outside ASCII with punctuation, symbols and spaces; most other codes there are letters */
const punctuationBlocks: readonly (readonly [first: number, last: number])[] = [
  [0x80, 0xbf],
  [0xd7, 0xd7],
  [0xf7, 0xf7],
  [0x55a, 0x55f],
  [0x589, 0x58a],
  [0x5be, 0x5f4],
  [0x600, 0x61f],
  [0x66a, 0x66d],
  [0x6d4, 0x6d4],
  [0x964, 0x970],
  [0xe3f, 0xe3f],
  [0xe4f, 0xe5b],
  [0x1360, 0x1368],
  [0x1680, 0x1680],
  [0x17d4, 0x17db],
  [0x2000, 0x2bff],
  [0x2e00, 0x2e7f],
  [0x3000, 0x303f],
  [0x30a0, 0x30fb],
  [0xfe10, 0xfe6f],
  [0xfeff, 0xfeff],
  [0xff00, 0xff65],
  [0xffe0, 0xffee],
];
/** Zeros of scripts, each followed by the other digits */
const foreignZeros = [
  ...[0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20],
  ...[0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0xa620, 0xff10],
];
for (const [first, last] of punctuationBlocks)
  for (let code = first; code <= last; code++) {
    const character = String.fromCharCode(code);
    if (/[\s\u0085\u200b]/.test(character)) classes[code] = SPACE;
    else if (/[\p{P}\p{S}]/u.test(character) && !/\p{Extended_Pictographic}/u.test(character)) classes[code] = 0;
  }
for (const zero of foreignZeros) classes.fill(DIGIT, zero, zero + 10);
/** Character classes as bits, and the bits of each character; characters outside words have none */
export const characters = {
  SPACE,
  LETTER,
  DIGIT,
  JOINT,
  HEXADECIMAL,
  AT: AT_SIGN,
  QUERY: QUESTION_MARK,
  FOREIGN,
  classes,
} as const;
/** Code after the end of a text; no character has this code */
export const BEYOND = 0xffff;

const getClassAt = (codes: Uint16Array, index: number): number => classes[codes[index] as number] as number;

/**
 * Words of technology with a digit inside, of which no number is a value: `s3`, `oauth2`, `utf8mb4`. A word with `2` or
 * `4` between letters (`log4j`, `word2vec`) needs no entry.
 */
const technicalWords = new WordSet(
  (
    's3 s3a s3n ec2 oauth1 oauth2 saml2 fido2 u2f k8s k3s i18n l10n g11n a11y utf7 utf8 utf16 utf32 utf8mb3 utf8mb4 latin1 ' +
    'cp1252 iso8859 iso8601 gb2312 gb18030 big5 x86 x64 x32 amd64 arm64 arm32 armv6 armv7 armv8 aarch64 riscv64 ppc64 ppc64le s390x ' +
    'mips64 i386 i586 i686 win32 win64 wow64 ipv4 ipv6 ip4 ip6 icmpv6 dhcpv4 dhcpv6 inet6 tcp4 tcp6 udp4 udp6 nat64 dns64 http1 ' +
    'http2 http3 h2c md4 md5 sha1 sha2 sha3 sha224 sha256 sha384 sha512 crc16 crc32 crc32c crc64 base16 base32 base58 base62 ' +
    'base64 base64url base85 aes128 aes192 aes256 rs256 rs384 rs512 hs256 hs384 hs512 es256 es384 es512 ps256 ps512 eddsa25519 ' +
    'ed25519 ed448 x25519 secp256k1 secp256r1 p256 p384 rc4 des3 chacha20 poly1305 pbkdf2 argon2 argon2id blake2 blake2b ' +
    'blake3 xxh64 pkcs1 pkcs5 pkcs7 pkcs8 pkcs11 pkcs12 p12 x509 ssl2 ssl3 sslv2 sslv3 tls1 tls10 tls11 tls12 tls13 tlsv1 ssh1 ' +
    'ssh2 smb1 smb2 smb3 nfs3 nfs4 nfsv3 nfsv4 ext2 ext3 ext4 fat16 fat32 pop3 imap4 log4net db2 c3p0 dbcp2 h2 web2 web3 mp3 mp4 ' +
    'h264 h265 av1 vp8 vp9 m3u8 jpeg2000 b2b b2c c2c p2p p2sh o2o e2e s2s m2m d2d psd2 v4l v4l2 i2c i2s ' +
    'usb2 usb3 l2 l3 lz4 bz2 bzip2 sqlite3 python2 python3 py2 py3 perl5 php5 php7 php8 lua5 es5 es6 vue2 vue3 boto3 psycopg2 ' +
    'psycopg3 urllib2 urllib3 jinja2 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 fp16 ' +
    'fp32 fp64 nvarchar2 varchar2 jsr310 junit4 junit5 cgroup2 cgroupv1 cgroupv2 erc20 erc721 bip32 bip39 bip44 p2pkh ' +
    'utf-8 utf-16 utf-32 iso-8859-1 iso-8859-15 iso-8601 sha-1 sha-2 sha-256 sha-512 aes-128 aes-256 x86-64 windows-1252'
  ).split(' '),
);
/** Maximum number of characters of technical words with their joints, as in `x86_64-unknown-linux-gnu` */
export const MAX_TECHNICAL_WORD = 24;
/** Maximum number of characters of a technical word that may also be a hexadecimal number: `ec2`, `ed25519` */
const MAX_HEX_WORD = 8;

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
/** Returns whether a character is a blank, quote or closing bracket, or no part of a URL. */
const isUrlEnd = (code: number): boolean =>
  code <= 32 || code > 127 || code === 34 || code === 39 || code === 62 || code === 93 || code === 41;

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
  openIndex: number,
  to: number,
  { end, separator, minItems }: ListForm,
): number => {
  let separators = 0;
  for (let index = openIndex + 1; index < to && index < openIndex + 512; index++) {
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
  let separatorCount = 0;
  let index = open + 1;
  for (; index < to && index < open + 128; index++) {
    const code = codes[index] as number;
    if (code === 45 || code === 44) separatorCount++;
    else if ((getClassAt(codes, index) & DIGIT) === 0) break;
  }
  return separatorCount > 0 && getClassAt(codes, open + 1) & DIGIT && codes[index] === 93 ? index + 1 : 0;
};

/** Returns the index after a MAC or IPv6 address with a known first colon; 0 if it is neither. */
export const findAddressEnd = (codes: Uint16Array, from: number, colon: number, to: number): number => {
  let index = colon;
  let colons = 0;
  let isShort = false;
  let digits = 0;
  const end = Math.min(to, from + 48);
  for (; index < end; index++) {
    const kind = getClassAt(codes, index);
    if (codes[index] === 58) {
      colons++;
      if (index > 0 && codes[index - 1] === 58) isShort = true;
    } else if ((kind & HEXADECIMAL) === 0) break;
    digits |= kind & DIGIT;
  }
  const isAddress = colons > 2 || (isShort && digits > 0);
  return isAddress && !(index < to && getClassAt(codes, index) & LETTER) ? index : 0;
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
  while (index < to && (getClassAt(codes, index) & LETTER || codes[index] === 95)) index++;
  const stem = index;
  if (stem < from + 3 || codes[stem] !== 46) return 0;
  for (index++; index < to; index++) if ((getClassAt(codes, index) & DIGIT) === 0) return 0;
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
  while (index < to && index < end + 2 + MAX_UNIT_LETTERS && getClassAt(codes, index) & LETTER) index++;
  const next = index < to ? getClassAt(codes, index) : SPACE;
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
  let isAllUppercase = true;
  while (index > from && codes[index - 1] !== 46) {
    index--;
    const code = codes[index] as number;
    if (code >= 97 && code <= 122) isAllUppercase = false;
  }
  if (index === from || codes[from] === 46) return false;
  return !(isAllUppercase || isWordAt(codes, to - 9, 'Exception') || isWordAt(codes, to - 5, 'Error'));
};

const unitTypes = new WordSet('service socket timer mount automount swap target scope slice'.split(' '));

/** Returns whether a text with one dot is the name of a unit of systemd: `nginx.service`. */
export const isUnitName = (codes: Uint16Array, from: number, to: number): boolean => {
  let dot = to - 1;
  while (dot > from && codes[dot] !== 46) dot--;
  return dot > from && unitTypes.has(codes, dot + 1, to);
};

/** What systemd writes before a unit and its description, in `src/core` of its source */
const unitPhrases = [
  ...['Starting', 'Started', 'Stopping', 'Stopped', 'Reloading', 'Reloaded', 'Finished', 'Failed to start'],
  ...['Failed to stop', 'Failed to reload', 'Stopped (with error)', 'Dependency failed for', 'Reached target'],
  ...['Stopped target', 'Mounting', 'Mounted', 'Failed to mount', 'Unmounting', 'Unmounted', 'Failed unmounting'],
  ...['Listening on', 'Closed', 'Failed to listen on', 'Created slice', 'Removed slice', 'Activating swap'],
  ...['Activated swap', 'Deactivating swap', 'Deactivated swap', 'Failed to activate swap', 'Set up automount'],
  ...['Unset automount', 'Timed out starting', 'Timed out stopping', 'Timed out mounting', 'Timed out unmounting'],
];

/** Returns whether systemd announces a unit here: one of its phrases precedes, at the start or after a blank. */
export const isAnnouncedUnit = (codes: Uint16Array, from: number): boolean =>
  codes[from - 1] === 32 &&
  unitPhrases.some((phrase) => {
    const start = from - 1 - phrase.length;
    return isWordAt(codes, start, phrase) && (start === 0 || codes[start - 1] === 32);
  });

/** Returns the end of the description of a unit, without final dots: `nginx.service - A web server.`; `from` if there is none. */
export const findDescriptionEnd = (codes: Uint16Array, from: number, to: number): number => {
  if (codes[from] !== 32 || codes[from + 1] !== 45 || codes[from + 2] !== 32) return from;
  let end = to;
  while (end > from + 3 && codes[end - 1] === 46) end--;
  return end > from + 3 ? end : from;
};

/** Returns whether a field begins here: a name, and an equals sign. */
export const isFieldAt = (codes: Uint16Array, from: number, to: number): boolean => {
  let index = from;
  while (index < to && (getClassAt(codes, index) & (LETTER | DIGIT)) !== 0) index++;
  return index > from && index + 1 < to && codes[index] === 61;
};

/**
 * Returns the index of the quote that closes the one at `open`; `to` if there is none. With escapes, a quote after a
 * backslash is a part of the value, unless no other quote follows: `path="C:\\a\\"`.
 */
export const findQuoteEnd = (
  codes: Uint16Array,
  open: number,
  { to, hasEscapes }: { readonly to: number; readonly hasEscapes: boolean },
): number => {
  const quote = codes[open];
  let escaped = to;
  for (let index = open + 1; index < to; index++) {
    if (codes[index] !== quote) continue;
    if (codes[index - 1] !== 92 || !hasEscapes) return index;
    escaped = index;
  }
  return escaped;
};

/** Returns whether the name of a month or day ends here, followed by a digit or another name of this kind. */
export const isDatePart = (codes: Uint16Array, end: number, to: number): boolean => {
  if (!calendarWords.has(codes, end - 3, end)) return false;
  let index = end;
  while (index < to && (codes[index] === 32 || codes[index] === 44)) index++;
  if (index === end || index >= to) return false;
  return getClassAt(codes, index) === (DIGIT | HEXADECIMAL) || calendarWords.has(codes, index, index + 3);
};

/** Returns whether a part of a run is lowercase letters around one `2` or `4`, as in `log4j` and `word2vec`. */
const isConversion = (codes: Uint16Array, from: number, to: number): boolean => {
  let digit = 0;
  for (let index = from; index < to; index++) {
    const code = codes[index] as number;
    if (code >= 97 && code <= 122) continue;
    if (digit > 0 || (code !== 50 && code !== 52)) return false;
    digit = index;
  }
  return digit - from >= 3 && digit + 1 < to;
};

/** Returns whether each part of a run that has a digit is a technical word: `s3`, `oauth2-proxy`, `x86_64`. */
export const isTechnicalWord = (codes: Uint16Array, from: number, to: number, isHex: boolean): boolean => {
  if (isHex && to - from > MAX_HEX_WORD) return false;
  if (technicalWords.has(codes, from, to)) return true;
  let start = from;
  let seenClasses = 0;
  for (let index = from; index <= to; index++) {
    const kind = index < to ? getClassAt(codes, index) : JOINT;
    if ((kind & JOINT) === 0) {
      seenClasses |= kind;
      continue;
    }
    if (index < to && isOutsideName(codes[index] as number)) return false;
    if (seenClasses & DIGIT && !isTechnicalPart(codes, start, index, seenClasses)) return false;
    start = index + 1;
    seenClasses = 0;
  }
  return true;
};

/** Returns whether a joint separates parts of a host, path or address. */
const isOutsideName = (code: number): boolean => code === 46 || code === 47 || code === 92 || code === 64;

const isTechnicalPart = (codes: Uint16Array, from: number, to: number, seenClasses: number): boolean => {
  if (seenClasses & LETTER) return technicalWords.has(codes, from, to) || isConversion(codes, from, to);
  // The end of `x86_64`.
  return to - from === 2 && isWordAt(codes, from - 3, '86') && isWordAt(codes, from, '64');
};

const httpNames = new WordSet(['http']);

/** Returns whether a number of three digits after `HTTP ` begins here: the name of a status, not a value. */
export const isHttpStatus = (codes: Uint16Array, from: number, to: number): boolean =>
  to - from === 3 &&
  from > 4 &&
  codes[from - 1] === 32 &&
  httpNames.has(codes, from - 5, from - 1) &&
  /^[1-5]\d\d$/.test(String.fromCharCode(...codes.subarray(from, to)));

const announcingWords = new WordSet('to from via by at'.split(' '));

/**
 * Returns the index after a name with a number in parentheses, such as `LOCAL(0)`; 0 if there is none. Only capitals
 * after a preposition form such a name.
 */
export const findNumberedNameEnd = (codes: Uint16Array, from: number, open: number, to: number): number => {
  let index = open + 1;
  while (index < to && isDigit(codes[index] as number)) index++;
  if (index === open + 1 || codes[index] !== 41) return 0;
  for (let at = from; at < open; at++) if (!isCapital(codes[at] as number)) return 0;
  let before = from - 1;
  while (before > 0 && getClassAt(codes, before - 1) & LETTER) before--;
  return from > 0 && codes[from - 1] === 32 && announcingWords.has(codes, before, from - 1) ? index + 1 : 0;
};

/** Returns whether letters have the case of words, as in `camelCase`, and not that of random ids. */
export const isWordLike = (codes: Uint16Array, from: number, to: number): boolean => {
  let lower = 0;
  for (let index = from; index < to; index++) {
    const code = codes[index] as number;
    if (code >= 97 && code <= 122) lower++;
    else {
      // A single small letter between others is not a word.
      if (lower === 1 && isCapital(code)) return false;
      lower = 0;
    }
  }
  return true;
};

/** Returns whether a code is an emoji or symbol such as `✅`, or the first half of one. */
export const isPicture = (code: number): boolean =>
  (code >= 0x2300 && code < 0x2800) || (code >= 0x2b00 && code < 0x2c00) || (code >= 0xd83c && code <= 0xd83e);

/** Opening quotes outside ASCII, with their closing quotes */
const foreignQuotes: ReadonlyMap<number, number> = new Map([
  [0x201c, 0x201d],
  [0x201e, 0x201c],
  [0x2018, 0x2019],
  [0xab, 0xbb],
  [0x300c, 0x300d],
  [0x300e, 0x300f],
  [0x300a, 0x300b],
]);
const MAX_QUOTED = 256;

/** Returns the index of the closing quote of a text in quotes outside ASCII; 0 if there is none. */
export const findForeignQuoteEnd = (codes: Uint16Array, open: number, to: number): number => {
  const close = foreignQuotes.get(codes[open] as number);
  if (close === undefined) return 0;
  for (let index = open + 1; index < to && index < open + MAX_QUOTED; index++) if (codes[index] === close) return index;
  return 0;
};

/** Returns whether an HTTP method begins here, as in `"GET /path HTTP/1.1"`. */
export const isHttpRequest = (codes: Uint16Array, from: number): boolean => {
  let index = from;
  while (index < from + 8 && isCapital(codes[index] as number)) index++;
  return codes[index] === 32 && httpMethods.has(codes, from, index);
};
