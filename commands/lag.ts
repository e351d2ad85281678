import { processorGroups } from '../processors/index.ts';
import { sinkGroups } from '../sinks/index.ts';
import type { Platform } from './platform.ts';

const intervalMs = 5_000;

/** Keeps `oiq_consumer_lag_messages` current for every consumer group of this process' roles. */
export const reportLag = ({ bus, metrics, log }: Platform, consumes: boolean): { stop(): void } => {
  if (!consumes) return { stop() {} };
  const report = async (): Promise<void> => {
    for (const { group, topics } of [...sinkGroups, ...processorGroups]) {
      for (const { topic, partition, lag } of await bus.lag(group, topics)) {
        metrics.set('oiq_consumer_lag_messages', lag, { group, topic, partition: String(partition) });
      }
    }
  };
  let running = false;
  const tick = (): void => {
    if (running) return;
    running = true;
    report()
      .catch((error: unknown) => log.warn({ error }, 'lag is unknown'))
      .finally(() => {
        running = false;
      });
  };
  tick();
  const timer = setInterval(tick, intervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
};
