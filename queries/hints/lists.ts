/** What a list that is empty says. */
import { z } from 'zod';
import { rangeOf } from '../range.ts';
import type { Reading } from '../reading.ts';
import { queryPartsOf, type RecordFilter } from '../search/query-parts.ts';
import type { SearchSignal } from '../signals/index.ts';
import { hintOfRecords } from './records.ts';

/** Part of the answer of a list. */
export const Hint = {
  hint: z.string().optional().describe('Where nothing was found: why that may be, and what to ask instead'),
};

interface ListQuery extends RecordFilter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
}

/** `hint` of a list of records, where it is empty and there is something to say. Pages behind the first have none. */
export const hintOfList = async (
  signal: SearchSignal,
  query: ListQuery,
  items: readonly unknown[],
  reading: Reading,
): Promise<{ readonly hint?: string }> => {
  if (items.length > 0 || query.cursor !== undefined) return {};
  const range = rangeOf(query, { caller: reading, signal, nowMs: reading.nowMs });
  const hint = await hintOfRecords({ signal, range, ...queryPartsOf(signal, query), found: false }, reading);
  return hint === undefined ? {} : { hint };
};
