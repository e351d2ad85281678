/**
 * Saves and loads the state of firing alerts. A process that takes over the schedule loads the slots of all rules
 * before it evaluates the first.
 *
 *     node bin/node.mjs test/bench/alert-states.ts [rules] [groups of each]
 */
import '../../subjects/query-kinds.ts';
import { join } from 'node:path';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { decodeSlot, encodeSlot, type SavedItem } from '../../processors/engine/schedule-snapshot.ts';
import { computePhase, toItemKey, toSlot } from '../../processors/engine/schedule-times.ts';
import { openStates } from '../../runtime/states.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { evaluate } from '../../subjects/alerts/evaluate.ts';
import { emptyState } from '../../subjects/alerts/state.ts';
import { answerOfValues, ruleOf } from '../cases/alert-evaluation.ts';
import { scratch } from './scratch.ts';

const [rules = 100, groups = 10_000] = process.argv.slice(2).map(Number);
const path = join(scratch(), 'documents.sqlite');
const measured = async <Result>(what: string, work: () => Promise<Result>): Promise<Result> => {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  const memory = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(
    `${what}: ${((performance.now() - began) / 1000).toFixed(1)} s, ${((user + system) / 1e6).toFixed(1)} s of CPU, RSS ${memory} MiB`,
  );
  return result;
};
const open = async () => {
  const documents = await openSqliteDocuments({ path });
  await documents.ensureCollections([processorStates, processorStateChunks]);
  return { documents, states: openStates({ documents, clock: systemClock }) };
};

const before = await open();
const slots = new Set<number>();
let bytes = 0;
await measured(`${rules} rules of ${groups} groups that fire, evaluated and saved`, async () => {
  const bySlot = new Map<number, Map<string, SavedItem>>();
  const values = Object.fromEntries(Array.from({ length: groups }, (_, at) => [`service-${at}`, 100 + at]));
  for (let index = 0; index < rules; index++) {
    const rule = { ...ruleOf(), id: `rule-${index}` };
    const input = { tenantId: 'tenant', rule, prior: emptyState(), result: answerOfValues(values), nowMs: 1e12 };
    const key = toItemKey('tenant', rule.id);
    const slot = toSlot(computePhase(key));
    const items = bySlot.get(slot) ?? new Map<string, SavedItem>();
    bySlot.set(slot, items);
    items.set(key, { born: '', dueMs: 0, state: JSON.stringify(evaluate(input).state) });
  }
  for (const [slot, items] of bySlot) {
    const snapshot = encodeSlot({ stateVersion: 1, emitter: 'e', emitted: 1, outbox: [], items });
    bytes += snapshot.length;
    slots.add(slot);
    await before.states.save(`schedules/alert-evaluation/${slot}`, snapshot, undefined);
  }
});
console.log(`${slots.size} slots, ${Math.round(bytes / 2 ** 20)} MiB`);
await before.documents.close();

const after = await open();
const loaded = await measured('loaded by another process', () =>
  Promise.all(
    [...slots].map(async (slot) => {
      const snapshot = await after.states.load(`schedules/alert-evaluation/${slot}`);
      return snapshot && decodeSlot(snapshot.bytes);
    }),
  ),
);
let alerts = 0;
await measured('read by their rules', async () => {
  for (const slot of loaded)
    for (const { state } of slot?.items.values() ?? []) alerts += Object.keys(JSON.parse(state).alerts).length;
});
console.log(`${alerts} alerts`);
await after.documents.close();
