/** Conditions and groups that several kinds of queries have. */
import type { AggregateQuery, MetricQuery, Query } from '../query.ts';
import type { SentenceParts, TextChanges } from '../query-kind.ts';
import { type QuerySignal, signalDefinitions } from '../signals/index.ts';

/** Returns a query or measure with its search changed. */
export const changeSearch = <Part extends { search?: string | undefined }>(
  part: Part,
  change: TextChanges['search'],
): Part => (part.search === undefined ? part : { ...part, search: change(part.search) });

/** Returns a query that counts the records of a signal that match a search. */
export const countRecords = ({ signal }: { readonly signal: QuerySignal }, search: string | undefined): Query => ({
  kind: 'aggregate',
  signal,
  ...(search === undefined ? {} : { search }),
  measures: [{ function: 'count' }],
  groupBy: [],
  limit: 1,
});

/** Describes the records of a query in words. */
export const describeRecords = (signal: QuerySignal, search: string | undefined, parts: SentenceParts): string => {
  const { records } = signalDefinitions[signal];
  const condition = search === undefined ? '' : parts.search(search, signal);
  return condition === '' ? records : `${records} where ${condition}`;
};

/** Joins the items of a list with commas and "and". */
export const joinList = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;

const defaultLimit = 100;

/** Describes the groups of a query in words, as the end of a sentence. */
export const describeGroups = ({
  groupBy,
  limit,
  order,
}: Pick<AggregateQuery, 'groupBy' | 'limit'> & Pick<AggregateQuery | MetricQuery, 'order'>): string => {
  if (groupBy.length === 0) return '';
  const isAscending = (typeof order === 'string' ? order : order?.direction) === 'ascending';
  const limitText = limit === defaultLimit ? '' : `, the ${limit} ${isAscending ? 'smallest' : 'largest'}`;
  return `, by ${joinList(groupBy)}${limitText}`;
};
