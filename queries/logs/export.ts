/** Exports log records in sequence up to a limit, read page by page. */
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import type { RecordFilter } from '../search/query-parts.ts';
import type { LogPosition, LogRecord } from '../signals/log-record.ts';
import { logCondition } from './filter.ts';
import { type LogOrder, readPage } from './pages.ts';
import { chosenColumns, readChosen } from './read-log.ts';

/** A page reads entire buckets of the sorting key, ten minutes, so small pages would read the same rows repeatedly. */
const pageSize = 5_000;

export interface ExportQuestion {
  readonly filter: RecordFilter;
  readonly range: Range;
  readonly order: LogOrder;
  readonly after?: LogPosition | undefined;
  readonly limit: number;
}

/** Some records, and the position of the last one if more follow beyond the limit. */
export interface ExportPage<Item> {
  readonly items: readonly Item[];
  /** Set on the last page only. */
  readonly cutAt?: LogPosition | undefined;
}

type ReadPage<Item> = (
  limit: number,
  after: LogPosition | undefined,
) => Promise<{ readonly items: readonly Item[]; readonly more: LogPosition | undefined }>;

async function* pagesOf<Item>(
  { limit, after }: ExportQuestion,
  read: ReadPage<Item>,
): AsyncGenerator<ExportPage<Item>> {
  let position = after;
  for (let left = limit; ; ) {
    const { items, more } = await read(Math.min(left, pageSize), position);
    left -= items.length;
    yield { items, ...(left <= 0 && more !== undefined ? { cutAt: more } : {}) };
    if (more === undefined || left <= 0) return;
    position = more;
  }
}

/** Whole records. */
export const exportRecords = (reading: Reading, question: ExportQuestion): AsyncGenerator<ExportPage<LogRecord>> => {
  const { filter, range, order } = question;
  const condition = logCondition(filter);
  return pagesOf(question, async (limit, after) => {
    const { found, more } = await readPage(reading.columns, condition, { limit, after, order, range });
    return { items: found.map(({ record }) => record), more };
  });
};

/** Exports values of selected columns. */
export const exportColumns = (
  reading: Reading,
  names: readonly string[],
  question: ExportQuestion,
): AsyncGenerator<ExportPage<readonly unknown[]>> => {
  const { filter, range, order } = question;
  const condition = logCondition(filter);
  const columns = chosenColumns(names);
  return pagesOf(question, async (limit, after) => {
    const found = await readChosen(reading.columns, columns, condition, { limit: limit + 1, after, order, range });
    const shown = found.slice(0, limit);
    return {
      items: shown.map(({ values }) => values),
      more: found.length > limit ? shown.at(-1)?.position : undefined,
    };
  });
};
