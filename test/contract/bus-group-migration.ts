/** The bus contract: renamed consumer groups. */
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Topic } from '../../schemas/topic.ts';
import { test } from '../limit-concurrency.ts';
import { eventually } from '../waiting.ts';
import { type BusContract, consume, messageTo, pending, quiet, rangeOf, someGroup, someTopic } from './bus-harness.ts';

const publish = async (bus: Bus, topic: Topic, texts: readonly string[]): Promise<void> => {
  const producer = await bus.producer();
  for (const text of texts) await producer.publish([messageTo(topic, text, { key: text })]);
  await producer.close();
};

const lagOf = async (bus: Bus, group: string, topic: Topic): Promise<number> =>
  (await bus.lag(group, [topic.name])).reduce((sum, { lag }) => sum + lag, 0);

export const takeoverContract = ({ name, make, quietMs }: BusContract): void => {
  test(`${name}: a renamed group continues from the offsets of its former name, in every partition`, async (t) => {
    const created = await make(t);
    const topic = someTopic({ partitions: 4 });
    await created.bus.ensureTopics([topic]);
    const former = someGroup();
    const group = `sinks.${former}`;
    await publish(created.bus, topic, ['a', 'b', 'c', 'd', 'e', 'f']);
    const before = consume(created.bus, [topic], { group: former });
    await eventually('6 messages', () => before.texts.length === 6);
    await before.stop();
    await publish(created.bus, topic, ['g', 'h']);
    const bus = await created.reopen();
    t.is(await lagOf(bus, group, topic), 2, 'before it runs for the first time');

    const first = consume(bus, [topic], { group });
    await eventually('2 messages', () => first.texts.length >= 2);
    await first.stop();
    await publish(bus, topic, ['i']);
    const second = consume(bus, [topic], { group });
    await eventually('1 message', () => second.texts.length >= 1);
    await quiet(quietMs);
    await second.stop();
    t.deepEqual(first.texts.toSorted(), ['g', 'h']);
    t.deepEqual(second.texts, ['i']);
    t.is(await lagOf(bus, group, topic), 0);
  });

  test(`${name}: a range delivered under the former name is redelivered unchanged`, async (t) => {
    const created = await make(t);
    const topic = someTopic();
    await created.bus.ensureTopics([topic]);
    const former = someGroup();
    await publish(created.bus, topic, ['a', 'b', 'c']);
    const never = pending();
    const before = consume(created.bus, [topic], { group: former }, () => never.promise);
    await eventually('a batch', () => before.batches.length === 1);
    await publish(created.bus, topic, ['d', 'e']);
    const bus = await created.reopen();
    never.resolve();
    const after = consume(bus, [topic], { group: `sinks.${former}` });
    await eventually('5 messages', () => after.texts.length >= 5);
    await after.stop();
    t.is(after.ranges[0], before.batches.map(rangeOf)[0]);
    t.deepEqual(after.texts, ['a', 'b', 'c', 'd', 'e']);
  });
};
