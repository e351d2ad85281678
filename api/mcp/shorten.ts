/** Shortens responses for the context of a language model. */

/** Estimate that holds for JSON in English within a fifth: four bytes a token. */
export const countTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value as object).length === 0);

const shortenText = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text;
  const end = /[\uD800-\uDBFF]/.test(text[maxLength - 1] ?? '') ? maxLength - 1 : maxLength;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
};

/**
 * Returns a copy without empty values, with texts of at most `maxTextLength` characters and lists of at most
 * `maxItems` values. What is left out is stated in its place.
 */
const shorten = (value: unknown, maxTextLength: number, maxItems: number): unknown => {
  if (typeof value === 'string') return shortenText(value, maxTextLength);
  if (Array.isArray(value)) {
    const shortened = value.slice(0, maxItems).map((item) => shorten(item, maxTextLength, maxItems));
    return value.length > maxItems ? [...shortened, `… ${value.length - maxItems} more`] : shortened;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, property]) => !isEmpty(property))
      .map(([name, property]) => [name, shorten(property, maxTextLength, maxItems)]),
  );
};

/**
 * Encodes a value as JSON in which characters that a reader does not see (control, bidirectional and tag characters)
 * are escaped, so that telemetry cannot hide text.
 */
export const encode = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** Members of an operation's response about its execution */
const executionNames = ['cost', 'freshness'];

/** Returns the response without empty members, but with its empty lists: a reader sees that nothing was found. */
const shortenResponse = (response: unknown, maxTextLength: number, maxItems: number): unknown => {
  if (typeof response !== 'object' || response === null || Array.isArray(response))
    return shorten(response, maxTextLength, maxItems);
  return Object.fromEntries(
    Object.entries(response)
      .filter(([name, value]) => !executionNames.includes(name) && (Array.isArray(value) || !isEmpty(value)))
      .map(([name, value]) => [name, shorten(value, maxTextLength, maxItems)]),
  );
};

/** Limits of texts and lists, from long to short */
const steps = [
  [1000, 1000],
  [300, 100],
  [120, 30],
  [60, 10],
  [40, 3],
] as const;

/** Returns the longest form of a value within `maxTokens`; the shortest form if none is. */
export const shortenWithin = (value: unknown, maxTokens: number): unknown => {
  let shortened = value;
  for (const [maxTextLength, maxItems] of steps) {
    shortened = shortenResponse(value, maxTextLength, maxItems);
    if (countTokens(encode(shortened)) <= maxTokens) break;
  }
  return shortened;
};
