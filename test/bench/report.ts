/** Rows of figures and ratios, as text and as Markdown for `README.md`. */

export interface Row {
  readonly [column: string]: string | number;
}

const cell = (value: string | number | undefined): string =>
  typeof value === 'number'
    ? Math.abs(value) >= 100
      ? Math.round(value).toLocaleString('en')
      : value.toFixed(2)
    : (value ?? '');

/** A Markdown table of rows with the same columns. */
export const table = (rows: readonly Row[]): string => {
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => cell(row[column])))),
  ].join('\n');
};
