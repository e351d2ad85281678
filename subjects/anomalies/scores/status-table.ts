/** Status of series at the end of a range, as a table: one format for detectors and queries. */

import { buildTableResult, type ResultData } from '../../../queries/query-result.ts';
import type { Incompleteness, TableColumn } from '../../../queries/result.ts';
import { formatShort } from '../../../queries/round-numbers.ts';
import type { AnomalyQuery } from '../query.ts';
import { type Direction, describeAnomaly } from './anomaly-text.ts';
import type { Sign } from './signs.ts';

/** Status of a series: the rarest point of an active anomaly, otherwise the current status. */
export interface SeriesStatus {
  readonly labels: Readonly<Record<string, string>>;
  readonly name: string;
  readonly unit: string;
  /** Highest score of the anomaly; 0 without one; null if unknown, with the reason. */
  readonly score: number | null;
  readonly unknown?: string | undefined;
  readonly sign: Sign | null;
  readonly direction: Direction | null;
  readonly beginMs: number | null;
  /** Value at the last step; null if unknown. */
  readonly value: number | null;
  readonly expected: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Expected value at the start. */
  readonly before: number | null;
}

const createNumberColumn = (name: string, unit = ''): TableColumn => ({ name, type: 'number', unit });
const createTextColumn = (name: string): TableColumn => ({ name, type: 'text', unit: '' });

/** Columns after those of the labels. */
const statusColumns = (unit: string): readonly TableColumn[] => [
  createNumberColumn('score', '1'),
  ...['value', 'expected', 'low', 'high'].map((name) => createNumberColumn(name, unit)),
  { name: 'since', type: 'time', unit: '' },
  ...['sign', 'state', 'says'].map(createTextColumn),
];

const matchesDirection = (direction: Direction | null, requestedDirection: AnomalyQuery['direction']): boolean =>
  requestedDirection === 'both' || direction === { above: 'up', below: 'down' }[requestedDirection];

const describeSeries = (series: SeriesStatus): string => {
  const { score, sign, value, expected, unit, beginMs, unknown } = series;
  if (unknown !== undefined) return unknown;
  if (value === null) return 'no ongoing anomaly';
  if (score === 0 || sign === null || beginMs === null)
    return `as expected: ${formatShort(value)}${unit === '' ? '' : ` ${unit}`}${expected === null ? '' : `, expected ${formatShort(expected)}`}`;
  const since = new Date(beginMs).toISOString();
  return `${describeAnomaly({ ...series, sign, value })}; since ${since}, score ${formatShort(score ?? 0)}`;
};

const describeState = ({ score, unknown, sign }: SeriesStatus): string =>
  unknown !== undefined ? 'unknown' : score === 0 || sign === null ? 'as expected' : 'unusual';

/** Returns a row for each series. Anomalies in a direction that was not requested are omitted. */
export const toStatusTable = (
  statuses: readonly SeriesStatus[],
  direction: AnomalyQuery['direction'],
  partial: readonly Incompleteness[] = [],
): ResultData => {
  const names = [...new Set(statuses.flatMap(({ labels }) => Object.keys(labels)))].toSorted();
  const hasMeasures = new Set(statuses.map(({ name }) => name)).size > 1;
  const labels = hasMeasures ? [...names, 'measure'] : names;
  const rows = statuses.map((series) => {
    const filteredSeries = matchesDirection(series.direction, direction)
      ? series
      : { ...series, score: series.score && 0 };
    const { score, value, expected, low, high, beginMs, sign, name } = filteredSeries;
    return [
      ...names.map((label) => filteredSeries.labels[label] ?? ''),
      ...(hasMeasures ? [name] : []),
      ...[score, value, expected, low, high],
      score === 0 || beginMs === null ? null : new Date(beginMs).toISOString(),
      ...[score === 0 ? '' : (sign ?? ''), describeState(filteredSeries), describeSeries(filteredSeries)],
    ];
  });
  const columns = [...labels.map(createTextColumn), ...statusColumns(statuses[0]?.unit ?? '')];
  return buildTableResult(columns, rows, partial);
};

/** Number of columns in a row that are not labels. */
export const statusColumnCount = statusColumns('').length;
