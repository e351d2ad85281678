import { createTimeSlicer } from '../../runtime/time-slices.ts';
import type { StatementCost } from '../../schemas/ports/columns.ts';

/** Format of results with objects; it includes the cost of the statement. */
export const resultFormat = 'JSON';
/** Format of binary results */
export const nativeFormat = 'Native';

interface JsonResult<Row> {
  readonly data: Row[];
  readonly statistics: { readonly elapsed: number; readonly rows_read: number; readonly bytes_read: number };
}

/** Longer results are parsed in parts of this length. */
const partLength = 524_288;
// ClickHouse indents rows by two tabs and their values by more. Strings have no line breaks, because JSON escapes them.
const dataStart = '"data":\n\t[\n';
const rowSeparator = '\n\t\t},\n\t\t{';
const dataEnd = '\n\t],\n\n\t"rows":';

/**
 * Returns the rows of a result in the format `resultFormat`, a text or its bytes, and their cost. Long results are parsed
 * in time slices.
 */
export const parseRows = async <Row>(
  result: string | Buffer,
): Promise<{ readonly rows: Row[]; readonly cost: StatementCost }> => {
  const { data, statistics } =
    result.length > partLength ? await parseInParts<Row>(result) : parseResult<Row>(result.toString());
  return {
    rows: data,
    cost: {
      rowsRead: statistics.rows_read,
      bytesRead: statistics.bytes_read,
      elapsedMs: statistics.elapsed * 1000,
    },
  };
};

const parseResult = <Row>(text: string): JsonResult<Row> => JSON.parse(text) as JsonResult<Row>;

const parseInParts = async <Row>(result: string | Buffer): Promise<JsonResult<Row>> => {
  const endSlice = createTimeSlicer();
  const readText = (from: number, to: number): string =>
    typeof result === 'string' ? result.slice(from, to) : result.toString('utf8', from, to);
  const start = result.indexOf(dataStart) + dataStart.length;
  const end = result.lastIndexOf(dataEnd);
  const data: Row[] = [];
  for (let partStart = start; partStart < end; ) {
    const separator = result.indexOf(rowSeparator, partStart + partLength);
    const isLast = separator < 0 || separator > end;
    // The closing brace belongs to this part, and the opening one to the next.
    const partEnd = isLast ? end : separator + rowSeparator.indexOf(',');
    for (const row of JSON.parse(`[${readText(partStart, partEnd)}]`) as Row[]) data.push(row);
    partStart = partEnd + 1;
    await endSlice();
  }
  return { ...parseResult<Row>(readText(0, start) + readText(end, result.length)), data };
};
