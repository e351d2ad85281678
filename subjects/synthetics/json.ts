/** JSON of responses with exact integers: those that no number can hold are `bigint` */

/** A text without as many digits has numbers only */
const longNumber = /\d{16}/;

interface Source {
  readonly source?: string;
}

/** Parsing with source texts (https://github.com/tc39/proposal-json-parse-with-source), which Node.js has */
const exactJson = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, context: Source) => unknown): unknown;
  rawJSON(text: string): unknown;
};

export const hasLongNumbers = (text: string): boolean => longNumber.test(text);

/** Throws like `JSON.parse`. */
export const parseExactJson = (text: string): unknown =>
  hasLongNumbers(text)
    ? exactJson.parse(text, (_, value, { source = '' }) =>
        typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value,
      )
    : JSON.parse(text);

export const writeExactJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? exactJson.rawJSON(String(inner)) : inner));
