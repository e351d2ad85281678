import type { StatementCost } from '../../schemas/ports/columns.ts';

/** Format of results with objects; it includes the cost of the statement. */
export const resultFormat = 'JSON';
/** Format of binary results */
export const nativeFormat = 'Native';

interface JsonResult<Row> {
  readonly data: Row[];
  readonly statistics: { readonly elapsed: number; readonly rows_read: number; readonly bytes_read: number };
}

/** Returns the rows of a result in the format `resultFormat`, and their cost. */
export const parseRows = <Row>(text: string): { readonly rows: Row[]; readonly cost: StatementCost } => {
  const { data, statistics } = JSON.parse(text) as JsonResult<Row>;
  return {
    rows: data,
    cost: {
      rowsRead: statistics.rows_read,
      bytesRead: statistics.bytes_read,
      elapsedMs: statistics.elapsed * 1000,
    },
  };
};
