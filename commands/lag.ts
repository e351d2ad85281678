import { formatProblems, GroupWatch } from '../runtime/group-status.ts';
import { throttleFailures } from '../runtime/log-throttle.ts';
import { withTimeout } from '../runtime/timeout.ts';
import type { Bus, Lag } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { GroupStatus, GroupStatuses } from '../schemas/ports/group-status.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';

const intervalMs = 5_000;
/** If the bus is unavailable, a read may wait until it is back. */
const readTimeoutMs = 5_000;

interface Reporting {
  readonly bus: Pick<Bus, 'lag' | 'members' | 'offsets' | 'read'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly log: Log;
}

type Group = { readonly group: string; readonly topics: readonly string[] };

/** Share of a topic's lag in the partition with the most lag. 0 if there is no lag, or only one partition. */
export const largestPartitionShare = (lags: readonly Lag[]): number => {
  const sum = lags.reduce((total, { lag }) => total + lag, 0);
  return lags.length < 2 || sum === 0 ? 0 : Math.max(...lags.map(({ lag }) => lag)) / sum;
};

/** Time when the bus accepted the first stored message from this offset on; `undefined` if none is readable. */
const findWriteTime = async (
  bus: Reporting['bus'],
  { topic, partition, committed, end }: Lag,
): Promise<number | undefined> => {
  const bounds = (await bus.offsets(topic)).find((each) => each.partition === partition);
  for await (const { timestampMs } of bus.read(topic, partition, Math.max(committed, bounds?.earliest ?? 0), end))
    return timestampMs;
  return undefined;
};

/** Position of a group in a partition, and the time since which its oldest message waits; `undefined` if unknown. */
interface PartitionLag extends Lag {
  readonly sinceMs?: number | undefined;
}

/**
 * Time since which the oldest uncommitted message of a group waits, accurate to one interval. It reads one record, and
 * only if the group has moved without passing the end of the last check.
 */
const findWaitStart = async (
  { bus, clock }: Pick<Reporting, 'bus' | 'clock'>,
  lag: Lag,
  before: PartitionLag | undefined,
  onUnknown: (error: unknown) => void,
): Promise<number | undefined> => {
  if (before?.sinceMs !== undefined && before.lag > 0 && lag.committed === before.committed) return before.sinceMs;
  if (lag.lag <= 0 || (before !== undefined && lag.committed >= before.end)) return clock.now();
  try {
    return await withTimeout(readTimeoutMs, findWriteTime(bus, lag));
  } catch (error) {
    onUnknown(error);
    return undefined;
  }
};

/** Interval for checking which groups have members: each check opens a connection to Kafka. */
const membersMs = 30_000;

type ThrottledLog = ReturnType<typeof throttleFailures>;

/** The monitored groups of a process, with their status and reports. */
export class GroupLagMonitor implements GroupStatuses {
  readonly #reporting: Reporting;
  readonly #groups = new Map<
    string,
    { readonly topics: readonly string[]; readonly watch: GroupWatch; seen: readonly PartitionLag[] }
  >();
  readonly #reportLagging: ThrottledLog;
  readonly #reportUnknownLag: ThrottledLog;
  readonly #reportUnknownAge: ThrottledLog;
  #members: ReadonlyMap<string, number> = new Map();
  #membersAtMs = Number.NEGATIVE_INFINITY;

