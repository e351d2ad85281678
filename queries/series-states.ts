/** States of series, as the rows of a table. */

import type { StateGroup } from './query-kind.ts';
import type { ResultData } from './query-result.ts';

/** Parses a number from JSON, where NaN and infinities are strings. */
export const parseJsonNumber = (value: unknown): number | null => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return value;
  const text = String(value)
    .replace(/^\+?inf(inity)?$/i, 'Infinity')
    .replace(/^-inf(inity)?$/i, '-Infinity');
  return Number(text);
};

/** Converts rows to series with a state and its description. The last `valueColumnCount` columns are not labels. */
export const toStateGroups = ({ columns, rows }: ResultData, valueColumnCount: number): StateGroup[] => {
  const firstValueColumn = columns.length - valueColumnCount;
  const findColumn = (name: string): number =>
    columns.findIndex((column, index) => index >= firstValueColumn && column.name === name);
  const [state, messageIndex] = [findColumn('state'), findColumn('says')];
  return rows.map((row) => {
    const value = parseJsonNumber(row[firstValueColumn]);
    const reason = String(row[messageIndex]);
    const labels = Object.fromEntries(
      columns.slice(0, firstValueColumn).map(({ name }, index) => [name, String(row[index])]),
    );
    const group = { labels, points: [value], explanation: { text: String(row[state]), reason } };
    return value === null ? { ...group, unknownReason: reason } : group;
  });
};
