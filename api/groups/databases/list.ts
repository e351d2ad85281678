import { z } from 'zod';
import {
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  int64Pattern,
  nonEmptyTextPattern,
} from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters, requireRetained } from '../../../queries/range.ts';
import { DatabaseInstance, readDatabases } from '../../../subjects/databases/instances.ts';
import { formatMinutes, toFullMinutes } from '../../../subjects/services/minutes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'databases';

export const listDatabases = defineOperation({
  method: 'GET',
  path: '/api/databases',
  operationId: 'listDatabases',
  summary: 'List databases with calls or metrics in a time range, by engine',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...projectScopeParameters,
    engine: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('Product, such as postgresql; former names of the semantic conventions are accepted too'),
  }),
  response: z.strictObject({
    from: z.string().describe('Beginning of the first counted minute'),
    to: z.string().describe('End of the last counted minute, or now'),
    items: z.array(DatabaseInstance),
    nextCursor: z.string().nullable(),
    isTruncated: z.boolean().describe('Whether there are more than 5,000'),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { nowMs } = reader;
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    if (page !== undefined) requireRetained(page.minutes, { caller, signal: 'traces', nowMs, isFromCursor: true });
    const minutes =
      page?.minutes ?? toFullMinutes(parseRetainedRange(query, { caller, signal: 'traces', nowMs }), nowMs);
    const { items, isTruncated } = await readDatabases(reader, query, minutes);
    const remaining = page === undefined ? items : items.filter(({ id }) => id > page.afterId);
    const pageItems = remaining.slice(0, query.limit);
    const lastItem = remaining.length > query.limit ? pageItems.at(-1) : undefined;
    return {
      ...formatMinutes(minutes),
      items: pageItems,
      nextCursor:
        lastItem === undefined ? null : encodeCursor(cursorKind, [minutes.from, minutes.to, encodeText(lastItem.id)]),
      isTruncated,
    };
  },
});

const parseCursor = (cursor: string) => {
  const [from = '', to = '', id = ''] = decodeCursor(cursorKind, cursor, [
    int64Pattern,
    int64Pattern,
    nonEmptyTextPattern,
  ]);
  return {
    minutes: { from: BigInt(from), to: BigInt(to) },
    afterId: decodeText(id),
  };
};
