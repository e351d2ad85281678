/**
 * Evaluates alerts over embedded stores: `node dying-alerts.ts DIRECTORY BEGIN FROM UNTIL [STAGE N]`. Rules are due
 * after BEGIN. The clock starts at FROM and advances whenever everything due has been published. The process kills
 * itself when it reaches the stage for the N-th time; without a stage it exits when the clock reaches UNTIL. It prints
 * the time of the clock at each step.
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
  await eventually('everything due is published', () => rules.every(isPublished));
  if (clock.nowMs >= Number(until)) break;
  clock.nowMs = Math.min(clock.nowMs + stepMs, Number(until));
  console.log(clock.nowMs);
}
await role.stop();
await close();
