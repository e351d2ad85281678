import { createTimeSlicer } from '../../runtime/time-slices.ts';

/** Lists of at least this length are converted item by item. */
const longList = 100;
/** Levels of objects in which long lists are looked for */
const maxDepth = 3;

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const hasLongList = (value: unknown, depth: number): boolean => {
  if (Array.isArray(value)) return value.length >= longList;
  return depth < maxDepth && isPlainObject(value) && Object.values(value).some((each) => hasLongList(each, depth + 1));
};

/** Parts of the text of a value, one for each item of a long list. */
function* splitJson(value: unknown, depth: number): Generator<string> {
  if (!hasLongList(value, depth)) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) yield* splitList(value);
  else yield* splitObject(value as object, depth);
}

function* splitList(items: readonly unknown[]): Generator<string> {
  let separator = '[';
  for (const item of items) {
    yield separator + (JSON.stringify(item) ?? 'null');
    separator = ',';
  }
  yield ']';
}

function* splitObject(object: object, depth: number): Generator<string> {
  let separator = '{';
  for (const [name, item] of Object.entries(object)) {
    if (item === undefined || typeof item === 'function' || typeof item === 'symbol') continue;
    yield `${separator}${JSON.stringify(name)}:`;
    separator = ',';
    yield* splitJson(item, depth + 1);
  }
  yield '}';
}

/** The text of a value, or its chunks in UTF-8 if it is long */
export type JsonText = string | readonly Uint8Array[];

/** Maximum number of characters of one text. Joining, encoding and sending tens of megabytes at once takes too long. */
const maxTextLength = 1024 * 1024;

/**
 * Returns the text of `JSON.stringify`. Long lists are converted in time slices: a response of megabytes would otherwise
 * block all other requests.
 */
export const stringifyInSlices = async (value: unknown): Promise<JsonText> => {
  const yieldIfDue = createTimeSlicer();
  const chunks: Uint8Array[] = [];
  let text = '';
  for (const part of splitJson(value, 0)) {
    text += part;
    if (text.length > maxTextLength) {
      chunks.push(Buffer.from(text));
      text = '';
    }
    const pause = yieldIfDue();
    if (pause !== undefined) await pause;
  }
  return chunks.length === 0 ? text : [...chunks, Buffer.from(text)];
};
