import { z } from 'zod';
import { Hint, hintOfList } from '../../../queries/hints/lists.ts';
import { decodeLogCursor, encodeLogCursor } from '../../../queries/logs/cursor.ts';
import { logCondition, logFilterParameters } from '../../../queries/logs/filter.ts';
import { type LogPageRequest, logOrders, readPage } from '../../../queries/logs/pages.ts';
import { chosenColumns, readChosen } from '../../../queries/logs/read-log.ts';
import { parseNames } from '../../../queries/names.ts';
import { type Range, rangeOf, rangeParameters, refuseBeyondRetention } from '../../../queries/range.ts';
import { type LogPosition, LogRecord, logId } from '../../../queries/signals/log-record.ts';
import { readLogsOfPattern } from '../../../subjects/log-patterns/pattern-records.ts';
import { invalid } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const maxFields = 64;

/** Parameters for the order and the fields of records. */
export const recordParameters = {
  order: z
    .enum(logOrders)
    .default('newest')
    .describe('Of two records with the same time, the one stored later counts as newer'),
  fields: z
    .string()
    .max(4096)
    .optional()
    .describe(
      'Only these fields, comma-separated, as in searches: service,severity,http.route,resource.host.name; a name with a comma must be quoted',
    ),
};

/** The names in `fields=`. */
export const namesIn = (fields: string | undefined): string[] | undefined => {
  if (fields === undefined) return undefined;
  const names = [...new Set(parseNames('fields', fields))];
  if (names.length > maxFields)
    throw invalid('fields', `names ${names.length} fields, at most ${maxFields} are allowed`);
  return names;
};

/** The chosen fields of a record. */
const ChosenRecord = z.strictObject({
  id: z.string(),
  fields: z.record(z.string(), z.unknown()).describe('null if the record does not have it'),
});

export const listLogs = defineOperation({
  method: 'GET',
  path: '/api/logs',
  operationId: 'listLogs',
  summary: 'List log records of a time range, newest or oldest first',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...logFilterParameters,
    ...recordParameters,
    patternId: z
      .string()
      .max(64)
      .optional()
      .describe(
        'Only records of this pattern; an alias means the pattern into which it was merged. A page may contain fewer records than the limit',
      ),
  }),
  response: z.strictObject({
    items: z.array(z.union([LogRecord, ChosenRecord])).describe('Whole records, or the chosen `fields` of each'),
    nextCursor: z.string().nullable(),
    ...Hint,
  }),
  async handler({ caller, query }, { columns, clock }) {
    const nowMs = clock.now();
    const { order, limit, patternId } = query;
    const page = query.cursor === undefined ? undefined : decodeLogCursor(order, query.cursor);
    const range = page?.range ?? rangeOf(query, { caller, signal: 'logs', nowMs });
    if (page !== undefined) refuseBeyondRetention(range, { caller, signal: 'logs', nowMs, wasListed: true });
    const names = namesIn(query.fields);
    if (names !== undefined && patternId !== undefined)
      throw invalid('fields', 'cannot be combined with patternId: finding a pattern requires the whole record');
    const reader = columns.of(caller.tenantId);
    const request = {
      limit,
      after: page?.after,
      range,
      order,
      isOfService: query.service !== undefined,
      isSearch: query.search !== undefined,
    };
    const { items, more } =
      names === undefined ? await whole(reader, query, request) : await chosen(reader, query, request, names);
    return {
      items,
      nextCursor: more === undefined ? null : encodeLogCursor(order, { range, after: more }),
      ...(await hintOfList('logs', query, items, { columns: reader, plan: caller.plan, nowMs })),
    };
  },
});

type Reader = Parameters<typeof readPage>[0];
type RangedPageRequest = LogPageRequest & { readonly range: Range };
interface Found<Item> {
  readonly items: Item[];
  readonly more: LogPosition | undefined;
}

const whole = async (
  reader: Reader,
  query: Parameters<typeof logCondition>[0] & { readonly patternId?: string | undefined },
  request: RangedPageRequest,
): Promise<Found<LogRecord>> => {
  const condition = logCondition(query);
  const { found, more } =
    query.patternId === undefined
      ? await readPage(reader, condition, request)
      : await readLogsOfPattern(reader, query.patternId, condition, request);
  return { items: found.map(({ record }) => record), more };
};

const chosen = async (
  reader: Reader,
  query: Parameters<typeof logCondition>[0],
  request: RangedPageRequest,
  names: readonly string[],
): Promise<Found<z.input<typeof ChosenRecord>>> => {
  const found = await readChosen(reader, chosenColumns(names), logCondition(query), {
    ...request,
    limit: request.limit + 1,
  });
  const shown = found.slice(0, request.limit);
  return {
    items: shown.map(({ position, values }) => ({
      id: logId(position),
      fields: Object.fromEntries(names.map((name, index) => [name, values[index]])),
    })),
    more: found.length > request.limit ? shown.at(-1)?.position : undefined,
  };
};
