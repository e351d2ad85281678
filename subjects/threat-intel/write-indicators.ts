/** Stores indicators of a source, in addition to the blocks by which records are matched */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Documents, StoredMetadata } from '../../schemas/ports/documents.ts';
import {
  buildIndicatorKey,
  indicatorBlocks,
  indicatorHunts,
  type SourceIndicator,
  type ThreatIndicator,
  threatIndicators,
} from '../../schemas/resources/threat-intel.ts';
import { type BlockIndicator, encodeBlock } from './block.ts';
import { maxBlockEntries } from './merge-blocks.ts';

/** Maximum number of writes per transaction, which must end within seconds */
export const writesPerTransaction = 250;
/**
 * Number of writes or computed keys after which processing yields to the event loop, because embedded documents never
 * yield
 */
const writesPerSlice = 25;
const keysPerSlice = 5_000;
const dayMs = 86_400_000;
/** Interval after which an unchanged indicator is written again */
const confirmationIntervalMs = dayMs;

/** Source of an import, and values that apply to all of its indicators */
export interface ImportOptions {
  readonly source: string;
  readonly nowMs: number;
  readonly halfLifeDays: number | null;
  readonly validDays: number | null;
  readonly raisesSignals: boolean;
  /** Start of the logs in which new indicators are searched; `null` to skip the search */
  readonly huntFromMs: number | null;
}

export interface WriteCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

/** Adds current indicators to the blocks. */
export const addBlock = async (
  of: Documents['forTenant'],
  tenantId: string,
  indicators: readonly BlockIndicator[],
): Promise<void> => {
  if (indicators.length > 0) await of(tenantId).collection(indicatorBlocks).insert(encodeBlock(indicators));
};

const withoutMetadata = ({
  id: _id,
  version: _version,
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  ...indicator
}: ThreatIndicator & StoredMetadata): ThreatIndicator => indicator;

const toStoredIndicator = (indicator: SourceIndicator, importOptions: ImportOptions): ThreatIndicator => {
  const { source, nowMs, validDays, halfLifeDays, raisesSignals } = importOptions;
  const defaultValidUntil = validDays === null ? null : new Date(nowMs + validDays * dayMs).toISOString();
  return {
    ...indicator,
    source,
    halfLifeDays,
    raisesSignals,
    validUntil: indicator.validUntil ?? defaultValidUntil,
    seenAt: new Date(nowMs).toISOString(),
    key: buildIndicatorKey(source, indicator.type, indicator.value),
  };
};

/** Returns whether a source reports an unchanged indicator. */
const isUnchanged = (next: ThreatIndicator, before: ThreatIndicator, given: SourceIndicator): boolean => {
  const timeless = (indicator: ThreatIndicator) => ({
    ...indicator,
    seenAt: '',
    validUntil: given.validUntil === null ? '' : indicator.validUntil,
  });
  return isDeepStrictEqual(timeless(next), timeless(before));
};

/**
 * An unknown indicator need not be revoked. An indicator that a source continues to report is confirmed once per day.
 */
const classifyChange = (
  next: ThreatIndicator,
  before: (ThreatIndicator & StoredMetadata) | undefined,
  given: SourceIndicator,
): { readonly outcome: keyof WriteCounts; readonly isWritten: boolean } => {
  if (before === undefined)
    return next.isRevoked ? { outcome: 'unchanged', isWritten: false } : { outcome: 'created', isWritten: true };
  if (!isUnchanged(next, withoutMetadata(before), given)) return { outcome: 'updated', isWritten: true };
  return {
    outcome: 'unchanged',
    isWritten: Date.parse(next.seenAt) - Date.parse(before.seenAt) >= confirmationIntervalMs,
  };
};

/** Returns indicators that the source reported with one of these ids and no longer reports. */
const findDroppedIndicators = async (
  of: Documents['forTenant'],
  tenantId: string,
  part: readonly SourceIndicator[],
  { source, indicatorsByKey }: { readonly source: string; readonly indicatorsByKey: ReadonlyMap<string, unknown> },
): Promise<(ThreatIndicator & StoredMetadata)[]> => {
  const ids = [...new Set(part.map(({ givenId }) => givenId).filter((id) => id !== ''))];
  if (ids.length === 0) return [];
  const { items } = await of(tenantId)
    .collection(threatIndicators)
    .list({ filter: { source, givenId: { $in: ids }, isRevoked: false }, limit: 1000 });
  return items.filter(({ key }) => !indicatorsByKey.has(key));
};

