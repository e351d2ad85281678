/** Redacts secrets from reports, in every encoding that texts may have. */
import { ellipsis } from '../subjects/synthetics/cut.ts';

const mask = '********';
/** Minimum length of a truncated secret that is redacted: a shorter prefix reveals too little. */
const minPrefixLength = 4;

/** Base64 of a text at any position of a longer one: the part that is independent of the position. */
const base64Fragments = (text: string): string[] =>
  [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    // Without padding.
    const whole = bytes.toString('base64url');
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor((bytes.length * 8) / 6);
    const inner = whole.slice(from, to);
    // Shorter fragments would match unrelated text.
    if (inner.length < 6) return [];
    const plain = inner.replaceAll('-', '+').replaceAll('_', '/');
    return [inner, plain, ...hexCaseVariants(encodeURIComponent(plain))];
  });

/** With hex digits in both cases. */
const hexCaseVariants = (text: string): string[] => [
  text,
  text.replace(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase()),
];

/** Forms in addresses: each of their parts escapes different characters, and normalizes others. */
const urlForms = (text: string): string[] => {
  const url = new URL('http://host/');
  [url.username, url.pathname, url.search, url.hash] = [text, `/${text}`, text, text];
  const urlParts = [url.username, url.pathname.slice(1), url.search.slice(1), url.hash.slice(1)];
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  const component = encodeURIComponent(text);
  return (
    [component, component.replaceAll('%20', '+'), form, ...urlParts]
      // Parts that are invalid in an address, such as two dots, disappear.
      .filter(({ length }) => length >= text.length)
      .flatMap(hexCaseVariants)
  );
};

const unicodeEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Forms in JSON: required escapes, and optional escapes of slashes, non-ASCII characters and HTML characters. */
const jsonForms = (text: string): string[] => {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = plain.replace(/[\u007f-\uffff]/g, unicodeEscape);
  return [
    ...[plain, ascii, ...[plain, ascii].map((one) => one.replaceAll('/', '\\/'))],
    ...[plain, ascii].flatMap((one) => [one.replace(/[<>&]/g, unicodeEscape), one.replace(/[<>&']/g, unicodeEscape)]),
  ];
};

const htmlForms = (text: string): string[] => {
  const plain = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return [
    plain,
    plain.replaceAll('"', '&quot;'),
    ...['&#39;', '&#x27;', '&#039;', '&apos;'].map((quote) => plain.replaceAll('"', '&quot;').replaceAll("'", quote)),
    plain.replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
  ];
};

const encodedForms = (secret: string): string[] => {
  const hex = Buffer.from(secret).toString('hex');
  return [
    ...[secret, hex, hex.toUpperCase()],
    ...[...urlForms(secret), ...jsonForms(secret), ...htmlForms(secret), ...base64Fragments(secret)],
  ];
};

/** All forms of secrets, the longest first. Servers and pages omit spaces around them. */
export const sortedForms = (secrets: readonly string[]): readonly string[] =>
  [
    ...new Set(
      secrets
        .flatMap((secret) => [secret, secret.trim()])
        .filter((secret) => secret !== '')
        .flatMap(encodedForms),
    ),
  ].toSorted((one, other) => other.length - one.length);

/** Removes the beginning of a form at the end, where the text may have been truncated. */
const redactTruncatedForm = (text: string, forms: readonly string[]): string => {
  for (const form of forms)
    for (let from = Math.max(0, text.length - form.length + 1); from <= text.length - minPrefixLength; from++)
      if (form.startsWith(text.slice(from))) return text.slice(0, from) + mask;
  return text;
};

/** Returns a function that redacts the secrets from a text, even if it was truncated within them. */
export const makeRedactor = (secrets: readonly string[]): ((text: string) => string) => {
  const forms = sortedForms(secrets);
  return (text) =>
    forms
      .reduce((struck, form) => struck.replaceAll(form, mask), text)
      .split(ellipsis)
      .map((part) => redactTruncatedForm(part, forms))
      .join(ellipsis);
};
