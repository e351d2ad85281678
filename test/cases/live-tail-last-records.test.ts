/**
 * The last records of a live tail with different clocks: messages have the times of the receivers that published them.
 */
import test from 'ava';
import { buildFilter } from '../../queries/live-tail/filter.ts';
import { readLastRecords } from '../../queries/live-tail/last-records.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import { logsOf, numbered } from '../contract/live-tail-harness.ts';

const hourMs = 3_600_000;
const tenantId = 'tenant';

for (const { title, byMs } of [
  { title: 'behind', byMs: -hourMs },
  { title: 'ahead', byMs: hourMs },
])
  test(`the last records are read from all partitions if the clock of a message is an hour ${title}`, async (t) => {
    const messages = numbered('record', 80).map((body, index) => ({
      body,
      partition: index % 2,
      offset: Math.floor(index / 2),
      // The oldest message of those that are read first from its partition.
      timestampMs: index * 1000 + (index === 72 ? byMs : 0),
    }));
    const bus = {
      async *read(_topic: string, partition: number, from: number, to: number): AsyncGenerator<BusRecord> {
        for (const { body, offset, timestampMs, ...message } of messages) {
          if (message.partition !== partition || offset < from || offset >= to) continue;
          const { key, value, headers = {} } = logsOf([body], { tenantId });
          yield { offset, timestampMs, key, value: Buffer.from(value), headers };
        }
      },
    };
    const request = {
      listenerFilter: { tenantId, filter: buildFilter({ signal: 'logs' }) },
      maxRecords: 10,
      isClosed: () => false,
    };
    const pasts = [0, 1].map((partition) => ({ topicPartition: { topic: 'logs', partition }, earliest: 0, end: 40 }));
    const found = await readLastRecords(request, pasts, bus);
    const inTime = messages.toSorted((one, other) => one.timestampMs - other.timestampMs);
    t.deepEqual(
      found.map(({ text }) => (JSON.parse(text) as { body: string }).body),
      inTime.slice(-10).map(({ body }) => body),
    );
  });
