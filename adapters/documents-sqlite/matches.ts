/** Whether a document matches a filter, and which documents may match. */
import { Context } from 'mingo/core';
import * as query from 'mingo/operators/query';
import { Query } from 'mingo/query';
import type { Filter } from '../../schemas/ports/documents.ts';
import { toDocument } from '../document-encoding.ts';
import { getIdBounds, renamePaths, type Scalar } from '../documents-query.ts';
import type { IdRange, Row } from './tables.ts';

const identity = (path: string): string => path;

/** Filters need no other operators; loading all of mingo takes a tenth of a second. */
const context = Context.init({ query });

/** Returns a predicate for a filter. Throws if the filter uses operators that the stores do not share. */
export const createMatcher = (filter: Filter): ((row: Row) => boolean) => {
  const checkedFilter = renamePaths(filter, identity);
  if (Object.keys(checkedFilter).length === 0) return () => true;
  const compiledQuery = new Query(checkedFilter as ConstructorParameters<typeof Query>[0], { context });
  return (row) => compiledQuery.test(toDocument(row));
};

/** Throws if a filter uses operators that the stores do not share, for reads without a predicate. */
export const checkOperators = (filter: Filter): void => void renamePaths(filter, identity);

/** The range to read: within the filter's bounds, and after the position of a list in the order of ids. */
export const getIdRange = (filter: Filter, direction: 1 | -1 = 1, [last]: readonly Scalar[] = []): IdRange => {
  const bounds = { ...getIdBounds(filter), backwards: direction === -1 };
  if (typeof last !== 'string') return bounds;
  return direction === -1 ? { ...bounds, maxId: last } : { ...bounds, minId: last };
};
