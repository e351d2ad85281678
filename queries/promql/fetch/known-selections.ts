/**
 * Caches the series of selectors. One statement then reads the points of the current selection, and detects new series
 * by their ids. Labels of a series never change.
 */
import type { TenantColumns } from '../../../schemas/ports/columns.ts';
import { buildProjectScopeCondition, toProjectScopeParameters } from '../../project-scope.ts';
import { RowCache } from '../../row-cache.ts';
import type { Matcher } from '../series.ts';
import type { Condition } from './matcher-conditions.ts';
import { buildPointsStatement, type PointBlock, PointBlockReader, storageOrder } from './point-blocks.ts';
import { readSeriesIds } from './rows.ts';
import type { Scope, Window } from './scope.ts';
import { type SelectedSeries, type SeriesSelection, selectSeriesWithSource } from './select-series.ts';

/** Cached series of a selector, all of which are series of numbers. */
interface CachedSelection {
  readonly series: readonly SelectedSeries[];
  readonly matchedSeriesIds: ReadonlySet<string>;
  readonly metrics: readonly string[];
  /** Condition that selects its series in a statement over points; empty if all series of the metrics are selected. */
  readonly restriction: Restriction;
  readonly selectedAtMs: number;
  /** Change counter of `series` before the selection. */
  readonly changes: number | undefined;
  /** Series that ended before this time are not included. */
  readonly fromMs: number;
  /** Number of points of a series per millisecond. */
  readonly pointsPerMs: number;
}

interface Restriction extends Condition {
  readonly hasSubquery: boolean;
}

/** Maximum number of series of all cached selectors. */
const maxCachedSeries = 50_000;
/** Time after which the cache is checked for other metrics or kinds under the same name. */
const cacheTtlMs = 60_000;
/** Maximum number of series selected by id, which the engine finds faster than by labels. */
const maxIdsInStatement = 1_000;
/**
 * Maximum expected number of points to read in one statement: more than in one part, because the overhead of a
 * statement equals the cost of many points.
 */
const maxExpectedPoints = 600_000;
/** If a statement finds more points than this, they are read in parts instead. */
const maxPoints = 800_000;

const selectionCache = new RowCache<CachedSelection>(
  maxCachedSeries,
  ({ matchedSeriesIds }) => matchedSeriesIds.size + 1,
);

/** Reads the points of a selector in blocks; `next` returns undefined after the last block. */
export interface BlockReader {
  next(): Promise<PointBlock | undefined>;
}

const isNameMatcher = ({ name }: Matcher): boolean => name === '__name__';

const buildRestriction = (
  { projectId }: Scope,
  matchers: readonly Matcher[],
  { condition }: SeriesSelection,
): Restriction =>
  projectId === undefined && matchers.every(isNameMatcher)
    ? { sql: '', parameters: {}, hasSubquery: false }
    : {
        sql: ` AND series_id IN (SELECT series_id FROM series WHERE tenant_id = {tenant:String}${buildProjectScopeCondition({ projectId })} AND ${condition.sql})`,
        parameters: { ...condition.parameters, ...toProjectScopeParameters({ projectId }) },
        hasSubquery: true,
      };

/**
 * Returns whether a selection may be cached: it has one metric name, and all its series are numbers that need no
 * conversion.
 */
const isCacheable = (matchers: readonly Matcher[], { series }: SeriesSelection): boolean =>
  matchers.filter(isNameMatcher).length === 1 &&
  matchers.some((matcher) => isNameMatcher(matcher) && matcher.op === '=') &&
  series.length > 0 &&
  series.every(({ sources }) =>
    sources.every(({ part, tables, isDelta }) => part === 'value' && tables.join() === 'samples' && !isDelta),
  );

/** Returns whether the cached selection is still current. */
const isUnchanged = (columns: TenantColumns, window: Window, { changes, fromMs }: CachedSelection): boolean =>
  changes !== undefined && changes === columns.getChangeCount?.('series') && window.fromMs >= fromMs;

