/** Counts by minute of what has no end: project, service, severity and pattern. Compact, as there are tens of thousands of them. */
import type { PatternCount, SeverityLevel } from '../../schemas/log-patterns.ts';

export const minuteMs = 60_000;
/** Bytes that a count takes. Its id is the pattern's own text. */
const countBytes = 48;

/** Of what a count is, but the pattern. */
interface Group {
  readonly projectId: string;
  readonly service: string;
  readonly severity: SeverityLevel;
  readonly counts: Map<string, number>;
}

export type Counted = Omit<PatternCount, 'tenantId'>;

type SavedGroup = readonly [project: string, service: string, severity: SeverityLevel, [id: string, count: number][]];
type SavedMinute = readonly [startMs: number, groups: readonly SavedGroup[]];

export class Minutes {
  readonly #minutes = new Map<number, Map<string, Group>>();
  #entries = 0;
  /** The group of the record before: records of one sender come together. */
  #last: Group | undefined;
  #lastStartMs = Number.NaN;

  /** How many counts there are. */
  get entries(): number {
    return this.#entries;
  }

  get bytes(): number {
    return this.#entries * countBytes;
  }

  /** Counts a record. Whether it is the first of its minute. */
  add(startMs: number, { projectId, service, severity }: Omit<Group, 'counts'>, patternId: string): boolean {
    const isFirst = !this.#minutes.has(startMs);
    let group = this.#last;
    const isSame =
      startMs === this.#lastStartMs &&
      group?.severity === severity &&
      group.service === service &&
      group.projectId === projectId;
    if (group === undefined || !isSame) group = this.#groupOf(startMs, projectId, service, severity);
    const before = group.counts.get(patternId);
    if (before === undefined) this.#entries++;
    group.counts.set(patternId, (before ?? 0) + 1);
    return isFirst;
  }

  /** Takes out the minutes that begin before a time, the earliest first. */
  take(beforeMs = Number.POSITIVE_INFINITY): Counted[] {
    this.#last = undefined;
    const over = [...this.#minutes.keys()].filter((startMs) => startMs < beforeMs).sort((one, two) => one - two);
    return over.flatMap((startMs) => {
      const groups = [...(this.#minutes.get(startMs)?.values() ?? [])];
      this.#minutes.delete(startMs);
      const minute = new Date(startMs).toISOString();
      return groups.flatMap(({ counts, ...group }) => {
        this.#entries -= counts.size;
        return [...counts].map(([patternId, count]) => ({ ...group, patternId, minute, count }));
      });
    });
  }

  saved(): readonly SavedMinute[] {
    return [...this.#minutes].map(([startMs, groups]) => [
      startMs,
      [...groups.values()].map(({ projectId, service, severity, counts }) => [
        projectId,
        service,
        severity,
        [...counts],
      ]),
    ]);
  }

  static restored(saved: readonly SavedMinute[]): Minutes {
    const minutes = new Minutes();
    for (const [startMs, groups] of saved)
      for (const [projectId, service, severity, counts] of groups) {
        const group = minutes.#groupOf(startMs, projectId, service, severity);
        for (const [id, count] of counts) group.counts.set(id, count);
        minutes.#entries += counts.length;
      }
    return minutes;
  }

  #groupOf(startMs: number, projectId: string, service: string, severity: SeverityLevel): Group {
    let groups = this.#minutes.get(startMs);
    if (groups === undefined) {
      groups = new Map();
      this.#minutes.set(startMs, groups);
    }
    const key = `${projectId}\0${severity}\0${service}`;
    let group = groups.get(key);
    if (group === undefined) {
      group = { projectId, service, severity, counts: new Map() };
      groups.set(key, group);
    }
    this.#last = group;
    this.#lastStartMs = startMs;
    return group;
  }
}
