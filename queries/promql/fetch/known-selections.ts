/**
 * Caches the series of selectors. One statement then reads the points of the current selection, and detects new series
 * by their ids. Labels of a series never change.
 */
import type { TenantColumns } from '../../../schemas/ports/columns.ts';
import { projectScopeCondition, projectScopeValues } from '../../project-scope.ts';
import { RowCache } from '../../row-cache.ts';
import type { Matcher } from '../series.ts';
import { type Choice, type SelectedSeries, selectSeriesWithSource } from './choose.ts';
import type { Condition } from './matching.ts';
import { inOrder, type Piece, Pieces, pointsStatement } from './pieces.ts';
import { seriesIn } from './rows.ts';
import type { Scope, Window } from './scope.ts';

/** A selector whose series have only numbers. */
interface CachedSelection {
  readonly chosen: readonly SelectedSeries[];
  readonly found: ReadonlySet<string>;
  readonly metrics: readonly string[];
  /** Condition that selects its series in a statement over points; empty if all series of the metrics are selected. */
  readonly restriction: Restriction;
  readonly chosenMs: number;
  /** Change counter of `series` before the selection. */
  readonly changes: number | undefined;
  /** Series that ended before this time are not included. */
  readonly fromMs: number;
  /** Number of points of a series per millisecond. */
  readonly density: number;
}

interface Restriction extends Condition {
  readonly hasSubquery: boolean;
}

/** Maximum number of series of all cached selectors. */
const maxCachedSeries = 50_000;
/** Time after which the cache is checked for other metrics or kinds under the same name. */
const cacheTtlMs = 60_000;
/** Maximum number of series selected by id, which the engine finds faster than by labels. */
const maxNamedIds = 1_000;
/**
 * Number of points to read in one statement: more than in a piece, because the overhead of a statement equals that of
 * many points.
 */
const pointsAtOnce = 600_000;
/** Above this number, points are read in pieces after all. */
const maxPoints = 800_000;

const known = new RowCache<CachedSelection>(maxCachedSeries, ({ found }) => found.size + 1);

/** Reads a selector piece by piece; undefined after the last one. */
export interface PieceReader {
  next(): Promise<Piece | undefined>;
}

const isOfName = ({ name }: Matcher): boolean => name === '__name__';

const restrictionOf = ({ projectId }: Scope, matchers: readonly Matcher[], { condition }: Choice): Restriction =>
  projectId === undefined && matchers.every(isOfName)
    ? { sql: '', parameters: {}, hasSubquery: false }
    : {
        sql: ` AND series_id IN (SELECT series_id FROM series WHERE tenant_id = {tenant:String}${projectScopeCondition({ projectId })} AND ${condition.sql})`,
        parameters: { ...condition.parameters, ...projectScopeValues({ projectId }) },
        hasSubquery: true,
      };

/** Returns whether a selection may be cached: one name, and numbers as they were sent. */
const isPlain = (matchers: readonly Matcher[], { chosen }: Choice): boolean =>
  matchers.filter(isOfName).length === 1 &&
  matchers.some((matcher) => isOfName(matcher) && matcher.op === '=') &&
  chosen.length > 0 &&
  chosen.every(({ sources }) =>
    sources.every(({ part, tables, isDelta }) => part === 'value' && tables.join() === 'samples' && !isDelta),
  );

/** Returns whether the cached selection is still current. */
const isUnchanged = (columns: TenantColumns, window: Window, { changes, fromMs }: CachedSelection): boolean =>
  changes !== undefined && changes === columns.changesOf?.('series') && window.fromMs >= fromMs;

const namedBy = ({ chosen, restriction }: CachedSelection): Restriction => {
  const ids = chosen.flatMap(({ sources }) => sources.map(({ id }) => id));
  if (restriction.sql === '' || ids.length > maxNamedIds) return restriction;
  return { sql: ' AND series_id IN {ids:Array(UInt64)}', parameters: { ids }, hasSubquery: false };
};

/** Returns all points in one piece; undefined if there are unknown series or too many points. */
const readAtOnce = async (
  { columns }: Scope,
  window: Window,
  selector: CachedSelection,
  hasStarts: boolean,
): Promise<Piece | undefined> => {
  const { chosen, found, metrics } = selector;
  const restriction = isUnchanged(columns, window, selector) ? namedBy(selector) : selector.restriction;
  const clause = restriction.hasSubquery ? 'WHERE' : 'PREWHERE';
  const { sql, parameters } = pointsStatement('samples', { window, metrics, hasStarts, clause });
  const bytes = await columns.native(
    `${sql}${restriction.sql} ${inOrder} LIMIT ${maxPoints + 1}`,
    { ...parameters, ...restriction.parameters },
    { maxResultRows: maxPoints + 1 },
  );
  const { ids, rows } = seriesIn(bytes);
  if (rows > maxPoints || [...ids].some((id) => !found.has(id))) return undefined;
  return {
    chosen: chosen.filter(({ sources }) => sources.some(({ id }) => ids.has(id))),
    blocks: { samples: bytes },
  };
};

const isFresh = (columns: TenantColumns, window: Window, selector: CachedSelection): boolean =>
  performance.now() - selector.chosenMs < cacheTtlMs || isUnchanged(columns, window, selector);

/** Opens a reader of a selector within a window. With `hasStarts`, each point has the start time of its counter. */
export const openPieces = async (
  scope: Scope,
  window: Window,
  matchers: readonly Matcher[],
  hasStarts = false,
): Promise<PieceReader> => {
  const cache = known.of(scope.columns);
  const key = JSON.stringify([scope.projectId, scope.translation, matchers]);
  const before = cache.get(key);
  const perSeries = before && Math.max(1, before.density * (window.toMs - window.fromMs));
  if (before !== undefined && perSeries !== undefined && isFresh(scope.columns, window, before)) {
    const isFew = before.chosen.length * perSeries <= pointsAtOnce;
    const piece = isFew ? await readAtOnce(scope, window, before, hasStarts) : undefined;
    if (piece !== undefined) return onlyPiece(piece);
  }
  const changes = scope.columns.changesOf?.('series');
  const choice = await selectSeriesWithSource(scope, window, matchers);
  const pieces = new Pieces(scope.columns, window, choice.chosen, { perSeries, hasStarts });
  const { metrics } = choice;
  if (metrics === undefined || !isPlain(matchers, choice)) return pieces;
  const restriction = restrictionOf(scope, matchers, choice);
  const chosenMs = performance.now();
  return {
    async next() {
      const piece = await pieces.next();
      const density = pieces.maxPointsPerSeries / Math.max(1, window.toMs - window.fromMs);
      if (piece === undefined)
        cache.set(key, { ...choice, metrics, restriction, chosenMs, density, changes, fromMs: window.fromMs });
      return piece;
    },
  };
};

const onlyPiece = (piece: Piece): PieceReader => {
  let left: Piece | undefined = piece;
  return {
    async next() {
      const next = left;
      left = undefined;
      return next;
    },
  };
};
