/** The bus contract: followers, which read partitions outside of any consumer group and receive new messages. */
import { computePartition } from '../../schemas/partition.ts';
import type { Bus, PartitionFollower } from '../../schemas/ports/bus.ts';
import type { Topic } from '../../schemas/topic.ts';
import { test } from '../limit-concurrency.ts';
import { eventually } from '../waiting.ts';
import { type BusContract, keysOf, messageTo, pending, quiet, someTopic } from './bus-harness.ts';

interface Following {
  readonly texts: string[];
  /** Offset at which the follower continues. */
  next: number;
  readonly ended: Promise<void>;
}

/** Follows one partition from an offset until its follower is closed. */
const follow = (follower: PartitionFollower, { name }: Topic, partition: number, from: number): Following => {
  const texts: string[] = [];
  const run = async (): Promise<void> => {
    for (;;) {
      const piece = await follower.next(name, partition, following.next);
      if (piece === undefined) return;
      for (const { value } of piece.records) texts.push(value.toString());
      following.next = piece.next;
      piece.release();
    }
  };
  const following: Following = { texts, next: from, ended: Promise.resolve().then(run) };
  following.ended.catch(() => undefined);
  return following;
};

const publish = async (bus: Bus, topic: Topic, texts: readonly string[], key = 'key'): Promise<void> => {
  const producer = await bus.producer();
  for (const text of texts) await producer.publish([messageTo(topic, text, { key })]);
  await producer.close();
};

export const followingContract = ({ name, make, quietMs }: BusContract): void => {
  test(`${name}: a follower reads partitions from given offsets, as they grow`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 3 });
    await bus.ensureTopics([topic]);
    const [one, two, three] = keysOf(3, computePartition);
    await publish(bus, topic, ['a', 'b', 'c'], one);
    await publish(bus, topic, ['d'], two);
    const follower = bus.createFollower();
    const first = follow(follower, topic, 0, 1);
    const second = follow(follower, topic, 1, 1);
    await eventually('what there is', () => first.texts.length === 2);
    await publish(bus, topic, ['e', 'f'], two);
    await publish(bus, topic, ['g'], one);
    await publish(bus, topic, ['h'], three);
    await eventually('what was added', () => first.texts.length === 3 && second.texts.length === 2);
    await follower.close();
    await first.ended;
    await second.ended;
    t.deepEqual(
      [first.texts, second.texts],
      [
        ['b', 'c', 'g'],
        ['e', 'f'],
      ],
    );
    t.deepEqual([first.next, second.next], [4, 3]);
    t.is(await follower.next(topic.name, 0, 0), undefined, 'it is closed');
  });

  test(`${name}: two followers of one partition are independent of each other`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const followers = [bus.createFollower(), bus.createFollower()];
    const both = followers.map((follower) => follow(follower, topic, 0, 0));
    const texts = Array.from({ length: 200 }, (_, index) => `message ${index}`);
    await publish(bus, topic, texts);
    for (const { texts } of both) await eventually('200 messages', () => texts.length === 200);
    for (const follower of followers) await follower.close();
    t.deepEqual(
      both.map((each) => each.texts),
      [texts, texts],
    );
  });

  test(`${name}: a follower sees a transaction once it is committed, and never an aborted transaction`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    await publish(bus, topic, ['before']);
    const producer = await bus.producer();
    const follower = bus.createFollower();
    const following = follow(follower, topic, 0, 0);
    const written = pending();
    const decided = pending();
    const transaction = producer.transaction(topic.name, async (add) => {
      await add([messageTo(topic, 'within')]);
      written.resolve();
      await decided.promise;
    });
    await written.promise;
    await publish(bus, topic, ['after']);
    const [{ end } = { end: -1 }] = await bus.offsets(topic.name);
    t.is(end, 1, 'what is not decided lies behind the end');
    await eventually('what lies before it', () => following.texts.length > 0);
    await quiet(quietMs);
    t.deepEqual(following.texts, ['before']);
    decided.resolve();
    await transaction;
    await eventually('the transaction', () => following.texts.length === 3);
    const failed = producer.transaction(topic.name, async (add) => {
      await add([messageTo(topic, 'aborted')]);
      throw new Error('no');
    });
    await t.throwsAsync(failed, { message: 'no' });
    await publish(bus, topic, ['last']);
    await eventually('the last', () => following.texts.includes('last'));
    await follower.close();
    t.deepEqual(following.texts, ['before', 'within', 'after', 'last']);
  });

  test(`${name}: a follower refuses an offset beyond the end`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const follower = bus.createFollower();
    await publish(bus, topic, ['a']);
    await t.throwsAsync(follower.next(topic.name, 0, 5), { message: /offset 5/ });
    await follower.close();
  });
};
