import { z } from 'zod';
import { buildListHint, hintField } from '../../../queries/hints/lists.ts';
import { decodeLogCursor, encodeLogCursor } from '../../../queries/logs/cursor.ts';
import { buildLogCondition, logFilterParameters } from '../../../queries/logs/filter.ts';
import { type LogPageRequest, logOrders, readLogPage } from '../../../queries/logs/pages.ts';
import { readSelectedColumns, resolveColumns } from '../../../queries/logs/read-log.ts';
import { parseNames } from '../../../queries/names.ts';
import { parseRetainedRange, type Range, rangeParameters, requireRetained } from '../../../queries/range.ts';
import { formatLogId, type LogPosition, LogRecord } from '../../../queries/signals/log-record.ts';
import { readPatternLogs } from '../../../subjects/log-patterns/pattern-records.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
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

/** Parses the names in the parameter `fields`; undefined if it is missing. */
export const parseFieldNames = (fields: string | undefined): string[] | undefined => {
  if (fields === undefined) return undefined;
  const names = [...new Set(parseNames('fields', fields))];
  if (names.length > maxFields)
    throw createFieldError('fields', `names ${names.length} fields, at most ${maxFields} are allowed`);
  return names;
};

/** A record with the chosen fields only. */
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
    ...hintField,
  }),
  async handler({ caller, query }, { columns, clock }) {
    const reader = createQueryReader(caller, { columns, clock });
    const { nowMs } = reader;
    const { order, limit, patternId } = query;
    const page = query.cursor === undefined ? undefined : decodeLogCursor(order, query.cursor);
    const range = page?.range ?? parseRetainedRange(query, { caller, signal: 'logs', nowMs });
    if (page !== undefined) requireRetained(range, { caller, signal: 'logs', nowMs, isFromCursor: true });
    const names = parseFieldNames(query.fields);
    if (names !== undefined && patternId !== undefined)
      throw createFieldError(
        'fields',
        'cannot be combined with patternId: finding a pattern requires the whole record',
      );
    const tenantColumns = reader.columns;
    const request = {
      limit,
      after: page?.after,
      range,
      order,
      hasServiceCondition: query.service !== undefined,
      isSearch: query.search !== undefined,
    };
    const { items, nextPosition } =
      names === undefined
        ? await readWholeRecords(tenantColumns, query, request)
        : await readChosenFields(tenantColumns, query, request, names);
    return {
      items,
      nextCursor: nextPosition === undefined ? null : encodeLogCursor(order, { range, after: nextPosition }),
      ...(await buildListHint('logs', query, items, reader)),
    };
  },
});

type Reader = Parameters<typeof readLogPage>[0];
type RangedPageRequest = LogPageRequest & { readonly range: Range };
interface PageResult<Item> {
  readonly items: Item[];
  readonly nextPosition: LogPosition | undefined;
}

const readWholeRecords = async (
  reader: Reader,
  query: Parameters<typeof buildLogCondition>[0] & { readonly patternId?: string | undefined },
  request: RangedPageRequest,
): Promise<PageResult<LogRecord>> => {
  const condition = buildLogCondition(query);
  const { found: logs, nextPosition } =
    query.patternId === undefined
      ? await readLogPage(reader, condition, request)
      : await readPatternLogs(reader, query.patternId, condition, request);
  return { items: logs.map(({ record }) => record), nextPosition };
};

const readChosenFields = async (
  reader: Reader,
  query: Parameters<typeof buildLogCondition>[0],
  request: RangedPageRequest,
  names: readonly string[],
): Promise<PageResult<z.input<typeof ChosenRecord>>> => {
  const records = await readSelectedColumns(reader, resolveColumns(names), buildLogCondition(query), {
    ...request,
    limit: request.limit + 1,
  });
  const pageRecords = records.slice(0, request.limit);
  return {
    items: pageRecords.map(({ position, values }) => ({
      id: formatLogId(position),
      fields: Object.fromEntries(names.map((name, index) => [name, values[index]])),
    })),
    nextPosition: records.length > request.limit ? pageRecords.at(-1)?.position : undefined,
  };
};
