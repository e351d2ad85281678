import { Readable } from 'node:stream';
import { z } from 'zod';
import { cursorParameter } from '../../../queries/cursor.ts';
import { decodeLogCursor, encodeLogCursor } from '../../../queries/logs/cursor.ts';
import { type ExportPage, type ExportQuestion, exportColumns, exportRecords } from '../../../queries/logs/export.ts';
import { logFilterParameters } from '../../../queries/logs/filter.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention } from '../../../queries/range.ts';
import type { Reading } from '../../../queries/reading.ts';
import type { LogRecord } from '../../../queries/signals/log-record.ts';
import { csvRow, csvType, inPieces, jsonLinesType } from '../../csv.ts';
import { defineOperation, type Sent } from '../../kernel/operation.ts';
import { namesIn, recordParameters } from './list.ts';

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
  response: z.custom<Sent>(),
  async handler({ caller, query, request }, { columns, clock }): Promise<Sent> {
    const nowMs = clock.now();
    const { order, limit } = query;
    const place = query.cursor === undefined ? undefined : decodeLogCursor(order, query.cursor);
    const range = place?.range ?? rangeOf(query, { caller, signal: 'logs', nowMs });
    refuseBeyondRetention(range, { caller, signal: 'logs', nowMs, wasListed: place !== undefined });
    const format = query.format ?? (/\btext\/csv\b/i.test(request.header('accept')) ? 'csv' : 'ndjson');
    const reading = { columns: columns.of(caller.tenantId), plan: caller.plan, nowMs };
    const question = { filter: query, range, order, after: place?.after, limit };
    const lines = linesOf[format](reading, question, namesIn(query.fields));
    // The first page is read before the answer begins, so that a failure there is an error and not a broken stream.
    const first = await lines.next();
    const day = new Date(nowMs).toISOString().slice(0, 10);
    request.reply('Content-Disposition', `attachment; filename="logs-${day}.${format}"`);
    return {
      contentType: format === 'csv' ? csvType : jsonLinesType,
      content: Readable.from(inPieces(from(first, lines))),
    };
  },
});

async function* from(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

type Lines = (
  reading: Reading,
  question: ExportQuestion,
  names: readonly string[] | undefined,
) => AsyncGenerator<string>;

const cutOf = ({ order, range, limit }: ExportQuestion, { cutAt }: ExportPage<unknown>) =>
  cutAt && {
    records: limit,
    message: `more records match: these are the first ${limit}, the ${order} ones`,
    cursor: encodeLogCursor(order, { range, after: cutAt }),
  };

async function* jsonLines(...[reading, question, names]: Parameters<Lines>): AsyncGenerator<string> {
  const pages: AsyncGenerator<ExportPage<unknown>> =
    names === undefined ? exportRecords(reading, question) : exportColumns(reading, names, question);
  for await (const page of pages) {
    let lines = '';
    for (const item of page.items)
      lines += `${JSON.stringify(names === undefined ? item : named(names, item as unknown[]))}\n`;
    const cut = cutOf(question, page);
    if (cut !== undefined) lines += `${JSON.stringify({ cut })}\n`;
    yield lines;
  }
}

const named = (names: readonly string[], values: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name, index) => [name, values[index]]));

/** Columns of a CSV without a choice of fields. */
const wholeRecord = [
  ...['timestamp', 'severity', 'service', 'body', 'traceId', 'spanId', 'eventName', 'projectId', 'id'],
  ...['attributes', 'resource'],
] as const satisfies readonly (keyof LogRecord)[];

async function* csvLines(...[reading, question, names]: Parameters<Lines>): AsyncGenerator<string> {
  let lines = csvRow(names ?? wholeRecord);
  const pages: AsyncGenerator<ExportPage<readonly unknown[]>> =
    names === undefined ? cellsOf(exportRecords(reading, question)) : exportColumns(reading, names, question);
  for await (const page of pages) {
    for (const values of page.items) lines += csvRow(values.map(textOf));
    const cut = cutOf(question, page);
    if (cut !== undefined) lines += csvRow([`# cut: ${cut.message}; cursor=${cut.cursor}`]);
    yield lines;
    lines = '';
  }
}

async function* cellsOf(pages: AsyncGenerator<ExportPage<LogRecord>>): AsyncGenerator<ExportPage<readonly unknown[]>> {
  for await (const { items, ...page } of pages)
    yield { ...page, items: items.map((record) => wholeRecord.map((name) => record[name])) };
}

/** Lists and maps as JSON, and an empty text for missing values. */
const textOf = (value: unknown): string | number => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const linesOf: Readonly<Record<(typeof formats)[number], Lines>> = { ndjson: jsonLines, csv: csvLines };
