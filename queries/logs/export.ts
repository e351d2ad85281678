/** Exports log records in sequence up to a limit, read page by page. */
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import type { RecordFilter } from '../search/query-parts.ts';
import type { LogPosition, LogRecord } from '../signals/log-record.ts';
import { buildLogCondition } from './filter.ts';
import { type LogOrder, readLogPage } from './pages.ts';
import { readSelectedColumns, resolveColumns } from './read-log.ts';

/** Each page reads entire ten-minute buckets of the sorting key, so small pages would read the same rows repeatedly. */
const pageSize = 5_000;

export interface ExportQuery {
  readonly filter: RecordFilter;
  readonly range: Range;
  readonly order: LogOrder;
  readonly after?: LogPosition | undefined;
  readonly limit: number;
}

/** A page of records; on the last page, the position of its last record if more records follow beyond the limit. */
export interface ExportPage<Item> {
  readonly items: readonly Item[];
  /** Set on the last page only. */
  readonly resumeAfter?: LogPosition | undefined;
}

type ReadPage<Item> = (
  limit: number,
  after: LogPosition | undefined,
) => Promise<{ readonly items: readonly Item[]; readonly more: LogPosition | undefined }>;

async function* readPages<Item>({ limit, after }: ExportQuery, read: ReadPage<Item>): AsyncGenerator<ExportPage<Item>> {
  let position = after;
  for (let remaining = limit; ; ) {
    const { items, more } = await read(Math.min(remaining, pageSize), position);
    remaining -= items.length;
    yield { items, ...(remaining <= 0 && more !== undefined ? { resumeAfter: more } : {}) };
    if (more === undefined || remaining <= 0) return;
    position = more;
  }
}

/** Exports complete records. */
export const exportRecords = (reading: Reading, question: ExportQuery): AsyncGenerator<ExportPage<LogRecord>> => {
  const { filter, range, order } = question;
  const condition = buildLogCondition(filter);
  return readPages(question, async (limit, after) => {
    const { found, nextPosition } = await readLogPage(reading.columns, condition, { limit, after, order, range });
    return { items: found.map(({ record }) => record), more: nextPosition };
  });
};

/** Exports values of selected columns. */
export const exportColumns = (
  reading: Reading,
  names: readonly string[],
  question: ExportQuery,
): AsyncGenerator<ExportPage<readonly unknown[]>> => {
  const { filter, range, order } = question;
  const condition = buildLogCondition(filter);
  const columns = resolveColumns(names);
  return readPages(question, async (limit, after) => {
    const found = await readSelectedColumns(reading.columns, columns, condition, {
      limit: limit + 1,
      after,
      order,
      range,
    });
    const pageRows = found.slice(0, limit);
    return {
      items: pageRows.map(({ values }) => values),
      more: found.length > limit ? pageRows.at(-1)?.position : undefined,
    };
  });
};
