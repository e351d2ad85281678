/** Converts values of groups by window to the common answer format. */
import { type Answer, type QueryContext, seriesAnswer, tableAnswer } from '../answer.ts';
import { withoutNoise } from '../figures.ts';
import type { MetricQuery } from '../query.ts';
import type { Incompleteness } from '../result.ts';
import type { Cell } from './cells.ts';
import type { Plan, Values } from './plan.ts';

/** Returns whether values are those of points, not computed. */
const isOfPoints = ({ overTime, across }: MetricQuery): boolean =>
  ['last', 'min', 'max'].includes(overTime) && ['none', 'min', 'max'].includes(across);

/** JSON cannot represent some numbers. */
const written = (query: MetricQuery, cell: Cell): number | string | null => {
  if (cell === undefined) return null;
  if (typeof cell === 'bigint') return String(cell);
  if (!Number.isFinite(cell)) return String(cell);
  return isOfPoints(query) ? cell : withoutNoise(cell);
};

/** Returns the answer of a plan's values: the groups with the largest ones, as series or as a table. */
export const answerOf = (
  { query, windows, groups, limits, partial }: Pick<Plan, 'query' | 'windows' | 'groups' | 'limits' | 'partial'>,
  values: Values,
  unit: string,
  { stepMs }: QueryContext,
): Answer => {
  const ranked = groups
    .map(({ labels }, group) => ({ labels, group, size: sizeOf(values, group, windows.count) }))
    .filter(({ size }) => size !== undefined)
    .sort(
      (one, other) =>
        larger(one.size, other.size) || (JSON.stringify(one.labels) < JSON.stringify(other.labels) ? -1 : 1),
    );
  const maxGroups = Math.max(1, Math.min(query.limit, Math.floor(limits.answer / windows.count)));
  if (ranked.length > maxGroups) {
    const reason = maxGroups < query.limit ? `, because an answer has at most ${limits.answer} points` : '';
    partial.push({
      code: 'groups',
      message: `there are ${ranked.length} groups: these are the ${maxGroups} with the largest values${reason}`,
    });
  }
  const shown = ranked.slice(0, maxGroups);
  if (stepMs === undefined) return tableOf(query, shown, values, unit, partial);
  return seriesAnswer(
    shown.map(({ labels, group }) => ({
      name: query.metric,
      labels,
      unit,
      points: windows.starts.map((start, window) => [start, written(query, values(group, window))]),
    })),
    windows.partial,
    partial,
  );
};

const larger = (one = 0, other = 0): number => (one === other ? 0 : one > other ? -1 : 1);

interface Ranked {
  readonly labels: Readonly<Record<string, string>>;
  readonly group: number;
}

const tableOf = (
  query: MetricQuery,
  shown: readonly Ranked[],
  values: Values,
  unit: string,
  partial: readonly Incompleteness[],
): Answer => {
  const names =
    query.across === 'none' ? [...new Set(shown.flatMap(({ labels }) => Object.keys(labels)))].sort() : query.groupBy;
  return tableAnswer(
    [...names.map((name) => ({ name, type: 'text' as const, unit: '' })), { name: query.metric, type: 'number', unit }],
    shown.map(({ labels, group }) => [...names.map((name) => labels[name] ?? ''), written(query, values(group, 0))]),
    partial,
  );
};

/** Returns the mean of a group's values, by which groups are ranked; undefined without values. */
const sizeOf = (values: Values, group: number, windows: number): number | undefined => {
  let sum = 0;
  let count = 0;
  let has = false;
  for (let window = 0; window < windows; window++) {
    const value = values(group, window);
    if (value === undefined) continue;
    has = true;
    if (Number.isNaN(Number(value))) continue;
    sum += Number(value);
    count++;
  }
  if (!has) return undefined;
  return count === 0 ? Number.NEGATIVE_INFINITY : sum / count;
};
