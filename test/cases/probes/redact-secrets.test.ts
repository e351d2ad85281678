/** Secrets in reports: no encoding of a secret, and no large part of one, remains readable. */
import test from 'ava';
import { SecretFinder } from '../../../probes/redact-secrets.ts';

const secrets = [
  `s3cr3t'Val(ue)*-K9vBn4mQw8rT2y`,
  `Hq7"x<&>'/+=%~.K9vBn4mQ\\n%41`,
  'abcdEFGH#tail?more&x=1%zz',
  'pÄssw0rd-0123456789 ü€😀!',
  'kO0 w8!Wm',
  '{"type":"key","id":"a\\u00e9b"}',
];

const perCharacter = (encode: (character: string) => string) => (text: string) => [...text].map(encode).join('');
const hexOf = (byte: number): string => byte.toString(16).padStart(2, '0');
const perByte = (encode: (byte: number) => string) => (text: string) => Array.from(Buffer.from(text), encode).join('');
const base32 = (text: string): string => {
  const bits = Array.from(Buffer.from(text), (byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
};

/** Escape sequences of characters, which can be nested in any order */
const escapes: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'percent-encoded (JavaScript)': encodeURIComponent,
  'percent-encoded (RFC 3986)': (text) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${hexOf(one.charCodeAt(0))}`),
  'percent-encoded in lower case': (text) => encodeURIComponent(text).replace(/%../g, (digits) => digits.toLowerCase()),
  'each byte percent-encoded': perByte((byte) => `%${hexOf(byte)}`),
  form: (text) => new URLSearchParams({ '': text }).toString().slice(1),
  JSON: (text) => JSON.stringify(text),
  'JSON in ASCII': (text) =>
    JSON.stringify(text).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'JSON with escaped slashes': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  'JSON for HTML': (text) =>
    JSON.stringify(text).replace(/[<>&'=+]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
  HTML: (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&apos;'),
  'HTML of PHP': (text) =>
    text
      .replaceAll('&', '&amp;')
      .replace(
        /[<"'ÄüöZ{}]/g,
        (one) => ({ '<': '&lt;', '"': '&quot;', "'": '&#039;', Ä: '&Auml;', ü: '&uuml;' })[one] ?? one,
      ),
  'names of HTML': (text) =>
    text.replace(
      /[&{}()?|]/g,
      (one) => `&${{ '&': 'amp', '{': 'lcub', '}': 'rcub', '(': 'lpar', ')': 'rpar', '?': 'quest' }[one] ?? 'vert'};`,
    ),
  'decimal character references': perCharacter((one) => `&#${one.codePointAt(0)};`),
  'hexadecimal character references': perCharacter((one) => `&#x${one.codePointAt(0)?.toString(16)};`),
  'bytes of C': perByte((byte) => `\\x${hexOf(byte)}`),
  'octal bytes': perByte((byte) => `\\${byte.toString(8).padStart(3, '0')}`),
};

/** Encodings of all bytes */
const digits: Readonly<Record<string, (text: string) => string>> = {
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 of more': (text) => Buffer.from(`ann:${text}`).toString('base64'),
  'base64 of base64': (text) => Buffer.from(Buffer.from(`a:${text}`).toString('base64')).toString('base64'),
  'base64 of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('base64'),
  base32: (text) => base32(`x${text}`),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'hex with spaces': (text) => Array.from(Buffer.from(text), hexOf).join(' '),
  'an array of bytes': (text) => JSON.stringify([...Buffer.from(text)]),
};

test('a secret is redacted in every encoding, also in one within another', (t) => {
  const encodings = { ...escapes, ...digits };
  for (const secret of secrets) {
    const finder = new SecretFinder([`${secret}\n`]);
    for (const [inner, encode] of Object.entries(encodings))
      for (const [outer, encodeAgain] of Object.entries(escapes)) {
        const encoded = encodeAgain(encode(secret));
        const redacted = finder.redact(`before ${encoded} after`);
        const readable = encoded.slice(encoded.length * 0.3, encoded.length * 0.7);
        t.false(redacted.includes(readable), `${inner} in ${outer}: ${redacted}`);
        t.true(redacted.startsWith('before') && redacted.endsWith('after'), redacted);
      }
    for (const [name, encode] of Object.entries(escapes))
      t.regex(finder.redact(`<${encode(secret)}>`), /^<"?\*{8}"?>$/, name);
  }
});

test('half of a secret is redacted where a server cuts it, and the text around it is left', (t) => {
  const [secret = ''] = secrets;
  const finder = new SecretFinder([secret]);
  for (const length of [15, 20, 25]) {
    const redacted = finder.redact(`the key ${secret.slice(0, length)}, which is wrong`);
    t.is(redacted, 'the key ********, which is wrong');
  }
  for (const text of ['s3cr3t', 'the value of s3cr3t is 100 % & more \\o/', '%zz %C3 \\u12 &amp &;'])
    t.is(finder.redact(`${text}.`), `${text}.`);
});

test('the beginning of a secret at the end of a truncated text is redacted in every encoding', (t) => {
  for (const secret of secrets.slice(0, 4)) {
    const finder = new SecretFinder([secret]);
    for (const [name, encode] of Object.entries({ ...escapes, base64: digits['base64'] ?? String })) {
      const encoded = encode(secret).replace(/^"/, '');
      for (let length = 1; length < encoded.length; length++)
        // The encoding of the first five characters
        for (const end of ['', '… more'])
          t.false(
            finder
              .redact(`body is ${encoded.slice(0, length)}${end}`)
              .includes(encode(secret.slice(0, 8)).slice(1, -1)),
            `${name} at ${length}: ${finder.redact(`body is ${encoded.slice(0, length)}${end}`)}`,
          );
    }
  }
});
