import { formatProblems, GroupWatch } from '../runtime/group-status.ts';
import { throttleFailures } from '../runtime/log-throttle.ts';
import { Semaphore } from '../runtime/semaphore.ts';
import { withTimeout } from '../runtime/timeout.ts';
import type { Bus, Lag } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { GroupStatus, GroupStatuses } from '../schemas/ports/group-status.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';

const intervalMs = 5_000;
/** If the bus is unavailable, a read may wait until the bus is available again. */
const readTimeoutMs = 5_000;
/** Maximum number of records read together to find ages: each read opens a connection to Kafka. */
const maxAgeReads = 8;

interface LagMonitorPorts {
  readonly bus: Pick<Bus, 'lag' | 'members' | 'offsets' | 'read'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly log: Log;
}

type Group = { readonly group: string; readonly topics: readonly string[] };

/** Returns the share of a topic's lag in the partition with the most lag; 0 without lag or with a single partition. */
export const computeLargestPartitionShare = (lags: readonly Lag[]): number => {
  const sum = lags.reduce((total, { lag }) => total + lag, 0);
  return lags.length < 2 || sum === 0 ? 0 : Math.max(...lags.map(({ lag }) => lag)) / sum;
};

/** Time when the bus accepted the first stored message from this offset on; `undefined` if none is readable. */
const findWriteTime = async (
  bus: LagMonitorPorts['bus'],
  { topic, partition, committed, end }: Lag,
): Promise<number | undefined> => {
  const bounds = (await bus.offsets(topic)).find((partitionOffsets) => partitionOffsets.partition === partition);
  for await (const { timestampMs } of bus.read(topic, partition, Math.max(committed, bounds?.earliest ?? 0), end))
    return timestampMs;
  return undefined;
};

/**
 * Finds the write time once a slot is free, unless the signal aborts first. A read that nothing waits for any more has
 * its slot until it ends, so that slow reads do not accumulate.
 */
const findWriteTimeInSlot = async (
  bus: LagMonitorPorts['bus'],
  lag: Lag,
  slots: Semaphore,
  signal: AbortSignal,
): Promise<number | undefined> => {
  await slots.acquire();
  try {
    return signal.aborted ? undefined : await findWriteTime(bus, lag);
  } finally {
    slots.release();
  }
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
  { bus, clock, ageReads }: Pick<LagMonitorPorts, 'bus' | 'clock'> & { readonly ageReads: Semaphore },
  lag: Lag,
  before: PartitionLag | undefined,
  onUnknown: (error: unknown) => void,
): Promise<number | undefined> => {
  if (before?.sinceMs !== undefined && before.lag > 0 && lag.committed === before.committed) return before.sinceMs;
  if (lag.lag <= 0 || (before !== undefined && lag.committed >= before.end)) return clock.now();
  const waitController = new AbortController();
  try {
    return await withTimeout(readTimeoutMs, findWriteTimeInSlot(bus, lag, ageReads, waitController.signal));
  } catch (error) {
    onUnknown(error);
    return undefined;
  } finally {
    waitController.abort();
  }
};

/** Interval for checking which groups have members: each check opens a connection to Kafka. */
const memberCheckIntervalMs = 30_000;

interface MonitoredGroup {
  readonly topics: readonly string[];
  readonly watch: GroupWatch;
  lastLags: readonly PartitionLag[];
}

type ThrottledLog = ReturnType<typeof throttleFailures>;

/** The monitored groups of a process, with their status and reports. */
export class GroupLagMonitor implements GroupStatuses {
  readonly #ports: LagMonitorPorts;
  readonly #groups = new Map<string, MonitoredGroup>();
  readonly #ageReads = new Semaphore(maxAgeReads);
  readonly #reportLagging: ThrottledLog;
  readonly #reportUnknownLag: ThrottledLog;
  readonly #reportUnknownAge: ThrottledLog;
  #members: ReadonlyMap<string, number> = new Map();
  #membersAtMs = Number.NEGATIVE_INFINITY;

