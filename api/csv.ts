/** CSV by RFC 4180, every cell in quotes */

export const csvType = 'text/csv; charset=utf-8';
export const jsonLinesType = 'application/x-ndjson; charset=utf-8';

/** Spreadsheets evaluate a cell that begins like this as a formula (OWASP, CSV injection). */
const formulaPrefix = /^[\s]*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]/;
const chunkLength = 64 * 1024;

/** Puts an apostrophe before text that a spreadsheet would evaluate as a formula; numbers stay unchanged. */
const formatCell = (value: string | number): string => {
  const text = String(value);
  const safeText = typeof value === 'string' && formulaPrefix.test(text) ? `'${text}` : text;
  return `"${safeText.replaceAll('"', '""')}"`;
};

/** Returns one line with its line end. */
export const formatCsvRow = (cells: readonly (string | number)[]): string => `${cells.map(formatCell).join(',')}\r\n`;

/** Joins lines into larger chunks, because each chunk is a write to the socket. */
export async function* joinIntoChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = '';
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
