/**
 * The evaluation of alerts over the embedded stores, by a clock that steps on when all that is due has been published:
 * `node dying-alerts.ts DIRECTORY BEGIN FROM UNTIL [STAGE N]`. Rules are due after BEGIN, and the clock goes from FROM to UNTIL. It kills itself when it comes to the stage for the N-th time; without one it ends
 * when the clock has come to the end. Prints the time of the clock at each step.
 */
import { startProcessors } from '../../processors/index.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { eventually } from '../waiting.ts';
import { duesOf, stepMs } from './alert-script.ts';
import { openDying } from './dying-ports.ts';

const [directory = '', begin, from, until, stage, times] = process.argv.slice(2);

const { columns, documents, bus, evaluated, close } = await openDying({ directory, stage, times: Number(times) });

const rules: { readonly tenantId: string; readonly id: string }[] = [];
for await (const rule of documents.findInAllTenants(alertRules)) rules.push(rule);
const clock = { nowMs: Number(from) };
console.log(clock.nowMs);
const role = await startProcessors({
  bus,
  documents,
  columns,
  metrics: silentMetrics,
  log: silentLog,
  clock: { now: () => clock.nowMs },
  only: ['alert-evaluation'],
});
const isPublished = (rule: (typeof rules)[number]): boolean =>
  duesOf(rule, evaluated.get(rule.id) ?? Number(begin), clock.nowMs).length === 0;
for (;;) {
  await eventually('all that is due to be published', () => rules.every(isPublished));
  if (clock.nowMs >= Number(until)) break;
  clock.nowMs = Math.min(clock.nowMs + stepMs, Number(until));
  console.log(clock.nowMs);
}
await role.stop();
await close();
