/** Whether a document matches a filter, and which documents may match. */
import { Context } from 'mingo/core';
import * as query from 'mingo/operators/query';
import { Query } from 'mingo/query';
import type { Filter } from '../../schemas/ports/documents.ts';
import { documentOf } from '../document-encoding.ts';
import { idBoundsOf, renamed, type Scalar } from '../documents-query.ts';
import type { IdRange, Row } from './tables.ts';

const identity = (path: string): string => path;

/** Filters need no other operators; loading all of mingo takes a tenth of a second. */
const context = Context.init({ query });

/** Returns a predicate for a filter. Throws if the filter uses operators that the stores do not share. */
export const matcherOf = (filter: Filter): ((row: Row) => boolean) => {
  const checked = renamed(filter, identity);
  if (Object.keys(checked).length === 0) return () => true;
  const compiled = new Query(checked as ConstructorParameters<typeof Query>[0], { context });
  return (row) => compiled.test(documentOf(row));
};

/** Throws if a filter uses operators that the stores do not share, for reads without a predicate. */
export const refuseUnshared = (filter: Filter): void => void renamed(filter, identity);

/** The range to read: within the filter's bounds, and after the position of a list in the order of ids. */
export const rangeOf = (filter: Filter, direction: 1 | -1 = 1, [last]: readonly Scalar[] = []): IdRange => {
  const bounds = { ...idBoundsOf(filter), backwards: direction === -1 };
  if (typeof last !== 'string') return bounds;
  return direction === -1 ? { ...bounds, maxId: last } : { ...bounds, minId: last };
};