  constructor(reporting: Reporting) {
    this.#reporting = reporting;
    const { log } = reporting;
    this.#reportLagging = throttleFailures((_error, groups) =>
      log.warn({ groups, problems: formatProblems(this.groups()) }, 'consumer groups are lagging'),
    );
    this.#reportUnknownAge = throttleFailures((error, partitions) =>
      log.warn({ error, partitions }, 'the age of the lag of partitions is unknown'),
    );
    this.#reportUnknownLag = throttleFailures((error, groups) =>
      log.warn({ error, groups }, 'the lag of groups is unknown'),
    );
  }

  add(groups: readonly Group[]): void {
    for (const { group, topics } of groups) this.#groups.set(group, { topics, watch: new GroupWatch(group), seen: [] });
    this.#membersAtMs = Number.NEGATIVE_INFINITY;
  }

  groups(): readonly GroupStatus[] {
    return [...this.#groups.values()].map(({ watch }) => watch.status);
  }

  /**
   * Checks each group, and updates its metrics. An unknown lag is NaN, because the previous value would be misleading.
   */
  async check(): Promise<void> {
    await this.#checkMembers();
    for (const [group, known] of this.#groups) {
      let isKnown = true;
      try {
        known.seen = await this.#checkGroup(group, known);
      } catch (error) {
        isKnown = false;
        this.#reportUnknownLag(group, error);
        // An old end would make later messages look new.
        const unknown = { lag: Number.NaN, end: Number.POSITIVE_INFINITY, sinceMs: undefined };
        known.seen = known.seen.map((place) => ({ ...place, ...unknown }));
      }
      this.#judge(group, known.watch, isKnown ? known.seen : undefined);
      this.#measure(group, known.seen);
    }
  }

  async #checkMembers(): Promise<void> {
    const { bus, clock } = this.#reporting;
    if (Math.abs(clock.now() - this.#membersAtMs) < membersMs) return;
    this.#membersAtMs = clock.now();
    try {
      this.#members = await bus.members([...this.#groups.keys()]);
    } catch (error) {
      this.#members = new Map();
      this.#reportUnknownLag('members', error);
    }
  }

  async #checkGroup(
    group: string,
    { topics, seen }: { readonly topics: readonly string[]; readonly seen: readonly PartitionLag[] },
  ) {
    const toSeenLag = async (lag: Lag): Promise<PartitionLag> => {
      const previous = seen.find(({ topic, partition }) => topic === lag.topic && partition === lag.partition);
      const isUnknown = (error: unknown): void =>
        this.#reportUnknownAge(`${group} ${lag.topic}/${lag.partition}`, error);
      return { ...lag, sinceMs: await findWaitStart(this.#reporting, lag, previous, isUnknown) };
    };
    return Promise.all((await this.#reporting.bus.lag(group, topics)).map(toSeenLag));
  }

  #judge(group: string, watch: GroupWatch, seen: readonly PartitionLag[] | undefined): void {
    const nowMs = this.#reporting.clock.now();
    const partitions = seen?.map(({ topic, partition, committed, lag, sinceMs = nowMs }) => ({
      topic,
      partition,
      committed,
      lag,
      ageMs: lag > 0 ? Math.max(0, nowMs - sinceMs) : 0,
    }));
    watch.observe({ nowMs, partitions, members: this.#members.get(group) });
    if (watch.status.problem !== undefined) this.#reportLagging(group, undefined);
  }

  #measure(group: string, seen: readonly PartitionLag[]): void {
    const { metrics, clock } = this.#reporting;
    for (const { topic, partition, lag, sinceMs = Number.NaN } of seen) {
      const labels = { group, topic, partition: String(partition) };
      metrics.set('oiq_consumer_lag_messages', lag, labels);
      metrics.set('oiq_consumer_lag_seconds', Math.max(0, clock.now() - sinceMs) / 1000, labels);
    }
    for (const [topic, ofTopic] of Map.groupBy(seen, (lag) => lag.topic))
      metrics.set('oiq_consumer_lag_largest_share', largestPartitionShare(ofTopic), { group, topic });
    const { watch } = this.#groups.get(group) ?? {};
    metrics.set('oiq_consumer_still_seconds', (watch?.noProgressMs(clock.now()) ?? 0) / 1000, { group });
    metrics.set('oiq_consumer_members', this.#members.get(group) ?? Number.NaN, { group });
  }
}

/**
 * Consuming roles, with their groups. In a process that does not run the role, loading its code would take a quarter of
 * a second of CPU time.
 */
const groupsOf = {
  sinks: async () => (await import('../sinks/index.ts')).sinkGroups,
  processors: async () => (await import('../processors/index.ts')).processorGroups,
} as const;
type LagRole = keyof typeof groupsOf;
export const lagRoles = Object.keys(groupsOf) as readonly LagRole[];

/** Delay before a process reports groups of other roles: it only matters if no process runs them any more. */
const othersAfterMs = 60_000;

export interface RunningLagMonitor extends GroupStatuses {
  stop(): void;
}

/**
 * Monitors every consumer group: those of the given roles from the start, the others later. A process without consumers
 * also monitors them if it needs the status (`isRequired`); otherwise a process without roles does nothing.
 */
export const watchGroups = (
  platform: Reporting,
  roles: readonly LagRole[],
  {
    othersAfter = othersAfterMs,
    isRequired = false,
  }: { readonly othersAfter?: number; readonly isRequired?: boolean } = {},
): RunningLagMonitor => {
  const monitor = new GroupLagMonitor(platform);
  if (roles.length === 0 && !isRequired) return { groups: () => [], stop() {} };
  let running = false;
  const tick = (): void => {
    if (running) return;
    running = true;
    void monitor.check().finally(() => {
      running = false;
    });
  };
  const add = async (added: readonly LagRole[]): Promise<void> => {
    for (const role of added) monitor.add(await groupsOf[role]());
    tick();
  };
  void add(roles);
  const others = lagRoles.filter((role) => !roles.includes(role));
  const timers = [setInterval(tick, intervalMs), setTimeout(() => void add(others), othersAfter)];
  for (const timer of timers) timer.unref();
  return { groups: () => monitor.groups(), stop: () => timers.forEach(clearTimeout) };
};
