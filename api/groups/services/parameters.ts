/** Parameters that the service operations share: range, scope and page. */
import { z } from 'zod';
import { decodeCursor, integer, someText } from '../../../queries/cursor.ts';
import { type ProjectScope, requireProjectScope } from '../../../queries/project-scope.ts';
import { type Range, rangeOf, refuseBeyondRetention } from '../../../queries/range.ts';
import type { Reading } from '../../../queries/reading.ts';
import { type Position, positionIn } from '../../../queries/sorted-page.ts';
import { isService } from '../../../subjects/services/detail.ts';
import { minutesOf } from '../../../subjects/services/minutes.ts';
import { notFound } from '../../errors.ts';

interface MinutesQuery extends ProjectScope {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
}

/** The requested whole minutes, and the start of the page: a cursor of the list `kind` contains the minutes too. */
export const parseMinutes = (
  kind: string,
  query: MinutesQuery,
  reading: Reading,
): { readonly minutes: Range; readonly after: Position | undefined } => {
  requireProjectScope(query);
  const { nowMs } = reading;
  if (query.cursor === undefined)
    return {
      minutes: minutesOf(rangeOf(query, { caller: reading, signal: 'traces', nowMs }), nowMs),
      after: undefined,
    };
  const { range, after } = cursorOf(kind, query.cursor, reading);
  return { minutes: range, after };
};

/** The range and the position in a cursor */
export const cursorOf = (kind: string, cursor: string, reading: Reading): InCursor => {
  const [from = '', to = '', part = ''] = decodeCursor(kind, cursor, [integer, integer, someText]);
  const range = { from: BigInt(from), to: BigInt(to) };
  refuseBeyondRetention(range, { caller: reading, signal: 'traces', nowMs: reading.nowMs, wasListed: true });
  return { range, after: positionIn(part) };
};

interface InCursor {
  readonly range: Range;
  readonly after: Position;
}

/** The path parameter with the name of a service */
export const serviceParams = z.strictObject({
  name: z.string().min(1).max(512).describe('service.name, URL-encoded'),
});

/** Throws 404 for a service without any data in the scope. */
export const requireService = async (
  reading: Reading,
  choice: ProjectScope & { readonly minutes: Range; readonly service: string },
): Promise<void> => {
  if (!(await isService(reading, choice))) throw notFound('service');
};
