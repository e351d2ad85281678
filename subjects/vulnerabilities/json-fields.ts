/** Reads values of JSON documents of unknown shape. */
import { isFields } from '../../runtime/fields.ts';
import { truncateText } from '../../schemas/text.ts';
import { maxTextLength } from './report.ts';

/** Returns the value at a path, or undefined. */
export const getValue = (value: unknown, ...path: readonly (string | number)[]): unknown => {
  let current = value;
  for (const name of path) {
    if (typeof name === 'number') current = Array.isArray(current) ? current[name] : undefined;
    else current = isFields(current) && Object.hasOwn(current, name) ? current[name] : undefined;
  }
  return current;
};

/** Returns the text at a path, shortened; empty if there is none. */
export const getText = (value: unknown, ...path: readonly (string | number)[]): string => {
  const found = getValue(value, ...path);
  return typeof found === 'string'
    ? truncateText(found.trim(), maxTextLength)
    : typeof found === 'number'
      ? String(found)
      : '';
};

export const getList = (value: unknown, ...path: readonly (string | number)[]): readonly unknown[] => {
  const found = getValue(value, ...path);
  return Array.isArray(found) ? found : [];
};

export const getTexts = (value: unknown, ...path: readonly (string | number)[]): string[] =>
  getList(value, ...path).flatMap((item) =>
    typeof item === 'string' && item.trim() !== '' ? [truncateText(item.trim(), maxTextLength)] : [],
  );