const writePart = async (
  of: Documents['forTenant'],
  tenantId: string,
  {
    part,
    indicatorsByKey,
    importOptions,
  }: { part: readonly SourceIndicator[]; indicatorsByKey: ReadonlyMap<string, unknown>; importOptions: ImportOptions },
): Promise<{ readonly counts: WriteCounts; readonly written: readonly ThreatIndicator[] }> => {
  const { source, nowMs } = importOptions;
  const stored = of(tenantId).collection(threatIndicators);
  const { items } = await stored.list({
    filter: { key: { $in: part.map(({ type, value }) => buildIndicatorKey(source, type, value)) } },
    limit: 1000,
  });
  const known = new Map(items.map((item) => [item.key, item]));
  const counts = { created: 0, updated: 0, unchanged: 0 };
  const written: ThreatIndicator[] = [];
  for (const indicator of part) {
    const next = toStoredIndicator(indicator, importOptions);
    const before = known.get(next.key);
    const { outcome, isWritten } = classifyChange(next, before, indicator);
    counts[outcome]++;
    if (!isWritten) continue;
    if (before === undefined) await stored.insert(next);
    else await stored.replace(before.id, next, before.version);
    written.push(next);
    if (written.length % writesPerSlice === 0) await yieldToEventLoop();
  }
  for (const before of await findDroppedIndicators(of, tenantId, part, { source, indicatorsByKey })) {
    const next = { ...withoutMetadata(before), isRevoked: true, seenAt: new Date(nowMs).toISOString() };
    await stored.replace(before.id, next, before.version);
    written.push(next);
    counts.updated++;
    if (written.length % writesPerSlice === 0) await yieldToEventLoop();
  }
  await addBlock(of, tenantId, written);
  return { counts, written };
};

/** Delay after which every consumer group member matches new indicators */
const maxIndexDelayMs = 10_000;

/** Creates hunts in stored logs for new indicators. */
const addHunts = async (
  of: Documents['forTenant'],
  tenantId: string,
  indicators: readonly ThreatIndicator[],
  { huntFromMs, nowMs }: ImportOptions,
): Promise<void> => {
  if (huntFromMs === null) return;
  for (let from = 0; from < indicators.length; from += maxBlockEntries) {
    const { sources, entries } = encodeBlock(indicators.slice(from, from + maxBlockEntries));
    const hunt = { sources, entries, fromMs: huntFromMs, toMs: nowMs + maxIndexDelayMs };
    await of(tenantId).collection(indicatorHunts).insert(hunt);
    await yieldToEventLoop();
  }
};

/** Returns indicators by key. The last entry of a source for a value counts. */
const indexByKey = async (
  source: string,
  indicators: readonly SourceIndicator[],
): Promise<Map<string, SourceIndicator>> => {
  const each = new Map<string, SourceIndicator>();
  for (const [index, one] of indicators.entries()) {
    each.set(buildIndicatorKey(source, one.type, one.value), one);
    if (index % keysPerSlice === keysPerSlice - 1) await yieldToEventLoop();
  }
  return each;
};

/**
 * Stores the indicators of a source, several hundred per transaction. Partial repeats and concurrent calls have the
 * same result. Indicators of an id (`givenId`) that the source no longer reports with it are revoked. `commit` runs
 * each transaction.
 */
export const writeIndicators = async (
  commit: (work: (of: Documents['forTenant']) => Promise<WriteCounts>) => Promise<WriteCounts>,
  tenantId: string,
  indicators: readonly SourceIndicator[],
  importOptions: ImportOptions,
): Promise<WriteCounts> => {
  const indicatorsByKey = await indexByKey(importOptions.source, indicators);
  const all = [...indicatorsByKey.values()];
  const sum = { created: 0, updated: 0, unchanged: 0 };
  const hunted: ThreatIndicator[] = [];
  for (let from = 0; from < all.length; from += writesPerTransaction) {
    const part = all.slice(from, from + writesPerTransaction);
    let fresh: readonly ThreatIndicator[] = [];
    const counts = await commit(async (of) => {
      const { written, counts: own } = await writePart(of, tenantId, { part, indicatorsByKey, importOptions });
      fresh = written.filter(({ isRevoked }) => !isRevoked);
      if (from + writesPerTransaction >= all.length) await addHunts(of, tenantId, [...hunted, ...fresh], importOptions);
      return own;
    });
    if (importOptions.huntFromMs !== null) hunted.push(...fresh);
    for (const name of ['created', 'updated', 'unchanged'] as const) sum[name] += counts[name];
  }
  return sum;
};
