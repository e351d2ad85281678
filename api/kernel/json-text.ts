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

/**
 * Returns the text of `JSON.stringify`. Long lists are converted in time slices: a response of megabytes would otherwise
 * block all other requests.
 */
export const stringifyInSlices = async (value: unknown): Promise<string> => {
  const yieldIfDue = createTimeSlicer();
  const parts: string[] = [];
  const add = async (each: unknown, depth: number): Promise<void> => {
    if (!hasLongList(each, depth)) {
      parts.push(JSON.stringify(each) ?? 'null');
    } else if (Array.isArray(each)) {
      for (const [index, item] of each.entries()) {
        parts.push(index === 0 ? '[' : ',', JSON.stringify(item) ?? 'null');
        const pause = yieldIfDue();
        if (pause !== undefined) await pause;
      }
      parts.push(']');
    } else {
      let separator = '{';
      for (const [name, item] of Object.entries(each as object)) {
        if (item === undefined || typeof item === 'function' || typeof item === 'symbol') continue;
        parts.push(separator, JSON.stringify(name), ':');
        separator = ',';
        await add(item, depth + 1);
      }
      parts.push('}');
    }
  };
  await add(value, 0);
  return parts.join('');
};
