/** Describes a query in one sentence, from the query alone. No wording comes from the user’s question. */
import { Query, type QueryRequest } from '../../queries/query.ts';
import { getQueryKind } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import { formatDuration, formatTime } from './format.ts';
import { describeSearch } from './search-text.ts';

export interface SentenceInput {
  readonly query: QueryRequest;
  readonly range: Range;
  readonly stepMs: number | undefined;
  readonly timeZone: string;
}

/** Returns one sentence, which begins with the result and ends with the range. */
export const describeQuery = ({ query: request, range, stepMs, timeZone }: SentenceInput): string => {
  const query = Query.parse(request);
  const kindDescription = describeKind(query);
  const step = stepMs === undefined ? '' : `, in steps of ${formatDuration(stepMs)}`;
  return `${kindDescription.charAt(0).toUpperCase()}${kindDescription.slice(1)}${step}, ${describeRange(range, timeZone)}.`;
};

/**
 * The end of a range is inclusive. A range that ends one nanosecond before a full millisecond is shown as ending at that
 * millisecond.
 */
const describeRange = ({ from, to }: Range, timeZone: string): string => {
  const end = formatTime(to % 1_000_000n === 999_999n ? to + 1n : to, timeZone);
  return `from ${formatTime(from, timeZone)} to ${end} (${timeZone})`;
};

const describeKind = (query: Query): string =>
  getQueryKind(query).sentence(query, { search: describeSearch, query: describeKind });
