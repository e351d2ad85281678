/**
 * Recording rules, alerts and the sink of their samples over embedded stores. The clock advances whenever everything
 * due is stored. `node dying-recording.ts DIRECTORY BEGIN FROM UNTIL [STAGE N]` has the arguments of `dying-alerts.ts`.
 */
import { startProcessors } from '../../processors/index.ts';
import { toConsumerGroup } from '../../runtime/consumer-groups.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { topics } from '../../schemas/topics.ts';
import { startSinks } from '../../sinks/index.ts';
import { eventually } from '../waiting.ts';
import { openDying } from './dying-ports.ts';
import { dueTimesOf, evaluatedSources, stepMs } from './recording-script.ts';

const [directory = '', begin, from, until, stage, times] = process.argv.slice(2);

const { columns, documents, bus, evaluated, close } = await openDying({ directory, stage, times: Number(times) });
const clock = { nowMs: Number(from) };
console.log(clock.nowMs);
const shared = { bus, documents, columns, metrics: silentMetrics, log: silentLog, clock: { now: () => clock.nowMs } };
const sinks = await startSinks({ ...shared, embedded: true, selectedNames: ['metrics'], threads: 1 });
const settings = parseSettings({});
const role = await startProcessors({ ...shared, settings, only: ['recording-rules', 'alert-evaluation'] });
const isPublished = ({ source: item, ruleId }: (typeof evaluatedSources)[number]): boolean =>
  dueTimesOf(item, evaluated.get(ruleId) ?? Number(begin), clock.nowMs).length === 0;
const hasLanded = async (): Promise<boolean> => {
  const lag = await bus.lag(toConsumerGroup('sinks', 'metrics'), [topics.remoteWrite.name]);
  return lag.every(({ lag: left }) => left === 0);
};
for (;;) {
  await eventually('everything due is published', () => evaluatedSources.every(isPublished));
  await eventually('everything published is stored', hasLanded);
  if (clock.nowMs >= Number(until)) break;
  clock.nowMs = Math.min(clock.nowMs + stepMs, Number(until));
  console.log(clock.nowMs);
}
await role.stop();
await sinks.stop();
await close();
