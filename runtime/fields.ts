/** Objects of any fields, such as parsed JSON and stored documents */

export type Fields = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object, and neither an array nor null. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the object; an empty one for any other value. */
export const toFields = (value: unknown): Fields => (isFields(value) ? value : {});
