/** Describes a query in a sentence, from the query alone and without words of the question */
import { Query } from '../../queries/query.ts';
import { kindOf } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import type { QueryRequest } from '../../queries/run.ts';
import { lengthText, momentText } from './format.ts';
import { searchText } from './search-text.ts';

export interface SentenceInput {
  readonly query: QueryRequest;
  readonly range: Range;
  readonly stepMs: number | undefined;
  readonly timeZone: string;
}

/** Returns one sentence, which begins with the result and ends with the range. */
export const sentenceOf = ({ query: request, range, stepMs, timeZone }: SentenceInput): string => {
  const query = Query.parse(request);
  const what = textOf(query);
  const step = stepMs === undefined ? '' : `, in steps of ${lengthText(stepMs)}`;
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}${step}, ${rangeText(range, timeZone)}.`;
};

/**
 * Ends of ranges are inclusive. A range that ends one nanosecond before an hour is displayed as ending at that hour.
 */
const rangeText = ({ from, to }: Range, timeZone: string): string => {
  const end = momentText(to % 1_000_000n === 999_999n ? to + 1n : to, timeZone);
  return `from ${momentText(from, timeZone)} to ${end} (${timeZone})`;
};

const textOf = (query: Query): string => kindOf(query).sentence(query, { search: searchText, query: textOf });
