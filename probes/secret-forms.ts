/** Forms in which texts contain a secret: itself, and what programs make of it when they encode it. */

/** Minimum length of a truncated secret that is recognized: a shorter beginning reveals too little. */
export const minPrefixLength = 4;
/** Minimum length of a fragment of base64 or base32: shorter ones match unrelated text. */
const minFragmentLength = 6;

/**
 * Encodes bytes in an alphabet of `bitsPerDigit`, at each position of a longer text: the digits that are independent of
 * the position.
 */
const digitFragments = (bytes: Buffer, alphabet: string, bitsPerDigit: number): string[] =>
  Array.from({ length: bitsPerDigit === 6 ? 3 : 5 }, (_, offset) => {
    let digits = '';
    let [bits, bitCount] = [0, 0];
    // Bits of the digit that the bytes before share.
    let skippedBits = (bitsPerDigit - ((offset * 8) % bitsPerDigit)) % bitsPerDigit;
    for (const byte of bytes) {
      bits = ((bits << 8) | byte) & 0xfff_ffff;
      bitCount += 8;
      if (skippedBits > 0) {
        bitCount -= skippedBits;
        skippedBits = 0;
      }
      for (; bitCount >= bitsPerDigit; bitCount -= bitsPerDigit)
        digits += alphabet[(bits >> (bitCount - bitsPerDigit)) & ((1 << bitsPerDigit) - 1)];
    }
    return digits;
  }).filter(({ length }) => length >= minFragmentLength);

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const base64Fragments = (bytes: Buffer): string[] => digitFragments(bytes, base64, 6);

/** Texts of bytes as digits */
const byteForms = (bytes: Buffer): string[] => {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0'));
  return [
    ...[hex.join(''), hex.join(' '), hex.join(':'), bytes.join(','), bytes.join(', ')],
    ...[...base64Fragments(bytes), ...digitFragments(bytes, base32, 5)],
  ];
};

const percentEncode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const encodeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

/** Parts of addresses: each escapes different characters, and normalizes others. */
const urlParts = (secret: string): string[] => {
  const url = new URL('http://host/');
  [url.username, url.pathname, url.search, url.hash] = [secret, `/${secret}`, secret, secret];
  return (
    [url.username, url.pathname.slice(1), url.search.slice(1), url.hash.slice(1)]
      // Parts that are invalid in an address, such as two dots, disappear.
      .filter(({ length }) => length >= secret.length)
  );
};

const escapeAsUnicode = (text: string): string =>
  text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Texts in which programs send or print a secret */
const escapedTexts = (secret: string): string[] => {
  const json = JSON.stringify(secret).slice(1, -1);
  const component = encodeURIComponent(secret.toWellFormed());
  return [
    secret,
    ...[json, escapeAsUnicode(json), json.replaceAll('/', '\\/')],
    ...[component, percentEncode(secret), ...urlParts(secret)],
    new URLSearchParams([['', secret]]).toString().slice(1),
    encodeHtml(secret),
  ];
};

/**
 * Returns the forms of a secret. Escapes of single characters are none of them, except within encoded bytes: the finder
 * decodes them.
 */
export const secretForms = (secret: string): readonly string[] => {
  const utf8 = Buffer.from(secret);
  const bytes = [
    ...[...new Set(escapedTexts(secret))].map((text) => Buffer.from(text)),
    ...[Buffer.from(secret, 'latin1'), Buffer.from(secret, 'utf16le')],
  ];
  return [
    secret,
    // Read in another charset than written
    ...[utf8.toString('latin1'), Buffer.from(secret, 'latin1').toString('utf8')],
    ...bytes.flatMap(byteForms),
    ...base64Fragments(utf8).flatMap((text) => base64Fragments(Buffer.from(text))),
  ];
};

/** Returns the variants of secrets as variables contain them: servers and pages omit spaces around them. */
export const secretVariants = (secrets: readonly string[]): readonly string[] => [
  ...new Set(secrets.flatMap((secret) => [secret, secret.trim()]).filter((secret) => secret !== '')),
];

/** Returns texts by which people could read a secret in a page: the longest first. */
export const visibleForms = (secrets: readonly string[]): readonly string[] =>
  [...new Set(secretVariants(secrets).flatMap((secret) => [...escapedTexts(secret), ...secretForms(secret)]))].toSorted(
    (left, right) => right.length - left.length,
  );
