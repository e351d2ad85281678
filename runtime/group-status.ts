/** Derives the status of a consumer group from successive observations. */
import type { GroupStatus, PartitionStatus } from '../schemas/ports/group-status.ts';

/** Observation of a group in one partition */
interface SeenPartition extends PartitionStatus {
  readonly committed: number;
}

/** One observation of a group. A value is `undefined` if the request for it failed. */
export interface GroupObservation {
  readonly nowMs: number;
  readonly partitions: readonly SeenPartition[] | undefined;
  /** Number of processes that run the group. */
  readonly members: number | undefined;
}

/** Minimum duration of a problem before it is reported: longer than a batch, a rebalance or a restart. */
export const reportAfterMs = 60_000;
const minuteMs = 60_000;
/** Number of minutes in which the minimum age must grow each time, and the minimum total growth. */
const growingMinutes = 3;
const minGrowthMs = 30_000;

/** The minimum age of each minute, the current minute last. Between commits, the age of any group grows. */
class MinuteMinimums {
  #minAges: { readonly minute: number; ageMs: number }[] = [];

  add(nowMs: number, ageMs: number): void {
    const minute = Math.floor(nowMs / minuteMs);
    const last = this.#minAges.at(-1);
    if (last?.minute === minute) last.ageMs = Math.min(last.ageMs, ageMs);
    // After a gap or a clock change, nothing is known about the minutes between.
    else
      this.#minAges = [...(last?.minute === minute - 1 ? this.#minAges : []), { minute, ageMs }].slice(
        -growingMinutes - 2,
      );
  }

  /** Start of continuous growth of the age; `undefined` if it does not grow, or only recently. */
  get growsSinceMs(): number | undefined {
    const completeMinutes = this.#minAges.slice(0, -1);
    const [first] = completeMinutes;
    const last = completeMinutes.at(-1);
    if (first === undefined || last === undefined || completeMinutes.length <= growingMinutes) return undefined;
    const hasGrown = completeMinutes.every(
      ({ ageMs }, at) => at === 0 || ageMs > (completeMinutes[at - 1]?.ageMs ?? 0),
    );
    return hasGrown && last.ageMs - first.ageMs >= minGrowthMs ? first.minute * minuteMs : undefined;
  }
}

/** Tracks a condition that holds in every observation. */
class PersistentCondition {
  #sinceMs: number | undefined;

  /** Returns the time since when the condition holds; `undefined` if it does not hold, or only recently. */
  update(isSo: boolean, nowMs: number): number | undefined {
    if (!isSo) this.#sinceMs = undefined;
    else if (this.#sinceMs === undefined || this.#sinceMs > nowMs) this.#sinceMs = nowMs;
    return this.#sinceMs !== undefined && nowMs - this.#sinceMs >= reportAfterMs ? this.#sinceMs : undefined;
  }
}

const toSeconds = (ms: number): number => Math.round(ms / 1000);

type Problem = Pick<GroupStatus, 'problem' | 'sinceMs'>;
const noProblem: Problem = { problem: undefined, sinceMs: undefined };

/** Tracks one group over time. */
export class GroupWatch {
  readonly #group: string;
  readonly #pendingPartitions = new Map<string, { readonly committed: number; readonly sinceMs: number }>();
  readonly #ages = new MinuteMinimums();
  readonly #withoutMembers = new PersistentCondition();
  readonly #unknown = new PersistentCondition();
  #status: GroupStatus;

  constructor(group: string) {
    this.#group = group;
    this.#status = { group, partitions: [], members: undefined, ...noProblem };
  }

  get status(): GroupStatus {
    return this.#status;
  }

  /** Returns how long messages have waited in a partition that had no commits since. */
  noProgressMs(nowMs: number): number {
    const sinces = [...this.#pendingPartitions.values()].map(({ sinceMs }) => sinceMs);
    return sinces.length === 0 ? 0 : Math.max(0, nowMs - Math.min(...sinces));
  }

  observe(observation: GroupObservation): void {
    const { nowMs, partitions = [], members } = observation;
    if (observation.partitions !== undefined) this.#updatePartitions(nowMs, observation.partitions);
    const partitionStatuses = partitions.map(({ topic, partition, lag, ageMs }) => ({ topic, partition, lag, ageMs }));
    this.#status = { group: this.#group, partitions: partitionStatuses, members, ...this.#problem(observation) };
  }

  #updatePartitions(nowMs: number, partitions: readonly SeenPartition[]): void {
    for (const { topic, partition, lag, committed } of partitions) {
      const place = `${topic}/${partition}`;
      const before = this.#pendingPartitions.get(place);
      if (lag <= 0) this.#pendingPartitions.delete(place);
      else if (before?.committed !== committed || before.sinceMs > nowMs)
        this.#pendingPartitions.set(place, { committed, sinceMs: nowMs });
    }
    this.#ages.add(nowMs, Math.max(0, ...partitions.map(({ ageMs }) => ageMs)));
  }

  #problem({ nowMs, partitions, members }: GroupObservation): Problem {
    const aloneSinceMs = this.#withoutMembers.update(members === 0, nowMs);
    const unknownSinceMs = this.#unknown.update(partitions === undefined, nowMs);
    const lag = (partitions ?? []).reduce((sum, each) => sum + each.lag, 0);
    const ageMs = Math.max(0, ...(partitions ?? []).map((each) => each.ageMs));
    const waiting = `${lag} messages wait, the oldest for ${toSeconds(ageMs)} seconds`;
    if (aloneSinceMs !== undefined)
      return { problem: `has no member: no process runs it${lag > 0 ? `; ${waiting}` : ''}`, sinceMs: aloneSinceMs };
    if (unknownSinceMs !== undefined)
      return { problem: 'has unknown progress: the bus does not answer', sinceMs: unknownSinceMs };
    const stillMs = this.noProgressMs(nowMs);
    if (stillMs >= reportAfterMs)
      return {
        problem: `has made no progress for ${toSeconds(stillMs)} seconds: ${waiting}`,
        sinceMs: nowMs - stillMs,
      };
    const growsSinceMs = this.#ages.growsSinceMs;
    return growsSinceMs === undefined
      ? noProblem
      : { problem: `falls behind, more each minute: ${waiting}`, sinceMs: growsSinceMs };
  }
}

const maxNamed = 10;

/** Returns the problems of the groups in one line; `undefined` if there are none. */
export const formatProblems = (groups: readonly GroupStatus[]): string | undefined => {
  const problems = groups.flatMap(({ group, problem }) => (problem === undefined ? [] : `${group} ${problem}`));
  if (problems.length === 0) return undefined;
  const more = problems.length - maxNamed;
  return [...problems.slice(0, maxNamed), ...(more > 0 ? [`and ${more} more groups`] : [])].join('; ');
};
