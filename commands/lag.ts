import { within } from '../runtime/within.ts';
import type { Bus, Lag } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';

const intervalMs = 5_000;
/** A bus that is away may let a read wait until it is back. */
const readMs = 5_000;

interface Reporting {
  readonly bus: Pick<Bus, 'lag' | 'offsets' | 'read'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly log: Log;
}

type Group = { readonly group: string; readonly topics: readonly string[] };

/** The part of a topic's lag that lies in the partition that lags most. 0 where nothing lags, or there is nothing to spread over. */
export const largestShare = (lags: readonly Lag[]): number => {
  const sum = lags.reduce((total, { lag }) => total + lag, 0);
  return lags.length < 2 || sum === 0 ? 0 : Math.max(...lags.map(({ lag }) => lag)) / sum;
};

/** When the bus took the first message from this offset on that is still kept; `undefined` when none can be read. */
const writtenAt = async (
  bus: Reporting['bus'],
  { topic, partition, committed, end }: Lag,
): Promise<number | undefined> => {
  const bounds = (await bus.offsets(topic)).find((each) => each.partition === partition);
  for await (const { timestampMs } of bus.read(topic, partition, Math.max(committed, bounds?.earliest ?? 0), end))
    return timestampMs;
  return undefined;
};

/** Where a group stood in a partition, and since when its oldest message waited; `undefined` where that is not known. */
interface Seen extends Lag {
  readonly sinceMs?: number | undefined;
}

/**
 * Since when the oldest message waits that a group has not committed, to an interval. One record is read for that, and only where
 * the group has moved and still has not passed what was the end at the last look.
 */
const waitsSince = async (
  { bus, clock, log }: Reporting,
  group: string,
  lag: Lag,
  before: Seen | undefined,
): Promise<number | undefined> => {
  if (before?.sinceMs !== undefined && before.lag > 0 && lag.committed === before.committed) return before.sinceMs;
  if (lag.lag <= 0 || (before !== undefined && lag.committed >= before.end)) return clock.now();
  try {
    return await within(readMs, writtenAt(bus, lag));
  } catch (error) {
    log.warn({ error, group, topic: lag.topic, partition: lag.partition }, 'the age of the lag is unknown');
    return undefined;
  }
};

/**
 * Makes a function that brings `oiq_consumer_lag_messages`, `oiq_consumer_lag_seconds` and the lag's largest share of these groups up to date.
 * A group's lag that cannot be known is NaN: what it was before would look like the truth.
 */
export const lagReport = (reporting: Reporting, groups: readonly Group[]): (() => Promise<void>) => {
  const { bus, metrics, clock, log } = reporting;
  const seen = new Map<string, readonly Seen[]>();
  const tell = (group: string, lags: readonly Seen[]): void => {
    for (const { topic, partition, lag, sinceMs = Number.NaN } of lags) {
      const labels = { group, topic, partition: String(partition) };
      metrics.set('oiq_consumer_lag_messages', lag, labels);
      metrics.set('oiq_consumer_lag_seconds', Math.max(0, clock.now() - sinceMs) / 1000, labels);
    }
    for (const [topic, ofTopic] of Map.groupBy(lags, (lag) => lag.topic))
      metrics.set('oiq_consumer_lag_largest_share', largestShare(ofTopic), { group, topic });
  };
  const look = async (group: string, topics: readonly string[]): Promise<readonly Seen[]> => {
    const before = seen.get(group) ?? [];
    const standsAt = async (lag: Lag): Promise<Seen> => {
      const same = before.find(({ topic, partition }) => topic === lag.topic && partition === lag.partition);
      return { ...lag, sinceMs: await waitsSince(reporting, group, lag, same) };
    };
    return Promise.all((await bus.lag(group, topics)).map(standsAt));
  };
  return async () => {
    for (const { group, topics } of groups) {
      try {
        seen.set(group, await look(group, topics));
        tell(group, seen.get(group) ?? []);
      } catch (error) {
        log.warn({ error, group }, 'lag is unknown');
        // An end of long ago would make what has come since look new.
        const unknown = { lag: Number.NaN, end: Number.POSITIVE_INFINITY, sinceMs: undefined };
        seen.set(
          group,
          (seen.get(group) ?? []).map((place) => ({ ...place, ...unknown })),
        );
        tell(group, seen.get(group) ?? []);
      }
    }
  };
};

/** Roles that consume, and their groups. Reading the code of a role takes a process that does not run it a quarter of a second of CPU time. */
const groupsOf = {
  sinks: async () => (await import('../sinks/index.ts')).sinkGroups,
  processors: async () => (await import('../processors/index.ts')).processorGroups,
} as const;
type LagRole = keyof typeof groupsOf;
export const lagRoles = Object.keys(groupsOf) as readonly LagRole[];

/** From when on a process tells of groups of roles that others run: it matters only where none of them does any more. */
const othersAfterMs = 60_000;

/** Keeps the lag current for every consumer group: of these roles from the start, of the other one later. Without a role it does nothing. */
export const reportLag = (
  platform: Reporting,
  roles: readonly LagRole[],
  othersAfter = othersAfterMs,
): { stop(): void } => {
  if (roles.length === 0) return { stop() {} };
  const reports: (() => Promise<void>)[] = [];
  let running = false;
  const tick = (): void => {
    if (running) return;
    running = true;
    void Promise.all(reports.map((report) => report())).finally(() => {
      running = false;
    });
  };
  const add = async (added: readonly LagRole[]): Promise<void> => {
    for (const role of added) reports.push(lagReport(platform, await groupsOf[role]()));
    tick();
  };
  void add(roles);
  const others = lagRoles.filter((role) => !roles.includes(role));
  const timers = [setInterval(tick, intervalMs), setTimeout(() => void add(others), othersAfter)];
  for (const timer of timers) timer.unref();
  return { stop: () => timers.forEach(clearTimeout) };
};
