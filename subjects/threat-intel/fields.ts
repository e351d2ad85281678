/** Fields of JSON that others send: each may be of any type. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** No fields where it is no object. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** The objects of a list; none where it is no list. */
export const objectsIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** Empty where it is no text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