const restrictByIds = ({ series, restriction }: CachedSelection): Restriction => {
  const ids = series.flatMap(({ sources }) => sources.map(({ id }) => id));
  if (restriction.sql === '' || ids.length > maxIdsInStatement) return restriction;
  return { sql: ' AND series_id IN {ids:Array(UInt64)}', parameters: { ids }, hasSubquery: false };
};

/** Returns all points in one block; undefined if there are unknown series or too many points. */
const readAllPoints = async (
  { columns }: Scope,
  window: Window,
  selector: CachedSelection,
  needsStartTimes: boolean,
): Promise<PointBlock | undefined> => {
  const { series, matchedSeriesIds, metrics } = selector;
  const restriction = isUnchanged(columns, window, selector) ? restrictByIds(selector) : selector.restriction;
  const clause = restriction.hasSubquery ? 'WHERE' : 'PREWHERE';
  const { sql, parameters } = buildPointsStatement('samples', { window, metrics, needsStartTimes, clause });
  const bytes = await columns.queryNative(
    `${sql}${restriction.sql} ${storageOrder} LIMIT ${maxPoints + 1}`,
    { ...parameters, ...restriction.parameters },
    { maxResultRows: maxPoints + 1 },
  );
  const { ids, rows } = readSeriesIds(bytes);
  if (rows > maxPoints || [...ids].some((id) => !matchedSeriesIds.has(id))) return undefined;
  return {
    series: series.filter(({ sources }) => sources.some(({ id }) => ids.has(id))),
    blocks: { samples: bytes },
  };
};

const isFresh = (columns: TenantColumns, window: Window, selector: CachedSelection): boolean =>
  performance.now() - selector.selectedAtMs < cacheTtlMs || isUnchanged(columns, window, selector);

/** Opens a reader of a selector within a window. With `needsStartTimes`, each point has its counter's start time. */
export const openBlockReader = async (
  scope: Scope,
  window: Window,
  matchers: readonly Matcher[],
  needsStartTimes = false,
): Promise<BlockReader> => {
  const cache = selectionCache.forTenant(scope.columns);
  const key = JSON.stringify([scope.projectId, scope.translation, matchers]);
  const cached = cache.get(key);
  const pointsPerSeries = cached && Math.max(1, cached.pointsPerMs * (window.toMs - window.fromMs));
  if (cached !== undefined && pointsPerSeries !== undefined && isFresh(scope.columns, window, cached)) {
    const fitsOneStatement = cached.series.length * pointsPerSeries <= maxExpectedPoints;
    const block = fitsOneStatement ? await readAllPoints(scope, window, cached, needsStartTimes) : undefined;
    if (block !== undefined) return createSingleBlockReader(block);
  }
  const changes = scope.columns.getChangeCount?.('series');
  const selection = await selectSeriesWithSource(scope, window, matchers);
  const blockReader = new PointBlockReader(scope.columns, window, selection.series, {
    expectedPointsPerSeries: pointsPerSeries,
    needsStartTimes,
  });
  const { metrics } = selection;
  if (metrics === undefined || !isCacheable(matchers, selection)) return blockReader;
  const restriction = buildRestriction(scope, matchers, selection);
  const selectedAtMs = performance.now();
  return {
    async next() {
      const block = await blockReader.next();
      const pointsPerMs = blockReader.maxPointsPerSeries / Math.max(1, window.toMs - window.fromMs);
      if (block === undefined)
        cache.set(key, {
          ...selection,
          metrics,
          restriction,
          selectedAtMs,
          pointsPerMs,
          changes,
          fromMs: window.fromMs,
        });
      return block;
    },
  };
};

const createSingleBlockReader = (block: PointBlock): BlockReader => {
  let remaining: PointBlock | undefined = block;
  return {
    async next() {
      const next = remaining;
      remaining = undefined;
      return next;
    },
  };
};
