/** Usage of containers whose metrics arrive at different times. */
import test from 'ava';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { readCompute } from '../../subjects/infrastructure/compute.ts';
import { agentOf, type Metric } from '../end-to-end/infrastructure-senders.ts';
import { openTables, type Tables } from './sink-tables.ts';

const minuteMs = 60_000;
const endMs = Math.floor((Date.now() - 3_600_000) / minuteMs) * minuteMs;

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables?.close());

const gauge = (name: string, value: number, atMs: number): Metric => ({
  name,
  kind: 'gauge',
  points: [{ values: [[atMs, value]] }],
});

test('the usage of a container includes what it sent up to 150 s before its newest metric', async (t) => {
  const agent = agentOf(tables.columns, 'a');
  const sent = { near: 2 * minuteMs, far: 3 * minuteMs };
  for (const [id, earlierMs] of Object.entries(sent))
    await agent.metrics(
      { 'container.id': id },
      [gauge('container.cpu.usage', 0.5, endMs - earlierMs), gauge('container.memory.usage', 1_000, endMs)],
      endMs,
    );
  const reader = {
    plan: { name: 'all', entitlements: ['metrics'] } as unknown as TenantReader['plan'],
    columns: tables.columns.forTenant('a'),
    nowMs: endMs,
  };
  const range = { from: BigInt(endMs - 10 * minuteMs) * 1_000_000n, to: BigInt(endMs) * 1_000_000n };
  const { items } = await readCompute(reader, range, {});
  const used = items.map(({ id, cpuCores, memory }) => [id, cpuCores.value, memory.value]);
  t.deepEqual(used.toSorted(), [
    ['container:far', null, 1_000],
    ['container:near', 0.5, 1_000],
  ]);
});
