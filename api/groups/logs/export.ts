import { Readable } from 'node:stream';
import { z } from 'zod';
import { cursorParameter } from '../../../queries/cursor.ts';
import { decodeLogCursor, encodeLogCursor } from '../../../queries/logs/cursor.ts';
import { type ExportPage, type ExportQuery, exportColumns, exportRecords } from '../../../queries/logs/export.ts';
import { logFilterParameters } from '../../../queries/logs/filter.ts';
import { parseRetainedRange, rangeParameters, requireRetained } from '../../../queries/range.ts';
import type { LogRecord } from '../../../queries/signals/log-record.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { createTimeSlicer } from '../../../runtime/time-slices.ts';
import { csvType, formatCsvRow, joinIntoChunks, jsonLinesType } from '../../csv.ts';
import { type ContentResponse, defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { parseFieldNames, recordParameters } from './list.ts';

const maxRecords = 1_000_000;
const formats = ['ndjson', 'csv'] as const;

export const exportLogs = defineOperation({
  method: 'GET',
  path: '/api/logs/export',
  operationId: 'exportLogs',
  summary: 'Export log records of a time range as lines of JSON or CSV',
  role: 'viewer',
  entitlement: 'logs',
  contentType: [jsonLinesType, csvType],
  query: z.strictObject({
    from: rangeParameters.from,
    to: rangeParameters.to,
    ...logFilterParameters,
    ...recordParameters,
    cursor: cursorParameter.describe(
      'Cursor in the last line of a truncated export, with all other parameters unchanged',
    ),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(maxRecords)
      .default(100_000)
      .describe(
        'Maximum number of records. If more match, the last line reports it: {"cut": {"records", "message", "cursor"}}, or in CSV a line whose first cell begins with "# cut"',
      ),
    format: z.enum(formats).optional().describe('Default: according to Accept: text/csv, otherwise lines of JSON'),
  }),
  response: z.custom<ContentResponse>(),
  async handler({ caller, query, request }, { columns, clock }): Promise<ContentResponse> {
    const reader = createQueryReader(caller, { columns, clock });
    const { nowMs } = reader;
    const { order, limit } = query;
    const pageCursor = query.cursor === undefined ? undefined : decodeLogCursor(order, query.cursor);
    const range = pageCursor?.range ?? parseRetainedRange(query, { caller, signal: 'logs', nowMs });
    requireRetained(range, { caller, signal: 'logs', nowMs, isFromCursor: pageCursor !== undefined });
    const format = query.format ?? (/\btext\/csv\b/i.test(request.header('accept')) ? 'csv' : 'ndjson');
    const exportQuery = { filter: query, range, order, after: pageCursor?.after, limit };
    const lines = writersByFormat[format](reader, exportQuery, parseFieldNames(query.fields));
    // The first page is read before the response starts, so that a failure there is an error response and not a broken
    // stream.
    const first = await lines.next();
    const day = new Date(nowMs).toISOString().slice(0, 10);
    request.reply('Content-Disposition', `attachment; filename="logs-${day}.${format}"`);
    return {
      contentType: format === 'csv' ? csvType : jsonLinesType,
      content: Readable.from(joinIntoChunks(prependFirst(first, lines))),
    };
  },
});

async function* prependFirst(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

type LineWriter = (
  reader: TenantReader,
  exportQuery: ExportQuery,
  names: readonly string[] | undefined,
) => AsyncGenerator<string>;

const toCutNotice = ({ order, range, limit }: ExportQuery, { resumeAfter }: ExportPage<unknown>) =>
  resumeAfter && {
    records: limit,
    message: `more records match: these are the first ${limit}, the ${order} ones`,
    cursor: encodeLogCursor(order, { range, after: resumeAfter }),
  };

async function* writeJsonLines(...[reader, exportQuery, names]: Parameters<LineWriter>): AsyncGenerator<string> {
  const yieldIfDue = createTimeSlicer();
  const pages: AsyncGenerator<ExportPage<unknown>> =
    names === undefined ? exportRecords(reader, exportQuery) : exportColumns(reader, names, exportQuery);
  for await (const page of pages) {
    let lines = '';
    for (const item of page.items) {
      lines += `${JSON.stringify(names === undefined ? item : toNamedFields(names, item as unknown[]))}\n`;
      const pause = yieldIfDue();
      if (pause !== undefined) await pause;
    }
    const cutNotice = toCutNotice(exportQuery, page);
    if (cutNotice !== undefined) lines += `${JSON.stringify({ cut: cutNotice })}\n`;
    yield lines;
  }
}

const toNamedFields = (names: readonly string[], values: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name, index) => [name, values[index]]));

/** Columns of the CSV if no fields are requested. */
const defaultColumns = [
  ...['timestamp', 'severity', 'service', 'body', 'traceId', 'spanId', 'eventName', 'projectId', 'id'],
  ...['attributes', 'resource'],
] as const satisfies readonly (keyof LogRecord)[];

async function* writeCsvLines(...[reader, exportQuery, names]: Parameters<LineWriter>): AsyncGenerator<string> {
  const yieldIfDue = createTimeSlicer();
  let lines = formatCsvRow(names ?? defaultColumns);
  const pages: AsyncGenerator<ExportPage<readonly unknown[]>> =
    names === undefined ? toCellPages(exportRecords(reader, exportQuery)) : exportColumns(reader, names, exportQuery);
  for await (const page of pages) {
    for (const values of page.items) {
      lines += formatCsvRow(values.map(toCellText));
      const pause = yieldIfDue();
      if (pause !== undefined) await pause;
    }
    const cutNotice = toCutNotice(exportQuery, page);
    if (cutNotice !== undefined) lines += formatCsvRow([`# cut: ${cutNotice.message}; cursor=${cutNotice.cursor}`]);
    yield lines;
    lines = '';
  }
}

async function* toCellPages(
  pages: AsyncGenerator<ExportPage<LogRecord>>,
): AsyncGenerator<ExportPage<readonly unknown[]>> {
  for await (const { items, ...page } of pages)
    yield { ...page, items: items.map((record) => defaultColumns.map((name) => record[name])) };
}

/** Converts a value to the text of a cell: lists and maps as JSON, missing values as an empty text. */
const toCellText = (value: unknown): string | number => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const writersByFormat: Readonly<Record<(typeof formats)[number], LineWriter>> = {
  ndjson: writeJsonLines,
  csv: writeCsvLines,
};
