/** Fields of external JSON; each may have any type */

import { type Fields, isFields } from '../../runtime/fields.ts';

/** Returns the fields of an object; empty for other values. */
export const fieldsOrEmpty = (value: unknown): Fields => (isFields(value) ? value : {});

/** Returns the objects of a list; empty for other values. */
export const objectsOrEmpty = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** Returns a text; empty for other values. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');
