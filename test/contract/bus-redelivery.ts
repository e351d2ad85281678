/** The bus contract: an unacknowledged range is redelivered unchanged after any interruption. */
import { computePartition } from '../../schemas/partition.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Topic } from '../../schemas/topic.ts';
import { test } from '../limit-concurrency.ts';
import { eventually } from '../waiting.ts';
import {
  type BusContract,
  consume,
  keysOf,
  messageTo,
  pending,
  quiet,
  rangeOf,
  someGroup,
  someTopic,
} from './bus-harness.ts';

const publish = async (bus: Bus, topic: Topic, count: number, key = 'key'): Promise<void> => {
  const producer = await bus.producer();
  await producer.publish(Array.from({ length: count }, (_, index) => messageTo(topic, `${index}`, { key })));
};

export const redeliveryContract = ({ name, make, quietMs }: BusContract): void => {
  const failures: readonly (readonly [string, () => unknown])[] = [
    ['a rejection', () => Promise.reject(new Error('not now'))],
    [
      'a TypeError',
      () => {
        throw new TypeError('undefined is not a function');
      },
    ],
  ];
  for (const [what, fail] of failures) {
    test(`${name}: after ${what} exactly the same range is redelivered, although more messages have arrived`, async (t) => {
      const { bus } = await make(t);
      const topic = someTopic();
      await bus.ensureTopics([topic]);
      await publish(bus, topic, 3);
      const consuming = consume(bus, [topic], { group: someGroup() }, async () => {
        if (consuming.batches.length > 2) return;
        await publish(bus, topic, 5);
        await fail();
      });
      await eventually('all 13 messages', () => consuming.texts.length >= 13);
      await consuming.stop();
      const [first, second, third] = consuming.batches.map(rangeOf);
      t.is(second, first);
      t.is(third, first);
      t.is(consuming.texts.length, 13);
    });
  }

  test(`${name}: after a stop during a batch that then rejects, the same range is delivered first`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const group = someGroup();
    await publish(bus, topic, 3);
    const outcome = pending();
    const consuming = consume(bus, [topic], { group }, () => outcome.promise);
    await eventually('a batch', () => consuming.batches.length === 1);
    const stopped = consuming.stop();
    await publish(bus, topic, 4);
    outcome.reject(new Error('no time left'));
    await stopped;
    t.deepEqual(consuming.texts, []);
    const next = consume(bus, [topic], { group });
    await eventually('7 messages', () => next.texts.length >= 7);
    await next.stop();
    t.is(next.ranges[0], consuming.batches.map(rangeOf)[0]);
    t.is(next.texts.length, 7);
  });

  test(`${name}: after a rebalance the new member starts with the same range`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 2 });
    await bus.ensureTopics([topic]);
    const group = someGroup();
    const keys = keysOf(2, computePartition);
    const more = async () => {
      for (const key of keys) await publish(bus, topic, 3, key);
    };
    await more();
    let healthy = false;
    const accepted: string[] = [];
    const offered = new Map<number, Set<string>>([
      [0, new Set()],
      [1, new Set()],
    ]);
    const member = () => {
      const consuming = consume(bus, [topic], { group }, (batch) => {
        if (!healthy) {
          offered.get(batch.partition)?.add(rangeOf(batch));
          throw new Error('not yet');
        }
        accepted.push(rangeOf(batch));
      });
      return consuming;
    };
    const left = member();
    await eventually('both partitions', () => [...offered.values()].every(({ size }) => size > 0));
    await more();
    const right = member();
    await eventually('the second member to work', () => right.batches.length > 0);
    await left.stop();
    await more();
    const offeredTo = right.batches.length;
    await eventually('the partitions of the one who left', () =>
      [0, 1].every((partition) => right.batches.slice(offeredTo).some((batch) => batch.partition === partition)),
    );
    healthy = true;
    await eventually('all 18 messages', () => left.texts.length + right.texts.length >= 18);
    await right.stop();
    for (const [partition, ranges] of offered) {
      t.is(ranges.size, 1, [...ranges].join(', '));
      const [first] = accepted.filter((range) => range.startsWith(`${topic.name}:${partition}:`));
      t.is(first, [...ranges][0]);
    }
  });

  test(`${name}: after a crash the same range is delivered first, although more messages have arrived`, async (t) => {
    const created = await make(t);
    const topic = someTopic();
    await created.bus.ensureTopics([topic]);
    const group = someGroup();
    await publish(created.bus, topic, 3);
    const never = pending();
    const consuming = consume(created.bus, [topic], { group }, () => never.promise);
    await eventually('a batch', () => consuming.batches.length === 1);
    await publish(created.bus, topic, 4);
    const bus = await created.reopen();
    never.resolve();
    await quiet(Math.min(quietMs, 200));
    const next = consume(bus, [topic], { group });
    await eventually('7 messages', () => next.texts.length >= 7);
    await next.stop();
    t.is(next.ranges[0], consuming.batches.map(rangeOf)[0]);
    t.is(next.texts.length, 7);
  });

  test(`${name}: the first range of a group that always starts anew is its own range and not that of another group`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    await publish(bus, topic, 2);
    const held = pending();
    const stuck = consume(bus, [topic], { group: someGroup() }, () => held.promise);
    await eventually('a batch', () => stuck.batches.length === 1);
    await publish(bus, topic, 2);
    const other = consume(bus, [topic], { group: someGroup() });
    await eventually('4 messages', () => other.texts.length >= 4);
    await other.stop();
    held.resolve();
    await stuck.stop();
    t.is(other.texts.length, 4);
  });
};
