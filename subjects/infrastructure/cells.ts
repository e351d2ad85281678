/**
 * Values of infrastructure series (hosts, pods, disks): the latest value of each, or values by step. Series that differ
 * only in labels that were not requested are summed. Tables and charts both use this module, so their numbers agree.
 */
import type { Attributes } from '../../queries/attributes.ts';
import { getResources } from '../../queries/resources.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { type CellQuery, readStepRows, type StepRows } from './cell-points.ts';
import { type KnownGroups, readKnownSeries, type SeriesGroup } from './known-series.ts';

/** Series of one metric and resource with equal requested labels */
export interface Cell {
  readonly metric: string;
  /** Attributes of the resource; empty for remote-write */
  readonly resource: Attributes;
  readonly resourceId: string;
  /** Requested labels that exist */
  readonly labels: Readonly<Record<string, string>>;
  /** Number of summed series */
  readonly series: number;
  /** Sum of the latest values; with steps, of the means */
  readonly value: number;
  /** Sum of the increases per second, with resets accounted for; `undefined` if no series has two points */
  readonly rate: number | undefined;
  /** Sum of the increases in the range or step, with resets accounted for */
  readonly increase: number;
  /** Sum of the maximum values of each series */
  readonly peak: number;
  /** Time of the latest point */
  readonly atMs: number;
  /** Start of the step; 0 without steps */
  readonly bucketMs: number;
}

export interface Cells {
  readonly cells: readonly Cell[];
  /** Whether the result was truncated at the limit */
  readonly isTruncated: boolean;
}

const maxCells = 300_000;
/**
 * Among series that differ in other labels alone, those that ended this long before the newest were replaced, because
 * the container restarted. Milliseconds.
 */
const maxReplacedLagMs = 150_000;

/** Rows of the series of a group, by start of the step */
interface RowGroup extends SeriesGroup {
  readonly rows: Map<number, number[]>;
}

/** Returns the cells of metrics in the range, by metric, resource, labels and step. */
export const readCells = async (reader: TenantReader, query: CellQuery): Promise<Cells> => {
  if (query.metrics.length === 0) return { cells: [], isTruncated: false };
  const stepRows = await readStepRows(reader, query);
  const { metrics, labels, range, stepMs } = query;
  const fromMs = Number(range.from / 1_000_000n);
  const knownSeries = await readKnownSeries(reader.columns, stepRows.ids, { metrics, labels, fromMs });
  const groups = groupRows(stepRows, knownSeries);
  const resources = await getResources(reader.columns, new Set(groups.map(({ resourceId }) => resourceId)));
  const cells: Cell[] = [];
  for (const group of groups) {
    const resource = resources.get(group.resourceId)?.attributes ?? {};
    for (const [bucketMs, rows] of sortByBucket(group.rows)) {
      const currentRows = stepMs === undefined && rows.length > 1 ? excludeReplaced(stepRows, rows) : rows;
      cells.push(sumSeries(group, resource, { stepRows, rows: currentRows, series: knownSeries.series, bucketMs }));
    }
  }
  return { cells: cells.slice(0, maxCells), isTruncated: stepRows.isTruncated || cells.length > maxCells };
};

/** Returns groups in order, with the rows of each. */
const groupRows = (stepRows: StepRows, { series, groups }: KnownGroups): readonly RowGroup[] => {
  const rowsByGroup = new Map<SeriesGroup, Map<number, number[]>>();
  for (const [row, id] of stepRows.ids.entries()) {
    const seriesInfo = series.get(id);
    if (seriesInfo === undefined) continue;
    const group = groups.getGroup(id, seriesInfo);
    const bucketMs = stepRows.bucketMs[row] ?? 0;
    const buckets = rowsByGroup.get(group);
    const rows = buckets?.get(bucketMs);
    if (buckets === undefined) rowsByGroup.set(group, new Map([[bucketMs, [row]]]));
    else if (rows === undefined) buckets.set(bucketMs, [row]);
    else rows.push(row);
  }
  groups.assignOrder();
  const sortedGroups = [...rowsByGroup].sort(([left], [right]) => left.order - right.order);
  return sortedGroups.map(([group, rows]) => ({ ...group, rows }));
};

const sortByBucket = (rows: RowGroup['rows']): Iterable<[number, number[]]> =>
  rows.size === 1 ? rows : [...rows].sort(([left], [right]) => left - right);

const excludeReplaced = ({ atMs }: StepRows, rows: readonly number[]): readonly number[] => {
  const newestMs = rows.reduce((last, row) => Math.max(last, atMs[row] ?? 0), 0);
  return rows.filter((row) => (atMs[row] ?? 0) >= newestMs - maxReplacedLagMs);
};

/** Returns the sum over the series of a group. */
const sumSeries = (
  { metric, resourceId, labels }: RowGroup,
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
  let [value, increase, peak, atMs, rate, rates] = [0, 0, 0, 0, 0, 0];
  for (const row of rows) {
    value += stepRows.level[row] ?? 0;
    peak += stepRows.peak[row] ?? 0;
    atMs = Math.max(atMs, stepRows.atMs[row] ?? 0);
    const coveredMs = stepRows.coveredMs[row] ?? 0;
    if (coveredMs === 0) continue;
    const isDelta = series.get(stepRows.ids[row] ?? 0n)?.isDelta === true;
    const seriesIncrease = (isDelta ? stepRows.deltaIncrease : stepRows.asCumulative)[row] ?? 0;
    increase += seriesIncrease;
    rate += (1000 * seriesIncrease) / coveredMs;
    rates++;
  }
  return {
    metric,
    resource,
    resourceId,
    labels,
    series: rows.length,
    value,
    increase,
    peak,
    atMs,
    bucketMs,
    rate: rates === 0 ? undefined : rate,
  };
};
