/** Compact counts by minute, project, service, severity and pattern; there are tens of thousands. */
import type { PatternCount, SeverityLevel } from '../../schemas/log-patterns.ts';

export const minuteMs = 60_000;
/** Bytes of a count. Its id is the pattern's own string. */
const countBytes = 48;

/** Number of cached groups: records of one sender arrive in bursts, with few severities and at most two minutes. */
const maxRecentGroups = 8;

/** Dimensions of a count, except minute and pattern. */
interface CountDimensions {
  readonly projectId: string;
  readonly service: string;
  readonly severity: SeverityLevel;
}

class Group {
  readonly startMs: number;
  readonly dimensions: CountDimensions;
  /** Index of the count by pattern id, because incrementing a number in an array is faster than in a map. */
  readonly #places = new Map<string, number>();
  readonly #counts: number[] = [];

  constructor(startMs: number, of: CountDimensions) {
    this.startMs = startMs;
    this.dimensions = of;
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
    const place = this.#places.get(patternId);
    if (place !== undefined) {
      this.#counts[place] = (this.#counts[place] as number) + count;
      return false;
    }
    this.#places.set(patternId, this.#counts.length);
    this.#counts.push(count);
    return true;
  }

  /** Returns counts in order of arrival. */
  counts(): [id: string, count: number][] {
    return [...this.#places].map(([id, place]) => [id, this.#counts[place] as number]);
  }
}

export type MinuteCount = Omit<PatternCount, 'tenantId'>;

type SavedGroup = readonly [project: string, service: string, severity: SeverityLevel, [id: string, count: number][]];
type SavedMinute = readonly [startMs: number, groups: readonly SavedGroup[]];

export class Minutes {
  readonly #minutes = new Map<number, Map<string, Group>>();
  #entries = 0;
  /** Groups of the last records. */
  readonly #recent: Group[] = [];
  #nextRecentIndex = 0;

  /** Number of counts. */
  get entries(): number {
    return this.#entries;
  }

  get bytes(): number {
    return this.#entries * countBytes;
  }

  /** Counts a record. Returns whether it is the first of its minute. */
  add(startMs: number, of: CountDimensions, patternId: string): boolean {
    for (const group of this.#recent)
      if (group.matches(startMs, of)) {
        if (group.add(patternId, 1)) this.#entries++;
        return false;
      }
    const isFirst = !this.#minutes.has(startMs);
    const group = this.#findOrCreateGroup(startMs, of);
    if (group.add(patternId, 1)) this.#entries++;
    this.#recent[this.#nextRecentIndex] = group;
    this.#nextRecentIndex = (this.#nextRecentIndex + 1) % maxRecentGroups;
    return isFirst;
  }

  /** Removes and returns the minutes that begin before a time, earliest first. */
  drain(beforeMs = Number.POSITIVE_INFINITY): MinuteCount[] {
    this.#recent.length = 0;
    this.#nextRecentIndex = 0;
    const over = [...this.#minutes.keys()].filter((startMs) => startMs < beforeMs).sort((one, two) => one - two);
    return over.flatMap((startMs) => {
      const groups = [...(this.#minutes.get(startMs)?.values() ?? [])];
      this.#minutes.delete(startMs);
      const minute = new Date(startMs).toISOString();
      return groups.flatMap((group) => {
        this.#entries -= group.size;
        return group.counts().map(([patternId, count]) => ({ ...group.dimensions, patternId, minute, count }));
      });
    });
  }

  serialize(): readonly SavedMinute[] {
    return [...this.#minutes].map(([startMs, groups]) => [
      startMs,
      [...groups.values()].map((group) => {
        const { projectId, service, severity } = group.dimensions;
        return [projectId, service, severity, group.counts()];
      }),
    ]);
  }

  static restore(saved: readonly SavedMinute[]): Minutes {
    const minutes = new Minutes();
    for (const [startMs, groups] of saved)
      for (const [projectId, service, severity, counts] of groups) {
        const group = minutes.#findOrCreateGroup(startMs, { projectId, service, severity });
        for (const [id, count] of counts) if (group.add(id, count)) minutes.#entries++;
      }
    return minutes;
  }

  #findOrCreateGroup(startMs: number, of: CountDimensions): Group {
    let groups = this.#minutes.get(startMs);
    if (groups === undefined) {
      groups = new Map();
      this.#minutes.set(startMs, groups);
    }
    const key = `${of.projectId}\0${of.severity}\0${of.service}`;
    let group = groups.get(key);
    if (group === undefined) {
      group = new Group(startMs, of);
      groups.set(key, group);
    }
    return group;
  }
}