  constructor(reporting: LagMonitorPorts) {
    this.#ports = reporting;
    const { log } = reporting;
    this.#reportLagging = throttleFailures((_error, groups) =>
      log.warn({ groups, problems: formatProblems(this.getStatuses()) }, 'consumer groups are lagging'),
    );
    this.#reportUnknownAge = throttleFailures((error, partitions) =>
      log.warn({ error, partitions }, 'the age of the lag of partitions is unknown'),
    );
    this.#reportUnknownLag = throttleFailures((error, groups) =>
      log.warn({ error, groups }, 'the lag of groups is unknown'),
    );
  }

  add(groups: readonly Group[]): void {
    for (const { group, topics } of groups)
      this.#groups.set(group, { topics, watch: new GroupWatch(group), lastLags: [] });
    this.#membersAtMs = Number.NEGATIVE_INFINITY;
  }

  getStatuses(): readonly GroupStatus[] {
    return [...this.#groups.values()].map(({ watch }) => watch.status);
  }

  /**
   * Checks each group, and updates its metrics. An unknown lag is NaN, because the previous value would be misleading.
   */
  async check(): Promise<void> {
    // Together: while the bus does not respond, each group waits for the time limit.
    const [, knownGroups] = await Promise.all([this.#checkMembers(), this.#checkLags()]);
    for (const [group, { watch, lastLags }] of this.#groups) {
      const isKnown = knownGroups.has(group);
      this.#updateStatus(group, watch, isKnown ? lastLags : undefined);
      this.#updateMetrics(group, lastLags, isKnown);
    }
  }

  /** Reads the lag of all groups; returns the groups whose lag is known. */
  async #checkLags(): Promise<ReadonlySet<string>> {
    const knownGroups = new Set<string>();
    const checkLag = async ([group, monitoredGroup]: [string, MonitoredGroup]): Promise<void> => {
      try {
        monitoredGroup.lastLags = await this.#checkGroup(group, monitoredGroup);
        knownGroups.add(group);
      } catch (error) {
        this.#reportUnknownLag(group, error);
        // With an old end offset, later messages would appear to be new.
        const unknownLag = { lag: Number.NaN, end: Number.POSITIVE_INFINITY, sinceMs: undefined };
        monitoredGroup.lastLags = monitoredGroup.lastLags.map((partitionLag) => ({ ...partitionLag, ...unknownLag }));
      }
    };
    await Promise.all([...this.#groups].map(checkLag));
    return knownGroups;
  }

  async #checkMembers(): Promise<void> {
    const { bus, clock } = this.#ports;
    if (Math.abs(clock.now() - this.#membersAtMs) < memberCheckIntervalMs) return;
    this.#membersAtMs = clock.now();
    try {
      this.#members = await withTimeout(readTimeoutMs, bus.members([...this.#groups.keys()]));
    } catch (error) {
      this.#members = new Map();
      this.#reportUnknownLag('members', error);
    }
  }

  async #checkGroup(
    group: string,
    {
      topics,
      lastLags: previousLags,
    }: { readonly topics: readonly string[]; readonly lastLags: readonly PartitionLag[] },
  ) {
    const ports = { ...this.#ports, ageReads: this.#ageReads };
    const toPartitionLag = async (lag: Lag): Promise<PartitionLag> => {
      const previous = previousLags.find(({ topic, partition }) => topic === lag.topic && partition === lag.partition);
      const reportUnknownAge = (error: unknown): void =>
        this.#reportUnknownAge(`${group} ${lag.topic}/${lag.partition}`, error);
      return { ...lag, sinceMs: await findWaitStart(ports, lag, previous, reportUnknownAge) };
    };
    const lags = await withTimeout(readTimeoutMs, this.#ports.bus.lag(group, topics));
    return Promise.all(lags.map(toPartitionLag));
  }

  #updateStatus(group: string, watch: GroupWatch, lags: readonly PartitionLag[] | undefined): void {
    const nowMs = this.#ports.clock.now();
    const partitions = lags?.map(({ topic, partition, committed, lag, sinceMs = nowMs }) => ({
      topic,
      partition,
      committed,
      lag,
      ageMs: lag > 0 ? Math.max(0, nowMs - sinceMs) : 0,
    }));
    watch.update({ nowMs, partitions, members: this.#members.get(group) });
    if (watch.status.problem !== undefined) this.#reportLagging(group, undefined);
  }

  #updateMetrics(group: string, lags: readonly PartitionLag[], isKnown: boolean): void {
    const { metrics, clock } = this.#ports;
    for (const { topic, partition, lag, sinceMs = Number.NaN } of lags) {
      const labels = { group, topic, partition: String(partition) };
      metrics.set('oiq_consumer_lag_messages', lag, labels);
      metrics.set('oiq_consumer_lag_seconds', Math.max(0, clock.now() - sinceMs) / 1000, labels);
    }
    for (const [topic, topicLags] of Map.groupBy(lags, (lag) => lag.topic))
      metrics.set('oiq_consumer_lag_largest_share', computeLargestPartitionShare(topicLags), { group, topic });
    const { watch } = this.#groups.get(group) ?? {};
    const noProgressMs = isKnown ? (watch?.getNoProgressMs(clock.now()) ?? 0) : Number.NaN;
    metrics.set('oiq_consumer_still_seconds', noProgressMs / 1000, { group });
    metrics.set('oiq_consumer_members', this.#members.get(group) ?? Number.NaN, { group });
  }
}

/**
 * Consuming roles, with their groups. In a process that does not run the role, loading its code would take a quarter of
 * a second of CPU time.
 */
const groupLoaders = {
  sinks: async () => (await import('../sinks/index.ts')).sinkGroups,
  processors: async () => (await import('../processors/index.ts')).processorGroups,
} as const;
type LagRole = keyof typeof groupLoaders;
export const lagRoles = Object.keys(groupLoaders) as readonly LagRole[];

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
  platform: LagMonitorPorts,
  roles: readonly LagRole[],
  {
    othersAfter: otherGroupsDelayMs = othersAfterMs,
    isRequired = false,
  }: { readonly othersAfter?: number; readonly isRequired?: boolean } = {},
): RunningLagMonitor => {
  const monitor = new GroupLagMonitor(platform);
  if (roles.length === 0 && !isRequired) return { getStatuses: () => [], stop() {} };
  let isRunning = false;
  const tick = (): void => {
    if (isRunning) return;
    isRunning = true;
    void monitor.check().finally(() => {
      isRunning = false;
    });
  };
  const add = async (rolesToAdd: readonly LagRole[]): Promise<void> => {
    for (const role of rolesToAdd) monitor.add(await groupLoaders[role]());
    tick();
  };
  void add(roles);
  const otherRoles = lagRoles.filter((role) => !roles.includes(role));
  const timers = [setInterval(tick, intervalMs), setTimeout(() => void add(otherRoles), otherGroupsDelayMs)];
  for (const timer of timers) timer.unref();
  return { getStatuses: () => monitor.getStatuses(), stop: () => timers.forEach(clearTimeout) };
};
