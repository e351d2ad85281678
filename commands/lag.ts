import { processorGroups } from '../processors/index.ts';
import type { Bus, Lag } from '../schemas/ports/bus.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';
import { sinkGroups } from '../sinks/index.ts';
import type { Platform } from './platform.ts';

const intervalMs = 5_000;

interface Reporting {
  readonly bus: Pick<Bus, 'lag'>;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly log: Log;
}

type Group = { readonly group: string; readonly topics: readonly string[] };

/** The part of a topic's lag that lies in the partition that lags most. 0 where nothing lags, or there is nothing to spread over. */
export const largestShare = (lags: readonly Lag[]): number => {
  const sum = lags.reduce((total, { lag }) => total + lag, 0);
  return lags.length < 2 || sum === 0 ? 0 : Math.max(...lags.map(({ lag }) => lag)) / sum;
};

/**
 * Makes a function that brings `oiq_consumer_lag_messages` and its largest share of these groups up to date. A group's lag that cannot be known
 * is NaN: what it was before would look like the truth.
 */
export const lagReport = ({ bus, metrics, log }: Reporting, groups: readonly Group[]): (() => Promise<void>) => {
  const places = new Map<string, readonly Lag[]>();
  const tell = (group: string, lags: readonly Lag[]): void => {
    for (const { topic, partition, lag } of lags)
      metrics.set('oiq_consumer_lag_messages', lag, { group, topic, partition: String(partition) });
    for (const [topic, ofTopic] of Map.groupBy(lags, (lag) => lag.topic))
      metrics.set('oiq_consumer_lag_largest_share', largestShare(ofTopic), { group, topic });
  };
  return async () => {
    for (const { group, topics } of groups) {
      try {
        const lags = await bus.lag(group, topics);
        places.set(group, lags);
        tell(group, lags);
      } catch (error) {
        log.warn({ error, group }, 'lag is unknown');
        tell(
          group,
          (places.get(group) ?? []).map((place) => ({ ...place, lag: Number.NaN })),
        );
      }
    }
  };
};

/** Keeps `oiq_consumer_lag_messages` current for every consumer group of this process' roles. */
export const reportLag = (platform: Platform, consumes: boolean): { stop(): void } => {
  if (!consumes) return { stop() {} };
  const report = lagReport(platform, [...sinkGroups, ...processorGroups]);
  let running = false;
  const tick = (): void => {
    if (running) return;
    running = true;
    void report().finally(() => {
      running = false;
    });
  };
  tick();
  const timer = setInterval(tick, intervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
};
