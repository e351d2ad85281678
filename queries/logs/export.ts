/** Exports log records in sequence up to a limit, read page by page. */
import type { Range } from '../range.ts';
import type { RecordFilter } from '../search/query-parts.ts';
import type { LogPosition, LogRecord } from '../signals/log-record.ts';
import type { TenantReader } from '../tenant-reader.ts';
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

/**
 * A page of records. The last page also has the position of its last record, if more records follow beyond the
 * limit.
 */
export interface ExportPage<Item> {
  readonly items: readonly Item[];
  /** Set on the last page only. */
  readonly resumeAfter?: LogPosition | undefined;
}

type ReadPage<Item> = (
  limit: number,
  after: LogPosition | undefined,
) => Promise<{ readonly items: readonly Item[]; readonly nextPosition: LogPosition | undefined }>;

async function* readPages<Item>({ limit, after }: ExportQuery, read: ReadPage<Item>): AsyncGenerator<ExportPage<Item>> {
  let position = after;
  for (let remaining = limit; ; ) {
    const { items, nextPosition } = await read(Math.min(remaining, pageSize), position);
    remaining -= items.length;
    yield { items, ...(remaining <= 0 && nextPosition !== undefined ? { resumeAfter: nextPosition } : {}) };
    if (nextPosition === undefined || remaining <= 0) return;
    position = nextPosition;
  }
}

/** Exports complete records. */
export const exportRecords = (reader: TenantReader, query: ExportQuery): AsyncGenerator<ExportPage<LogRecord>> => {
  const { filter, range, order } = query;
  const condition = buildLogCondition(filter);
  return readPages(query, async (limit, after) => {
    const { found: logs, nextPosition } = await readLogPage(reader.columns, condition, { limit, after, order, range });
    return { items: logs.map(({ record }) => record), nextPosition: nextPosition };
  });
};

/** Exports values of selected columns. */
export const exportColumns = (
  reader: TenantReader,
  names: readonly string[],
  query: ExportQuery,
): AsyncGenerator<ExportPage<readonly unknown[]>> => {
  const { filter, range, order } = query;
  const condition = buildLogCondition(filter);
  const columns = resolveColumns(names);
  return readPages(query, async (limit, after) => {
    const rows = await readSelectedColumns(reader.columns, columns, condition, {
      limit: limit + 1,
      after,
      order,
      range,
    });
    const pageRows = rows.slice(0, limit);
    return {
      items: pageRows.map(({ values }) => values),
      nextPosition: rows.length > limit ? pageRows.at(-1)?.position : undefined,
    };
  });
};
