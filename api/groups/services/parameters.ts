/** Parameters that the service operations share: range, scope and page. */
import { z } from 'zod';
import { decodeCursor, int64Pattern, nonEmptyTextPattern } from '../../../queries/cursor.ts';
import { type ProjectScope, requireProjectScope } from '../../../queries/project-scope.ts';
import { parseRetainedRange, type Range, requireRetained } from '../../../queries/range.ts';
import { decodePosition, type Position } from '../../../queries/sorted-page.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { toFullMinutes } from '../../../subjects/services/minutes.ts';

interface MinutesQuery extends ProjectScope {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
}

/** Returns the requested range in whole minutes, and the position after which the page starts. A cursor contains both. */
export const parseMinutes = (
  kind: string,
  query: MinutesQuery,
  reader: TenantReader,
): { readonly minutes: Range; readonly after: Position | undefined } => {
  requireProjectScope(query);
  const { nowMs } = reader;
  if (query.cursor === undefined)
    return {
      minutes: toFullMinutes(parseRetainedRange(query, { caller: reader, signal: 'traces', nowMs }), nowMs),
      after: undefined,
    };
  const { range, after } = parseServiceCursor(kind, query.cursor, reader);
  return { minutes: range, after };
};

/** Parses the range and the position in a cursor. Throws if the range exceeds the retention. */
export const parseServiceCursor = (kind: string, cursor: string, reader: TenantReader): ServiceCursor => {
  const [from = '', to = '', encodedPosition = ''] = decodeCursor(kind, cursor, [
    int64Pattern,
    int64Pattern,
    nonEmptyTextPattern,
  ]);
  const range = { from: BigInt(from), to: BigInt(to) };
  requireRetained(range, { caller: reader, signal: 'traces', nowMs: reader.nowMs, isFromCursor: true });
  return { range, after: decodePosition(encodedPosition) };
};

interface ServiceCursor {
  readonly range: Range;
  readonly after: Position;
}

/** The path parameter with the name of a service */
export const serviceParams = z.strictObject({
  name: z.string().min(1).max(512).describe('service.name, URL-encoded'),
});
