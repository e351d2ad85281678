/** Fields of external JSON; each may have any type */

import { type Fields, isFields } from '../../runtime/fields.ts';

/** Returns the objects of a list; empty for other values. */
export const toObjects = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);
