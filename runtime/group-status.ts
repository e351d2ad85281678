/** Derives the status of a consumer group from successive observations. */
import type { GroupStatus, PartitionStatus } from '../schemas/ports/group-status.ts';

/** Observation of a group in one partition */
interface ObservedPartition extends PartitionStatus {
  readonly committed: number;
}

/** One observation of a group. A value is `undefined` if the request for it failed. */
export interface GroupObservation {
  readonly nowMs: number;
  readonly partitions: readonly ObservedPartition[] | undefined;
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
      ({ ageMs }, index) => index === 0 || ageMs > (completeMinutes[index - 1]?.ageMs ?? 0),
    );
    return hasGrown && last.ageMs - first.ageMs >= minGrowthMs ? first.minute * minuteMs : undefined;
  }
}

/** Tracks a condition that holds in every observation. */
class PersistentCondition {
  #sinceMs: number | undefined;

  /** Returns the time since which the condition is true; `undefined` if it is false, or has become true only recently. */
  update(isTrue: boolean | undefined, nowMs: number): number | undefined {
    // While it is unknown, it counts as unchanged.
    if (isTrue === false) this.#sinceMs = undefined;
    else if (isTrue === true && (this.#sinceMs === undefined || this.#sinceMs > nowMs)) this.#sinceMs = nowMs;
    return this.#sinceMs !== undefined && nowMs - this.#sinceMs >= reportAfterMs ? this.#sinceMs : undefined;
  }
}

const toSeconds = (ms: number): number => Math.round(ms / 1000);

type Problem = Pick<GroupStatus, 'problem' | 'sinceMs'>;
const emptyProblem: Problem = { problem: undefined, sinceMs: undefined };

/** Tracks one group over time. */
export class GroupWatch {
  readonly #group: string;
  readonly #pendingPartitions = new Map<string, { readonly committed: number; readonly sinceMs: number }>();
  readonly #ages = new MinuteMinimums();
  readonly #memberlessCondition = new PersistentCondition();
  readonly #unknownCondition = new PersistentCondition();
  #status: GroupStatus;

  constructor(group: string) {
    this.#group = group;
    this.#status = { group, partitions: [], members: undefined, ...emptyProblem };
  }

  get status(): GroupStatus {
    return this.#status;
  }

  /** Returns how long messages have waited in a partition that had no commits since. */
  getNoProgressMs(nowMs: number): number {
    const startTimes = [...this.#pendingPartitions.values()].map(({ sinceMs }) => sinceMs);
    return startTimes.length === 0 ? 0 : Math.max(0, nowMs - Math.min(...startTimes));
  }

  update(observation: GroupObservation): void {
    const { nowMs, partitions = [], members } = observation;
    if (observation.partitions !== undefined) this.#updatePartitions(nowMs, observation.partitions);
    const partitionStatuses = partitions.map(({ topic, partition, lag, ageMs }) => ({ topic, partition, lag, ageMs }));
    this.#status = { group: this.#group, partitions: partitionStatuses, members, ...this.#findProblem(observation) };
  }

  #updatePartitions(nowMs: number, partitions: readonly ObservedPartition[]): void {
    for (const { topic, partition, lag, committed } of partitions) {
      const partitionKey = `${topic}/${partition}`;
      const before = this.#pendingPartitions.get(partitionKey);
      if (lag <= 0) this.#pendingPartitions.delete(partitionKey);
      else if (before?.committed !== committed || before.sinceMs > nowMs)
        this.#pendingPartitions.set(partitionKey, { committed, sinceMs: nowMs });
    }
    this.#ages.add(nowMs, Math.max(0, ...partitions.map(({ ageMs }) => ageMs)));
  }

  #findProblem({ nowMs, partitions, members }: GroupObservation): Problem {
    const memberlessSinceMs = this.#memberlessCondition.update(
      members === undefined ? undefined : members === 0,
      nowMs,
    );
    const unknownSinceMs = this.#unknownCondition.update(partitions === undefined, nowMs);
    if (partitions === undefined) return this.#findUnknownProblem(memberlessSinceMs, unknownSinceMs);
    const lag = partitions.reduce((sum, observedPartition) => sum + observedPartition.lag, 0);
    const ageMs = Math.max(0, ...partitions.map((observedPartition) => observedPartition.ageMs));
    const waitingText = `${lag} messages wait, the oldest for ${toSeconds(ageMs)} seconds`;
    if (memberlessSinceMs !== undefined)
      return {
        problem: `has no member: no process runs it${lag > 0 ? `; ${waitingText}` : ''}`,
        sinceMs: memberlessSinceMs,
      };
    const noProgressMs = this.getNoProgressMs(nowMs);
    if (noProgressMs >= reportAfterMs)
      return {
        problem: `has made no progress for ${toSeconds(noProgressMs)} seconds: ${waitingText}`,
        sinceMs: nowMs - noProgressMs,
      };
    const growsSinceMs = this.#ages.growsSinceMs;
    return growsSinceMs === undefined
      ? emptyProblem
      : { problem: `has growing lag: ${waitingText}`, sinceMs: growsSinceMs };
  }

  /** Returns the problem while nothing is known of the messages: an earlier problem has not ended. */
  #findUnknownProblem(memberlessSinceMs: number | undefined, unknownSinceMs: number | undefined): Problem {
    if (memberlessSinceMs !== undefined)
      return { problem: 'has no member: no process runs it', sinceMs: memberlessSinceMs };
    const { problem, sinceMs } = this.#status;
    if (unknownSinceMs === undefined) return { problem, sinceMs };
    return { problem: 'has unknown progress: the bus does not respond', sinceMs: unknownSinceMs };
  }
}

const maxListedProblems = 10;

/** Returns the problems of the groups in one line; `undefined` if there are none. */
export const formatProblems = (groups: readonly GroupStatus[]): string | undefined => {
  const problems = groups.flatMap(({ group, problem }) => (problem === undefined ? [] : `${group} ${problem}`));
  if (problems.length === 0) return undefined;
  const omittedCount = problems.length - maxListedProblems;
  return [
    ...problems.slice(0, maxListedProblems),
    ...(omittedCount > 0 ? [`and ${omittedCount} more groups`] : []),
  ].join('; ');
};
