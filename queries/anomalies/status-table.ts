/** How series stand at the end of a range, as a table: one form for those of a detector and those of a query. */
import { type Answer, tableAnswer } from '../answer.ts';
import type { AnomalyQuery } from '../query.ts';
import type { Incompleteness, TableColumn } from '../result.ts';
import { anomalyText, type Direction, digits } from './anomaly-text.ts';
import type { Sign } from './signs.ts';

/** A series: of an anomaly that lasts what was rarest of it, else how it is. */
export interface SeriesStatus {
  readonly labels: Readonly<Record<string, string>>;
  readonly name: string;
  readonly unit: string;
  /** The highest of the anomaly; 0 where none lasts; null where nothing is known, for the reason. */
  readonly score: number | null;
  readonly unknown?: string | undefined;
  readonly sign: Sign | null;
  readonly direction: Direction | null;
  readonly beginMs: number | null;
  /** At the last step: null where nothing is known. */
  readonly value: number | null;
  readonly expected: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** What was expected where it began. */
  readonly before: number | null;
}

const figure = (name: string, unit = ''): TableColumn => ({ name, type: 'number', unit });
const text = (name: string): TableColumn => ({ name, type: 'text', unit: '' });

/** Behind the columns of labels. */
const figures = (unit: string): readonly TableColumn[] => [
  figure('score', '1'),
  ...['value', 'expected', 'low', 'high'].map((name) => figure(name, unit)),
  { name: 'since', type: 'time', unit: '' },
  ...['sign', 'state', 'says'].map(text),
];

const matchesDirection = (direction: Direction | null, requestedDirection: AnomalyQuery['direction']): boolean =>
  requestedDirection === 'both' || direction === { above: 'up', below: 'down' }[requestedDirection];

const describeSeries = (series: SeriesStatus): string => {
  const { score, sign, value, expected, unit, beginMs, unknown } = series;
  if (unknown !== undefined) return unknown;
  if (value === null) return 'no anomaly lasts';
  if (score === 0 || sign === null || beginMs === null)
    return `as expected: ${digits(value)}${unit === '' ? '' : ` ${unit}`}${expected === null ? '' : `, expected were ${digits(expected)}`}`;
  const since = new Date(beginMs).toISOString();
  return `${anomalyText({ ...series, sign, value })}; since ${since}, score ${digits(score ?? 0)}`;
};

const stateOf = ({ score, unknown, sign }: SeriesStatus): string =>
  unknown !== undefined ? 'unknown' : score === 0 || sign === null ? 'as expected' : 'unusual';

/** A row for each series. An anomaly that does not go the way that is asked for is none. */
export const toStatusTable = (
  all: readonly SeriesStatus[],
  direction: AnomalyQuery['direction'],
  partial: readonly Incompleteness[] = [],
): Answer => {
  const names = [...new Set(all.flatMap(({ labels }) => Object.keys(labels)))].toSorted();
  const hasMeasures = new Set(all.map(({ name }) => name)).size > 1;
  const labels = hasMeasures ? [...names, 'measure'] : names;
  const rows = all.map((series) => {
    const known = matchesDirection(series.direction, direction) ? series : { ...series, score: series.score && 0 };
    const { score, value, expected, low, high, beginMs, sign, name } = known;
    return [
      ...names.map((label) => known.labels[label] ?? ''),
      ...(hasMeasures ? [name] : []),
      ...[score, value, expected, low, high],
      score === 0 || beginMs === null ? null : new Date(beginMs).toISOString(),
      ...[score === 0 ? '' : (sign ?? ''), stateOf(known), describeSeries(known)],
    ];
  });
  const columns = [...labels.map(text), ...figures(all[0]?.unit ?? '')];
  return tableAnswer(columns, rows, partial);
};

/** Columns of a row that are none of its labels. */
export const statusFigureCount = figures('').length;
