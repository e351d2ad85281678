/** Hints for empty lists. */
import { z } from 'zod';
import { parseRetainedRange } from '../range.ts';
import { type RecordFilter, toQueryParts } from '../search/query-parts.ts';
import type { SearchSignal } from '../signals/index.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { buildRecordsHint } from './records.ts';

/** Part of the response of a list. */
export const hintField = {
  hint: z.string().optional().describe('If nothing was found: a possible reason, and an alternative'),
};

interface ListQuery extends RecordFilter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
}

/** Returns the `hint` for an empty list of records, if there is one. Only the first page has a hint. */
export const buildListHint = async (
  signal: SearchSignal,
  query: ListQuery,
  items: readonly unknown[],
  reader: TenantReader,
): Promise<{ readonly hint?: string }> => {
  if (items.length > 0 || query.cursor !== undefined) return {};
  const range = parseRetainedRange(query, { caller: reader, signal, nowMs: reader.nowMs });
  const hint = await buildRecordsHint({ signal, range, ...toQueryParts(signal, query), hasResults: false }, reader);
  return hint === undefined ? {} : { hint };
};
