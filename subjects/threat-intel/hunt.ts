/** Searches stored records for new indicators */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { exportRecords } from '../../queries/logs/export.ts';
import { parseRetainedRange, type Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { addToList } from '../../schemas/add-to-list.ts';
import type { IndicatorHunt } from '../../schemas/resources/threat-intel.ts';
import type { ThreatMatch } from '../../schemas/threat-matches.ts';
import { toDetectedRecord } from '../detections/backtest.ts';
import type { DetectedRecord } from '../detections/detect.ts';
import { addRecord, createMatch, createMatchKey, groupingWindowMs, toEvent } from './create-match.ts';
import { computeScore } from './indicator.ts';
import { IndicatorIndex } from './indicator-index.ts';
import { matchEvent } from './match.ts';
import { readMatches } from './stored-matches.ts';

const maxRecords = 500_000;
const maxMatches = 10_000;

export interface HuntResult {
  readonly records: number;
  /** Whether all records and matches were processed; false if a limit or the time budget was exceeded */
  readonly isComplete: boolean;
  readonly matches: readonly ThreatMatch[];
}

/**
 * Returns the start times of known matches by key. Records within an hour of a start are already counted in that
 * match.
 */
const readKnownStarts = async (reader: TenantReader, { from, to }: Range): Promise<ReadonlyMap<string, number[]>> => {
  const starts = new Map<string, number[]>();
  const range = { from: from - BigInt(groupingWindowMs) * 1_000_000n, to };
  for (const { project, ms, ...match } of await readMatches(reader, {}, { range, limit: maxMatches })) {
    const key = createMatchKey({ ...match, projectId: project });
    addToList(starts, key, Number(ms));
  }
  return starts;
};

class RunningHunt {
  readonly #index = new IndicatorIndex();
  readonly #knownStarts: ReadonlyMap<string, number[]>;
  readonly #openMatches = new Map<string, ThreatMatch>();
  readonly #closedMatches: ThreatMatch[] = [];

  constructor(hunt: Pick<IndicatorHunt, 'sources' | 'entries'>, knownStarts: ReadonlyMap<string, number[]>) {
    this.#index.add('hunt', hunt);
    this.#knownStarts = knownStarts;
  }

  /** Adds a record; times must be ascending. */
  add(record: DetectedRecord): void {
    const event = toEvent(record.values);
    for (const sighting of matchEvent(this.#index, event)) {
      const score = computeScore(sighting.indicator, record.timeMs);
      if (score === 0) continue;
      const { key, match } = createMatch(sighting, record, event, score);
      const isKnown = this.#knownStarts
        .get(key)
        ?.some((start) => record.timeMs >= start && record.timeMs < start + groupingWindowMs);
      if (isKnown !== true) this.#addMatch(key, { ...match, retroHunt: true });
    }
  }

  get size(): number {
    return this.#openMatches.size + this.#closedMatches.length;
  }

  get matches(): ThreatMatch[] {
    return [...this.#closedMatches, ...this.#openMatches.values()];
  }

  #addMatch(key: string, match: ThreatMatch): void {
    const openMatch = this.#openMatches.get(key);
    if (openMatch !== undefined && match.timeMs < openMatch.timeMs + groupingWindowMs) {
      this.#openMatches.set(key, addRecord(openMatch, match.timeMs));
      return;
    }
    if (openMatch !== undefined) this.#closedMatches.push(openMatch);
    this.#openMatches.set(key, match);
  }
}

/** Time slice after which processing yields to the event loop, in milliseconds */
const defaultTimeSliceMs = 10;

/** Searches stored records, the oldest first. Matches that the stream or another hunt has reported are omitted. */
export const huntIndicators = async (
  hunt: Pick<IndicatorHunt, 'sources' | 'entries' | 'fromMs' | 'toMs'>,
  { reader, tenantId }: { readonly reader: TenantReader; readonly tenantId: string },
  { isTimeUp, timeSliceMs = defaultTimeSliceMs }: { readonly isTimeUp: () => boolean; readonly timeSliceMs?: number },
): Promise<HuntResult> => {
  const { nowMs } = reader;
  const retainedSinceMs = nowMs - reader.plan.retentionDays.logs * 86_400_000;
  const rangeParams = { from: String(Math.max(hunt.fromMs, retainedSinceMs)), to: String(hunt.toMs) };
  const range = parseRetainedRange(rangeParams, { caller: reader, signal: 'logs', nowMs });
  const runningHunt = new RunningHunt(hunt, await readKnownStarts(reader, range));
  const exportQuery = { filter: { scope: 'account' as const }, range, order: 'oldest' as const, limit: maxRecords };
  let records = 0;
  for await (const { items } of exportRecords(reader, exportQuery)) {
    let timeSliceEndsAt = performance.now() + timeSliceMs;
    for (const item of items) {
      runningHunt.add(toDetectedRecord(tenantId, item));
      records++;
      const isTimeSliceOver = performance.now() >= timeSliceEndsAt;
      if (runningHunt.size >= maxMatches || ((isTimeSliceOver || item === items.at(-1)) && isTimeUp()))
        return { records, isComplete: false, matches: runningHunt.matches.slice(0, maxMatches) };
      if (!isTimeSliceOver) continue;
      await yieldToEventLoop();
      timeSliceEndsAt = performance.now() + timeSliceMs;
    }
  }
  return { records, isComplete: records < maxRecords, matches: runningHunt.matches };
};
