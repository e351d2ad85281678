/**
 * JSON Canonicalization Scheme (RFC 8785): members sorted by UTF-16 code units, no white space, numbers and strings as
 * ECMAScript writes them. Two equal values have the same text. `undefined` members are omitted. Throws for text that is
 * not well-formed Unicode (an unpaired surrogate), which cannot be encoded in UTF-8.
 */
export const toCanonicalJson = (value: unknown): string => writeCanonical(value, quoteWellFormed);

/**
 * Like `toCanonicalJson`, but writes an unpaired surrogate as its escape: earlier versions recorded it in this form, and
 * it still verifies.
 */
export const toLegacyCanonicalJson = (value: unknown): string => writeCanonical(value, JSON.stringify);

const writeCanonical = (value: unknown, quoteText: (text: string) => string): string => {
  if (Array.isArray(value)) return `[${value.map((element) => writeCanonical(element, quoteText)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => `${quoteText(name)}:${writeCanonical(member, quoteText)}`);
    return `{${members.join(',')}}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
  return typeof value === 'string' ? quoteText(value) : (JSON.stringify(value) ?? 'null');
};

const quoteWellFormed = (text: string): string => {
  if (!text.isWellFormed()) throw new TypeError(`${JSON.stringify(text)} is not well-formed Unicode`);
  return JSON.stringify(text);
};

/** Whether all text in a value is well-formed Unicode. */
export const isWellFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member));
};

/** Returns a JSON value with U+FFFD in place of every unpaired surrogate. */
export const toWellFormed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), toWellFormed(member)]));
};
