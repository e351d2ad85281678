/** The last records of a live tail on any bus. Each test has its own topics, because other messages would count too. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { buildFilter } from '../../queries/live-tail/filter.ts';
import { readLastRecords } from '../../queries/live-tail/last-records.ts';
import { computePartition } from '../../schemas/partition.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import { type BusContract, keysOf, someTopic } from './bus-harness.ts';
import { anotherMillisecond, logsOf, numbered } from './live-tail-harness.ts';

const partitions = 12;
const keys = keysOf(partitions, computePartition);

export const lastRecordsContract = ({ name, make }: BusContract): void => {
  const prepare = async (t: Parameters<typeof make>[0]) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions });
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const tenantId = `tenant-${randomUUID()}`;
    const messageIn = (partition: number, body: string, of = tenantId): Message => ({
      ...logsOf([body], { tenantId: of }),
      topic: topic.name,
      key: keys[partition] ?? '',
    });
    return {
      publish: (count: number, partition: number, body: string, of: string) =>
        producer.publish(Array.from({ length: count }, () => messageIn(partition, body, of))),
      /** Each record has a different time. */
      publishSpaced: async (partition: number, body: string) => {
        await producer.publish([messageIn(partition, body)]);
        await anotherMillisecond();
      },
      last: async (limit: number): Promise<string[]> => {
        const tailRequest = {
          listenerFilter: { tenantId, filter: buildFilter({ signal: 'logs' }) },
          maxRecords: limit,
          isClosed: () => false,
        };
        const ends = await bus.offsets(topic.name);
        const pasts = ends.map(({ partition, ...rest }) => ({
          topicPartition: { topic: topic.name, partition },
          ...rest,
        }));
        const found = await readLastRecords(tailRequest, pasts, bus);
        return found.map(({ text }) => (JSON.parse(text) as { body: string }).body);
      },
    };
  };

  test(`${name}: the last records are taken from all partitions, however they are distributed`, async (t) => {
    const { publishSpaced, last } = await prepare(t);
    // One partition has most of the oldest records, another most of the newest, and the others a few of both.
    const partitionFor = (index: number): number => {
      if (index % 10 === 0) return (index / 10) % partitions;
      return index < 100 ? 1 : 2;
    };
    const all = numbered('record', 200);
    for (const [index, body] of all.entries()) await publishSpaced(partitionFor(index), body);
    for (const limit of [1, 7, 50, 150, 200, 1000])
      t.deepEqual(await last(limit), all.slice(-limit), `the last ${limit}`);
  });

  const noises = [
    { where: 'one partition', title: 'many bytes', in: [0], count: 60, length: 900_000 },
    { where: 'one partition', title: 'many messages', in: [0], count: 2500, length: 10 },
    { where: 'every partition', title: 'large messages', in: [...keys.keys()], count: 4, length: 1_040_000 },
  ];
  for (const { where, title, count, length, ...noise } of noises)
    test(`${name}: the last records include all of one time, even if ${where} has ${title} of other tenants, more than are searched`, async (t) => {
      const { publish, publishSpaced, last } = await prepare(t);
      for (let partition = 0; partition < partitions; partition++) await publishSpaced(partition, 'too far');
      for (const partition of noise.in) await publish(count, partition, 'x'.repeat(length), 'others');
      const late = numbered('late', partitions);
      for (const [partition, body] of late.entries()) await publishSpaced(partition, body);
      t.deepEqual(await last(5), late.slice(-5));
      t.deepEqual(await last(100), late);
    });

  test(`${name}: no last records are returned if nothing was published`, async (t) => {
    const { last } = await prepare(t);
    t.deepEqual(await last(10), []);
  });
};
