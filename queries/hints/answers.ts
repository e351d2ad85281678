/** Finds names in a query for which its answer has no values. */

import { defaultName } from '../aggregate/measures.ts';
import type { Answer } from '../answer.ts';
import type { AggregateQuery, RowsQuery } from '../query.ts';
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { type FruitlessQuestion, hintOfRecords } from './records.ts';

/** Returns the hint for records; undefined if they have values for everything requested. */
export const hintOfRows = (
  { signal, search, projectId, fields }: RowsQuery,
  answer: Answer,
  range: Range,
  reading: Pick<Reading, 'columns'>,
): Promise<string | undefined> =>
  hintOfRecords({ signal, range, search, projectId, ...inRows(answer, fields) }, reading);

/** Returns the hint for aggregates; undefined if they have values for everything requested. */
export const hintOfFigures = (
  query: AggregateQuery,
  answer: Answer,
  range: Range,
  reading: Pick<Reading, 'columns'>,
): Promise<string | undefined> => {
  const { signal, search, projectId } = query;
  return hintOfRecords({ signal, range, search, projectId, ...inFigures(query, answer) }, reading);
};

type Found = Pick<FruitlessQuestion, 'found' | 'names' | 'numbers'>;

const inRows = ({ rows }: Answer, fields: readonly string[] = []): Found => ({
  found: rows.length > 0,
  names: fields.filter((_field, index) => rows.every((row) => row[index] === null)),
});

/** Returns whether a value is missing: groups have the empty string, counts 0, other figures null. */
const isNothing = (value: unknown): boolean => value === '' || value === 0 || value === null;

/** Measures with their own search are often empty, like counts of errors, and need no hint. */
const inFigures = ({ groupBy, measures }: AggregateQuery, answer: Answer): Found => {
  const columns = columnsOf(answer, groupBy.length);
  const whole = measures
    .map((measure) => ({ ...measure, isEmpty: columns.measure(measure.as ?? defaultName(measure)).every(isNothing) }))
    .filter((measure) => measure.search === undefined);
  const empty = whole.filter(({ isEmpty }) => isEmpty);
  const named = (isNumeric: boolean): string[] =>
    empty.flatMap(({ function: kind, field }) =>
      field !== undefined && isNumeric === (kind !== 'count' && kind !== 'distinct') ? [field] : [],
    );
  return {
    found: whole.length === 0 || whole.length > empty.length,
    names: [...groupBy.filter((name) => columns.group(name).every(isNothing)), ...named(false)],
    numbers: named(true),
  };
};

/** Returns the values of each column of a table, or of all series. */
const columnsOf = (
  { form, columns, rows, series }: Answer,
  groups: number,
): { group(name: string): unknown[]; measure(name: string): unknown[] } => {
  const inTable = (name: string, from: number): unknown[] => {
    const index = columns.findIndex((column, at) => at >= from && column.name === name);
    return rows.map((row) => row[index]);
  };
  if (form === 'table') return { group: (name) => inTable(name, 0), measure: (name) => inTable(name, groups) };
  return {
    group: (name) => series.map(({ labels }) => labels[name]),
    measure: (name) =>
      series.filter((each) => each.name === name).flatMap(({ points }) => points.map(([, value]) => value)),
  };
};
