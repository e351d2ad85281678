/** Compact counts by minute, project, service, severity and pattern, for tens of thousands of combinations. */
import type { PatternCount, SeverityLevel } from '../../schemas/log-patterns.ts';

export const minuteMs = 60_000;
/** Estimated bytes per count, without the pattern ID, whose string is shared with the pattern. */
const countBytes = 48;

/** Number of cached groups: records of one sender arrive in bursts, with few severities and at most two minutes. */
const maxRecentGroups = 8;

/** Dimensions of a count, except minute and pattern. */
interface CountDimensions {
  readonly projectId: string;
  readonly service: string;
  readonly severity: SeverityLevel;
}

class CountGroup {
  readonly startMs: number;
  readonly dimensions: CountDimensions;
  /** Index of the count by pattern id, because incrementing a number in an array is faster than in a map. */
  readonly #indexes = new Map<string, number>();
  readonly #counts: number[] = [];

  constructor(startMs: number, dimensions: CountDimensions) {
    this.startMs = startMs;
    this.dimensions = dimensions;
  }

  matches(startMs: number, { projectId, service, severity }: CountDimensions): boolean {
    const { dimensions } = this;
    return (
      this.startMs === startMs &&
      dimensions.severity === severity &&
      dimensions.service === service &&
      dimensions.projectId === projectId
    );
  }

  get size(): number {
    return this.#counts.length;
  }

  /** Adds to the count. Returns whether the pattern is new here. */
  add(patternId: string, count: number): boolean {
    const index = this.#indexes.get(patternId);
    if (index !== undefined) {
      this.#counts[index] = (this.#counts[index] as number) + count;
      return false;
    }
    this.#indexes.set(patternId, this.#counts.length);
    this.#counts.push(count);
    return true;
  }

  /** Returns counts in order of arrival. */
  listCounts(): [id: string, count: number][] {
    return [...this.#indexes].map(([id, index]) => [id, this.#counts[index] as number]);
  }
}

export type MinuteCount = Omit<PatternCount, 'tenantId'>;

type SavedGroup = readonly [project: string, service: string, severity: SeverityLevel, [id: string, count: number][]];
type SavedMinute = readonly [startMs: number, groups: readonly SavedGroup[]];

export class MinuteCounts {
  readonly #minutes = new Map<number, Map<string, CountGroup>>();
  #entries = 0;
  /** Groups of the last records. */
  readonly #recentGroups: CountGroup[] = [];
  #nextRecentIndex = 0;

  /** Number of counts. */
  get entries(): number {
    return this.#entries;
  }

  get bytes(): number {
    return this.#entries * countBytes;
  }

  /** Counts a record. Returns whether it is the first of its minute. */
  add(startMs: number, dimensions: CountDimensions, patternId: string): boolean {
    for (const group of this.#recentGroups)
      if (group.matches(startMs, dimensions)) {
        if (group.add(patternId, 1)) this.#entries++;
        return false;
      }
    const isFirst = !this.#minutes.has(startMs);
    const group = this.#findOrCreateGroup(startMs, dimensions);
    if (group.add(patternId, 1)) this.#entries++;
    this.#recentGroups[this.#nextRecentIndex] = group;
    this.#nextRecentIndex = (this.#nextRecentIndex + 1) % maxRecentGroups;
    return isFirst;
  }

  /** Removes and returns the minutes that begin before a time, earliest first. */
  drain(beforeMs = Number.POSITIVE_INFINITY): MinuteCount[] {
    this.#recentGroups.length = 0;
    this.#nextRecentIndex = 0;
    const startTimes = [...this.#minutes.keys()]
      .filter((startMs) => startMs < beforeMs)
      .sort((left, right) => left - right);
    return startTimes.flatMap((startMs) => {
      const groups = [...(this.#minutes.get(startMs)?.values() ?? [])];
      this.#minutes.delete(startMs);
      const minute = new Date(startMs).toISOString();
      return groups.flatMap((group) => {
        this.#entries -= group.size;
        return group.listCounts().map(([patternId, count]) => ({ ...group.dimensions, patternId, minute, count }));
      });
    });
  }

  serialize(): readonly SavedMinute[] {
    return [...this.#minutes].map(([startMs, groups]) => [
      startMs,
      [...groups.values()].map((group) => {
        const { projectId, service, severity } = group.dimensions;
        return [projectId, service, severity, group.listCounts()];
      }),
    ]);
  }

  static restore(saved: readonly SavedMinute[]): MinuteCounts {
    const minutes = new MinuteCounts();
    for (const [startMs, groups] of saved)
      for (const [projectId, service, severity, counts] of groups) {
        const group = minutes.#findOrCreateGroup(startMs, { projectId, service, severity });
        for (const [id, count] of counts) if (group.add(id, count)) minutes.#entries++;
      }
    return minutes;
  }

  #findOrCreateGroup(startMs: number, dimensions: CountDimensions): CountGroup {
    let groups = this.#minutes.get(startMs);
    if (groups === undefined) {
      groups = new Map();
      this.#minutes.set(startMs, groups);
    }
    const key = `${dimensions.projectId}\0${dimensions.severity}\0${dimensions.service}`;
    let group = groups.get(key);
    if (group === undefined) {
      group = new CountGroup(startMs, dimensions);
      groups.set(key, group);
    }
    return group;
  }
}
