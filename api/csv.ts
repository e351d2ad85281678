/** CSV by RFC 4180, every cell in quotes */

export const csvType = 'text/csv; charset=utf-8';
export const jsonLinesType = 'application/x-ndjson; charset=utf-8';

/** Spreadsheets evaluate a cell that begins like this as a formula (OWASP, CSV injection). */
const formula = /^[\s]*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]/;
const pieceLength = 64 * 1024;

/** Prefixes text that a spreadsheet would evaluate with an apostrophe; numbers stay unchanged. */
const cellOf = (value: string | number): string => {
  const text = String(value);
  const safe = typeof value === 'string' && formula.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
};

/** Returns one line with its line end. */
export const csvRow = (cells: readonly (string | number)[]): string => `${cells.map(cellOf).join(',')}\r\n`;

/** Joins lines into larger pieces, because each piece is a write to the socket. */
export async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const line of lines) {
    piece += line;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
