/**
 * What series say of things (hosts, pods, disks): the latest value of each, or values by step, summed over the series that differ
 * only in labels that were not asked for. Tables and series of both groups read through this, so their numbers agree.
 */
import type { Attributes } from '../../queries/attributes.ts';
import type { Reading } from '../../queries/reading.ts';
import { resourcesOf } from '../../queries/resources.ts';
import { type CellQuery, readStepRows, type StepRows } from './cell-points.ts';
import { type KnownGroups, knownSeries, type SeriesGroup } from './known-series.ts';

/** Series of one metric and resource with equal labels, as far as labels were asked for. */
export interface Cell {
  readonly metric: string;
  /** Attributes of the resource; empty for remote-write. */
  readonly resource: Attributes;
  readonly resourceId: string;
  /** Labels that were asked for and are there. */
  readonly labels: Readonly<Record<string, string>>;
  /** How many series were summed. */
  readonly series: number;
  /** The latest values, summed; by step: the means. */
  readonly level: number;
  /** Increase a second, resets counted, summed; `undefined` where no series has two points. */
  readonly rate: number | undefined;
  /** Increase in the range or step, resets counted, summed. */
  readonly increase: number;
  /** The largest values of each, summed. */
  readonly peak: number;
  /** Time of the latest point. */
  readonly atMs: number;
  /** Start of the step; 0 without steps. */
  readonly bucketMs: number;
}

export interface Cells {
  readonly cells: readonly Cell[];
  /** Whether there were more than can be read at once. */
  readonly isCut: boolean;
}

const maxCells = 300_000;
/** Of series that differ in other labels alone, those that ended this long before the newest have been replaced: the container restarted. */
const replacedMs = 150_000;

/** Rows of what the series of a group said, by start of the step. */
interface Group extends SeriesGroup {
  readonly rows: Map<number, number[]>;
}

/** Cells of these metrics in the range, by metric, resource, labels and step. */
export const readCells = async (reading: Reading, query: CellQuery): Promise<Cells> => {
  if (query.metrics.length === 0) return { cells: [], isCut: false };
  const stepRows = await readStepRows(reading, query);
  const { metrics, labels, range, stepMs } = query;
  const fromMs = Number(range.from / 1_000_000n);
  const known = await knownSeries(reading.columns, stepRows.ids, { metrics, labels, fromMs });
  const groups = groupsOf(stepRows, known);
  const resources = await resourcesOf(reading.columns, new Set(groups.map(({ resourceId }) => resourceId)));
  const cells: Cell[] = [];
  for (const group of groups) {
    const resource = resources.get(group.resourceId)?.attributes ?? {};
    for (const [bucketMs, rows] of inOrder(group.rows)) {
      const own = stepMs === undefined && rows.length > 1 ? withoutReplaced(stepRows, rows) : rows;
      cells.push(cellOf(group, resource, { stepRows, rows: own, series: known.series, bucketMs }));
    }
  }
  return { cells: cells.slice(0, maxCells), isCut: stepRows.isCut || cells.length > maxCells };
};

/** Groups in order, with the rows of each. */
const groupsOf = (stepRows: StepRows, { series, groups }: KnownGroups): readonly Group[] => {
  const found = new Map<SeriesGroup, Map<number, number[]>>();
  for (const [row, id] of stepRows.ids.entries()) {
    const known = series.get(id);
    if (known === undefined) continue;
    const group = groups.of(id, known);
    const bucketMs = stepRows.bucketMs[row] ?? 0;
    const buckets = found.get(group);
    const rows = buckets?.get(bucketMs);
    if (buckets === undefined) found.set(group, new Map([[bucketMs, [row]]]));
    else if (rows === undefined) buckets.set(bucketMs, [row]);
    else rows.push(row);
  }
  groups.order();
  const own = [...found].sort(([one], [other]) => one.order - other.order);
  return own.map(([group, rows]) => ({ ...group, rows }));
};

const inOrder = (rows: Group['rows']): Iterable<[number, number[]]> =>
  rows.size === 1 ? rows : [...rows].sort(([one], [other]) => one - other);

const withoutReplaced = ({ atMs }: StepRows, rows: readonly number[]): readonly number[] => {
  const newest = rows.reduce((last, row) => Math.max(last, atMs[row] ?? 0), 0);
  return rows.filter((row) => (atMs[row] ?? 0) >= newest - replacedMs);
};

/** The sum over its series. */
const cellOf = (
  { metric, resourceId, labels }: Group,
  resource: Attributes,
  {
    stepRows,
    rows,
    series,
    bucketMs,
  }: {
    readonly stepRows: StepRows;
    readonly rows: readonly number[];
    readonly series: KnownGroups['series'];
    readonly bucketMs: number;
  },
): Cell => {
  let [level, increase, peak, atMs, rate, rates] = [0, 0, 0, 0, 0, 0];
  for (const row of rows) {
    level += stepRows.level[row] ?? 0;
    peak += stepRows.peak[row] ?? 0;
    atMs = Math.max(atMs, stepRows.atMs[row] ?? 0);
    const coveredMs = stepRows.coveredMs[row] ?? 0;
    if (coveredMs === 0) continue;
    const isDelta = series.get(stepRows.ids[row] ?? 0n)?.isDelta === true;
    const grown = (isDelta ? stepRows.asDelta : stepRows.asCumulative)[row] ?? 0;
    increase += grown;
    rate += (1000 * grown) / coveredMs;
    rates++;
  }
  return {
    metric,
    resource,
    resourceId,
    labels,
    series: rows.length,
    level,
    increase,
    peak,
    atMs,
    bucketMs,
    rate: rates === 0 ? undefined : rate,
  };
};
