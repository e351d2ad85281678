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
/** Number of computed keys after which processing yields to the event loop */
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
  forTenant: Documents['forTenant'],
  tenantId: string,
  indicators: readonly BlockIndicator[],
): Promise<void> => {
  if (indicators.length > 0) await forTenant(tenantId).collection(indicatorBlocks).insert(encodeBlock(indicators));
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
const isUnchanged = (
  updated: ThreatIndicator,
  existing: ThreatIndicator,
  sourceIndicator: SourceIndicator,
): boolean => {
  const omitTimes = (indicator: ThreatIndicator) => ({
    ...indicator,
    seenAt: '',
    validUntil: sourceIndicator.validUntil === null ? '' : indicator.validUntil,
  });
  return isDeepStrictEqual(omitTimes(updated), omitTimes(existing));
};

/**
 * Decides whether an indicator is written. A revoked indicator that is unknown is not stored; an unchanged indicator
 * is confirmed once per day.
 */
const classifyChange = (
  updated: ThreatIndicator,
  existing: (ThreatIndicator & StoredMetadata) | undefined,
  sourceIndicator: SourceIndicator,
): { readonly outcome: keyof WriteCounts; readonly shouldWrite: boolean } => {
  if (existing === undefined)
    return updated.isRevoked ? { outcome: 'unchanged', shouldWrite: false } : { outcome: 'created', shouldWrite: true };
  if (!isUnchanged(updated, withoutMetadata(existing), sourceIndicator))
    return { outcome: 'updated', shouldWrite: true };
  return {
    outcome: 'unchanged',
    shouldWrite: Date.parse(updated.seenAt) - Date.parse(existing.seenAt) >= confirmationIntervalMs,
  };
};

/** Returns indicators that the source reported with one of these ids and no longer reports. */
const findDroppedIndicators = async (
  forTenant: Documents['forTenant'],
  tenantId: string,
  batch: readonly SourceIndicator[],
  { source, indicatorsByKey }: { readonly source: string; readonly indicatorsByKey: ReadonlyMap<string, unknown> },
): Promise<(ThreatIndicator & StoredMetadata)[]> => {
  const ids = [...new Set(batch.map(({ givenId }) => givenId).filter((id) => id !== ''))];
  if (ids.length === 0) return [];
  const { items } = await forTenant(tenantId)
    .collection(threatIndicators)
    .list({ filter: { source, givenId: { $in: ids }, isRevoked: false }, limit: 1000 });
  return items.filter(({ key }) => !indicatorsByKey.has(key));
};

const writeBatch = async (
  forTenant: Documents['forTenant'],
  tenantId: string,
  {
    batch,
    indicatorsByKey,
    importOptions,
  }: { batch: readonly SourceIndicator[]; indicatorsByKey: ReadonlyMap<string, unknown>; importOptions: ImportOptions },
): Promise<{ readonly counts: WriteCounts; readonly written: readonly ThreatIndicator[] }> => {
  const { source, nowMs } = importOptions;
  const indicatorCollection = forTenant(tenantId).collection(threatIndicators);
  const { items } = await indicatorCollection.list({
    filter: { key: { $in: batch.map(({ type, value }) => buildIndicatorKey(source, type, value)) } },
    limit: 1000,
  });
  const existingByKey = new Map(items.map((item) => [item.key, item]));
  const counts = { created: 0, updated: 0, unchanged: 0 };
  const written: ThreatIndicator[] = [];
  for (const indicator of batch) {
    const updated = toStoredIndicator(indicator, importOptions);
    const existing = existingByKey.get(updated.key);
    const { outcome, shouldWrite } = classifyChange(updated, existing, indicator);
    counts[outcome]++;
    if (!shouldWrite) continue;
    if (existing === undefined) await indicatorCollection.insert(updated);
    else await indicatorCollection.replace(existing.id, updated, existing.version);
    written.push(updated);
  }
  for (const existing of await findDroppedIndicators(forTenant, tenantId, batch, { source, indicatorsByKey })) {
    const updated = { ...withoutMetadata(existing), isRevoked: true, seenAt: new Date(nowMs).toISOString() };
    await indicatorCollection.replace(existing.id, updated, existing.version);
    written.push(updated);
    counts.updated++;
  }
  await addBlock(forTenant, tenantId, written);
  return { counts, written };
};

/** Delay after which every consumer group member matches new indicators */
const maxIndexDelayMs = 10_000;

/** Creates hunts in stored logs for new indicators. */
const addHunts = async (
  forTenant: Documents['forTenant'],
  tenantId: string,
  indicators: readonly ThreatIndicator[],
  { huntFromMs, nowMs }: ImportOptions,
): Promise<void> => {
  if (huntFromMs === null) return;
  for (let from = 0; from < indicators.length; from += maxBlockEntries) {
    const { sources, entries } = encodeBlock(indicators.slice(from, from + maxBlockEntries));
    const hunt = { sources, entries, fromMs: huntFromMs, toMs: nowMs + maxIndexDelayMs };
    await forTenant(tenantId).collection(indicatorHunts).insert(hunt);
  }
};

/** Returns indicators by key. The last entry of a source for a value counts. */
const indexByKey = async (
  source: string,
  indicators: readonly SourceIndicator[],
): Promise<Map<string, SourceIndicator>> => {
  const each = new Map<string, SourceIndicator>();
  for (const [index, indicator] of indicators.entries()) {
    each.set(buildIndicatorKey(source, indicator.type, indicator.value), indicator);
    if (index % keysPerSlice === keysPerSlice - 1) await yieldToEventLoop();
  }
  return each;
};

/**
 * Stores the indicators of a source, several hundred per transaction. Partial repeats and concurrent calls have the
 * same result. Indicators that the source previously reported with an id (`givenId`) and no longer reports are
 * revoked. `commit` runs
 * each transaction.
 */
export const writeIndicators = async (
  commit: (write: (forTenant: Documents['forTenant']) => Promise<WriteCounts>) => Promise<WriteCounts>,
  tenantId: string,
  indicators: readonly SourceIndicator[],
  importOptions: ImportOptions,
): Promise<WriteCounts> => {
  const indicatorsByKey = await indexByKey(importOptions.source, indicators);
  const uniqueIndicators = [...indicatorsByKey.values()];
  const totals = { created: 0, updated: 0, unchanged: 0 };
  const indicatorsToHunt: ThreatIndicator[] = [];
  for (let from = 0; from < uniqueIndicators.length; from += writesPerTransaction) {
    const batch = uniqueIndicators.slice(from, from + writesPerTransaction);
    let newIndicators: readonly ThreatIndicator[] = [];
    const counts = await commit(async (forTenant) => {
      const { written, counts: batchCounts } = await writeBatch(forTenant, tenantId, {
        batch,
        indicatorsByKey,
        importOptions,
      });
      newIndicators = written.filter(({ isRevoked }) => !isRevoked);
      if (from + writesPerTransaction >= uniqueIndicators.length)
        await addHunts(forTenant, tenantId, [...indicatorsToHunt, ...newIndicators], importOptions);
      return batchCounts;
    });
    if (importOptions.huntFromMs !== null) indicatorsToHunt.push(...newIndicators);
    for (const name of ['created', 'updated', 'unchanged'] as const) totals[name] += counts[name];
  }
  return totals;
};
