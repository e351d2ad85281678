/** Strikes secrets out of what is told, in every form in which texts carry them. */

const mask = '********';

/** Base64 of a text that lies anywhere in a longer one: what is the same wherever the longer one begins. */
const withinBase64 = (text: string): string[] =>
  [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    // Without padding.
    const whole = bytes.toString('base64url');
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor((bytes.length * 8) / 6);
    const inner = whole.slice(from, to);
    // Shorter ones are found everywhere.
    return inner.length < 6 ? [] : [inner, inner.replaceAll('-', '+').replaceAll('_', '/')];
  });

const formsOf = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  encodeURIComponent(secret).replaceAll('%20', '+'),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('hex'),
  ...withinBase64(secret),
];

/** All forms of secrets, the longest first. */
export const formsIn = (secrets: readonly string[]): readonly string[] =>
  [...new Set(secrets.filter((secret) => secret !== '').flatMap(formsOf))].toSorted(
    (one, other) => other.length - one.length,
  );

/** A function that strikes the secrets out of a text. */
export const striker = (secrets: readonly string[]): ((text: string) => string) => {
  const forms = formsIn(secrets);
  return (text) => forms.reduce((struck, form) => struck.replaceAll(form, mask), text);
};
