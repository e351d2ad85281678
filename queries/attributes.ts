import { z } from 'zod';
import { isWithinPath, visitNestedValues } from '../schemas/records/nested-values.ts';

/** Attributes in results. 64-bit integers beyond 2^53 and numbers that JSON cannot represent are strings. */
export const Attributes = z.record(z.string(), z.unknown());
export type Attributes = Record<string, unknown>;

/** Restores attributes from their text and their type characters (`schemas/tables/parts.ts`). */
export const decodeAttributes = (keys: readonly string[], values: readonly string[], types: string): Attributes => {
  // Without a prototype: a key may be `__proto__`.
  const attributes = Object.create(null) as Attributes;
  // If several attributes have the same key, the first one is used, as in searches.
  for (const [index, key] of keys.entries()) {
    const type = types[index] ?? 's';
    // The values inside arrays and maps follow the attributes.
    if (isNestedType(type)) break;
    if (!(key in attributes)) attributes[key] = decodeValue(values[index] ?? '', type);
  }
  return attributes;
};

/** Returns whether a type character is that of a value inside an array or map. */
export const isNestedType = (type: string): boolean => type !== type.toLowerCase();

/** Returns an attribute, or the value or values inside arrays and maps with that path; null without any. */
export const findAttribute = (attributes: Attributes, path: string): unknown => {
  if (Object.hasOwn(attributes, path)) return attributes[path];
  const values: unknown[] = [];
  for (const [key, value] of Object.entries(attributes))
    if (typeof value === 'object' && isWithinPath(path, key))
      visitNestedValues(value, key, {
        enter: (position, name) => `${position}.${name}`,
        visit: (position, nestedValue) => {
          if (position === path) values.push(nestedValue);
        },
      });
  return values.length > 1 ? values : (values[0] ?? null);
};

/** Returns one value from its text and type character, which may be that of a value inside an array or map. */
export const decodeValue = (text: string, type: string): unknown => {
  switch (type.toLowerCase()) {
    case 'i':
    case 'd':
      return decodeNumber(text);
    case 'b':
      return text === 'true';
    case 'j':
      return decodeJson(text);
    case 'n':
      return null;
    default:
      return text;
  }
};

const decodeNumber = (text: string): number | string => {
  const value = Number(text);
  if (!Number.isFinite(value)) return text;
  return Number.isInteger(value) && !Number.isSafeInteger(value) && !/[.e]/i.test(text) ? text : value;
};

const decodeJson = (text: string): unknown => {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' && context?.source !== undefined ? decodeNumber(context.source) : value,
    );
  } catch {
    return text;
  }
};
