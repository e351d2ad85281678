import { z } from 'zod';
import { decodeCursor, encodeCursor, integer, someText, textIn, textPart } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention } from '../../../queries/range.ts';
import { DatabaseInstance, readDatabases } from '../../../subjects/databases/instances.ts';
import { minutesAnswer, minutesOf } from '../../../subjects/services/minutes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'databases';

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
    isCut: z.boolean().describe('Whether there are more than 5,000'),
  }),
  async handler({ caller, query }, ports) {
    const reading = readingOf(caller, ports);
    const { nowMs } = reading;
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    if (page !== undefined) refuseBeyondRetention(page.minutes, { caller, signal: 'traces', nowMs, wasListed: true });
    const minutes = page?.minutes ?? minutesOf(rangeOf(query, { caller, signal: 'traces', nowMs }), nowMs);
    const { items, isCut } = await readDatabases(reading, query, minutes);
    const left = page === undefined ? items : items.filter(({ id }) => id > page.after);
    const shown = left.slice(0, query.limit);
    const last = left.length > query.limit ? shown.at(-1) : undefined;
    return {
      ...minutesAnswer(minutes),
      items: shown,
      nextCursor: last === undefined ? null : encodeCursor(kind, [minutes.from, minutes.to, textPart(last.id)]),
      isCut,
    };
  },
});

const pageOf = (cursor: string) => {
  const [from = '', to = '', id = ''] = decodeCursor(kind, cursor, [integer, integer, someText]);
  return {
    minutes: { from: BigInt(from), to: BigInt(to) },
    after: textIn(id),
  };
};
