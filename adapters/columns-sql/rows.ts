import type { StatementCost } from '../../schemas/ports/columns.ts';

/** The format of results: of those that are objects the one that says what the statement took. */
export const resultFormat = 'JSON';
/** Of those that are bytes. */
export const nativeFormat = 'Native';

interface Answer<Row> {
  readonly data: Row[];
  readonly statistics: { readonly elapsed: number; readonly rows_read: number; readonly bytes_read: number };
}

/** Rows of a result in that format, and what they took. */
export const rowsOf = <Row>(text: string): { readonly rows: Row[]; readonly cost: StatementCost } => {
  const { data, statistics } = JSON.parse(text) as Answer<Row>;
  return {
    rows: data,
    cost: {
      rowsRead: statistics.rows_read,
      bytesRead: statistics.bytes_read,
      elapsedMs: statistics.elapsed * 1000,
    },
  };
};
