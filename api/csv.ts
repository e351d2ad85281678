/** CSV by RFC 4180, every cell in quotes. */

export const csvType = 'text/csv; charset=utf-8';
export const jsonLinesType = 'application/x-ndjson; charset=utf-8';

/** Spreadsheets run a cell that begins like this as a formula (OWASP, CSV injection). */
const formula = /^[\s]*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]/;
const pieceLength = 64 * 1024;

/** A text that a spreadsheet would run begins with an apostrophe instead; a number is none. */
const cellOf = (value: string | number): string => {
  const text = String(value);
  const safe = typeof value === 'string' && formula.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
};

/** One line, with its end. */
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
