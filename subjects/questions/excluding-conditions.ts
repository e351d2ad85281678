/** Determines which condition makes a query's result empty, by omitting one condition at a time */

import { listSignals } from '../../queries/freshness.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import type { Query } from '../../queries/query.ts';
import { getQueryKind, listPartQueries, returnsRecords } from '../../queries/query-kind.ts';
import type { ResultData } from '../../queries/query-result.ts';
import type { Range } from '../../queries/range.ts';
import type { Result } from '../../queries/result.ts';
import { parseQuery, runWithoutCost } from '../../queries/run.ts';
import type { ReadSignal } from '../../queries/signals/index.ts';
import type { Interpretation } from './interpretation.ts';
import { describeSearch } from './search-text.ts';

/** Maximum number of conditions; each requires one more query */
const maxConditions = 8;

const isZeroOrMissing = (value: unknown): boolean => value === null || value === 0;

/** Returns whether a result has no value: no rows, or only values that are 0 or missing. */
export const isEmpty = (
  { form, series, rows, columns }: Pick<Result, 'form' | 'series' | 'rows' | 'columns'>,
  query: Pick<Query, 'kind'>,
): boolean => {
  if (form === 'series') return series.every(({ points }) => points.every(([, value]) => isZeroOrMissing(value)));
  if (returnsRecords(query)) return rows.length === 0;
  const numericColumns = columns.flatMap(({ type }, index) =>
    type === 'number' || type === 'duration' ? [index] : [],
  );
  return rows.every((row) => numericColumns.every((index) => isZeroOrMissing(row[index])));
};

/** Returns the part of a formula that has the conditions, or the query itself if it has no parts. */
const findConditionedPart = (query: Query): Query | undefined => {
  const parts = listPartQueries(query);
  return parts.length === 0 ? query : parts.find(([path]) => path === 'queries.whole')?.[1];
};

/** Returns the cheapest count query that shows whether records remain. */
const toCountQuery = (query: Query, conditions: readonly string[]): Query | undefined => {
  const part = findConditionedPart(query);
  return part && getQueryKind(part).countMatches?.(part, conditions.length === 0 ? undefined : conditions.join(' '));
};

/** Returns sentences about the conditions of a query with an empty result; `undefined` if it has no conditions. */
export const findExcludingConditions = async (
  { query: request, range, conditions }: Interpretation,
  reader: QueryReader,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const query = parseQuery(request);
  const hasData = async (remaining: readonly string[]): Promise<boolean | undefined> => {
    const countQuery = toCountQuery(query, remaining);
    return countQuery && !isEmpty(await runQuery(countQuery, reader, range, signal), countQuery);
  };
  if ('having' in query && query.having !== undefined && (await hasData(conditions)) === true)
    return 'no group has a value that satisfies the condition on it';
  if (conditions.length === 0 || conditions.length > maxConditions) return undefined;
  const [hasAnyData, ...hasDataWithout] = await Promise.all([
    hasData([]),
    ...conditions.map((_condition, index) => hasData(conditions.filter((_other, otherIndex) => otherIndex !== index))),
  ]);
  if (hasAnyData === undefined) return undefined;
  if (!hasAnyData) return 'no data arrived in this range, regardless of the conditions';
  const quoteCondition = (value: string): string => `"${describeSearch(value, getQuerySignal(query))}"`;
  const excludingConditions = conditions.filter((_condition, index) => hasDataWithout[index]).map(quoteCondition);
  if (excludingConditions.length === 0)
    return `no single condition: removing any one of ${conditions.map(quoteCondition).join(', ')} still returns no results`;
  return `${excludingConditions.join(' and ')} ${excludingConditions.length === 1 ? 'excludes' : 'exclude, each by itself,'} all results of the other conditions`;
};

const runQuery = (query: Query, reader: QueryReader, range: Range, signal: AbortSignal): Promise<ResultData> =>
  runWithoutCost(query, reader, { range, signal });

const getQuerySignal = (query: Query): ReadSignal => {
  const part = findConditionedPart(query);
  return (part && listSignals(part)[0]) ?? 'metrics';
};
