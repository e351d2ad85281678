/** The bus contract: which partitions a member is assigned, and when it is notified. */
import { computePartition } from '../../schemas/partition.ts';
import type { Batch, Bus, PartitionEvents } from '../../schemas/ports/bus.ts';
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

const publish = async (bus: Bus, topic: Topic, texts: readonly string[], key = 'key'): Promise<void> => {
  const producer = await bus.producer();
  await producer.publish(texts.map((text) => messageTo(topic, text, { key })));
};

/** Records the notifications and batches of all members in one list. */
const notebook = () => {
  const notes: string[] = [];
  const note = (partition: number, text: string) => {
    notes.push(`${partition} ${text}`);
  };
  return {
    notes,
    /** Recorded events of one partition, in order. */
    of: (partition: number) =>
      notes.filter((text) => text.startsWith(`${partition} `)).map((text) => text.slice(`${partition} `.length)),
    batch: (member: string) => (batch: Pick<Batch, 'partition' | 'first' | 'last'>) =>
      note(batch.partition, `${member}: ${batch.first}-${batch.last}`),
    events: (member: string): Required<PartitionEvents> => ({
      onAssigned({ partition, committed, isClaimed }) {
        note(partition, `${member}: assigned from ${committed}${isClaimed ? ', claimed' : ''}`);
      },
      onRevoked({ partition }) {
        note(partition, `${member}: revoked`);
      },
    }),
  };
};

/** Partitions assigned to a member, according to its notifications. */
const holdings = () => {
  const held = new Set<number>();
  const events: PartitionEvents = {
    onAssigned: ({ partition }) => void held.add(partition),
    onRevoked: ({ partition }) => void held.delete(partition),
  };
  return { held, events };
};

export const assignmentContract = ({ name, make, quietMs }: BusContract): void => {
  test(`${name}: every partition is assigned once before its batches, even without messages, and revoked once after them`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 2 });
    await bus.ensureTopics([topic]);
    const [, key = ''] = keysOf(2, computePartition);
    await publish(bus, topic, ['1', '2'], key);
    const { of, notes, batch, events } = notebook();
    const group = someGroup();
    const member = consume(bus, [topic], { group }, batch('a'), events('a'));
    await eventually('three notes', () => notes.length === 3);
    await member.stop();
    t.deepEqual(of(0), ['a: assigned from 0', 'a: revoked']);
    t.deepEqual(of(1), ['a: assigned from 0', 'a: 0-1', 'a: revoked']);
    const next = consume(bus, [topic], { group }, batch('b'), events('b'));
    await eventually('two more', () => notes.length === 7);
    await next.stop();
    t.deepEqual(of(1).slice(3), ['b: assigned from 2', 'b: revoked']);
  });

  test(`${name}: the first batch waits for the assignment handler, which is called again when it rejects`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    await publish(bus, topic, ['1']);
    const { notes, batch, events } = notebook();
    const loaded = pending();
    let calls = 0;
    const onAssigned: PartitionEvents['onAssigned'] = async (partition) => {
      await events('a').onAssigned(partition);
      if (++calls === 1) throw new Error('not now');
      await loaded.promise;
    };
    const member = consume(bus, [topic], { group: someGroup() }, batch('a'), { ...events('a'), onAssigned });
    await eventually('the second call', () => calls === 2);
    await quiet(Math.min(quietMs, 300));
    t.deepEqual(notes, ['0 a: assigned from 0', '0 a: assigned from 0']);
    loaded.resolve();
    await eventually('the batch', () => member.texts.length === 1);
    await member.stop();
    t.deepEqual(notes.slice(2), ['0 a: 0-0', '0 a: revoked']);
  });

  test(`${name}: a rejected range is announced as claimed, and is delivered first`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    await publish(bus, topic, ['1', '2', '3']);
    const { notes, batch, events } = notebook();
    const group = someGroup();
    const outcome = pending();
    const member = consume(bus, [topic], { group }, () => outcome.promise, events('a'));
    await eventually('a batch', () => member.batches.length === 1);
    const stopped = member.stop();
    outcome.reject(new Error('no time left'));
    await stopped;
    await publish(bus, topic, ['4']);
    const next = consume(bus, [topic], { group }, batch('b'), events('b'));
    await eventually('all messages', () => next.texts.length === 4);
    await next.stop();
    const [first] = member.batches;
    t.deepEqual(notes.slice(0, 4), [
      '0 a: assigned from 0',
      '0 a: revoked',
      '0 b: assigned from 0, claimed',
      `0 b: ${first?.first}-${first?.last}`,
    ]);
  });

  test(`${name}: after a crash the in-flight range is announced as claimed, and the crashed member receives no revocation`, async (t) => {
    const created = await make(t);
    const topic = someTopic();
    await created.bus.ensureTopics([topic]);
    await publish(created.bus, topic, ['1', '2', '3']);
    const { notes, batch, events } = notebook();
    const group = someGroup();
    const never = pending();
    const member = consume(created.bus, [topic], { group }, () => never.promise, events('a'));
    await eventually('a batch', () => member.batches.length === 1);
    await publish(created.bus, topic, ['4']);
    const bus = await created.reopen();
    never.resolve();
    const next = consume(bus, [topic], { group }, batch('b'), events('b'));
    await eventually('all messages', () => next.texts.length === 4);
    const [range] = member.batches.map(rangeOf);
    t.is(next.ranges[0], range);
    await next.stop();
    t.deepEqual(notes.slice(0, 2), ['0 a: assigned from 0', '0 b: assigned from 0, claimed']);
    t.false(notes.includes('0 a: revoked'));
  });

  test(`${name}: a leaving member gets the revocation after its in-flight batch, and the next member gets the partition only then`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    await publish(bus, topic, ['1']);
    const { notes, batch, events } = notebook();
    const group = someGroup();
    const finish = pending();
    const saved = pending();
    const leaving = consume(
      bus,
      [topic],
      { group },
      async (input) => {
        await finish.promise;
        batch('a')(input);
      },
      {
        onAssigned: events('a').onAssigned,
        async onRevoked(partition) {
          await saved.promise;
          await events('a').onRevoked(partition);
        },
      },
    );
    await eventually('a batch', () => leaving.batches.length === 1);
    const next = consume(bus, [topic], { group }, batch('b'), events('b'));
    let left = false;
    const stopped = leaving.stop().then(() => {
      left = true;
    });
    await quiet(quietMs);
    t.deepEqual(notes, ['0 a: assigned from 0']);
    finish.resolve();
    await quiet(quietMs);
    t.deepEqual(notes, ['0 a: assigned from 0', '0 a: 0-0']);
    t.false(left);
    saved.resolve();
    await stopped;
    await eventually('the next member', () => notes.length === 4);
    await next.stop();
    t.deepEqual(notes.slice(2), ['0 a: revoked', '0 b: assigned from 1', '0 b: revoked']);
  });

  test(`${name}: a revocation handler that rejects does not prevent a member from leaving`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const { held, events } = holdings();
    const member = consume(bus, [topic], { group: someGroup() }, undefined, {
      ...events,
      onRevoked: () => Promise.reject(new Error('cannot be saved')),
    });
    await eventually('the partition', () => held.size === 1);
    await t.notThrowsAsync(member.stop());
  });

  test(`${name}: each partition is assigned to one of two members, and a remaining member takes over the partitions of a leaving member`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 4 });
    await bus.ensureTopics([topic]);
    const group = someGroup();
    const [left, right] = [holdings(), holdings()];
    const first = consume(bus, [topic], { group }, undefined, left.events);
    await eventually('all four', () => left.held.size === 4);
    const second = consume(bus, [topic], { group }, undefined, right.events);
    await eventually('two each', () => left.held.size === 2 && right.held.size === 2);
    t.deepEqual([...left.held, ...right.held].toSorted(), [0, 1, 2, 3]);
    await first.stop();
    t.is(left.held.size, 0);
    await eventually('all four', () => right.held.size === 4);
    await second.stop();
    t.is(right.held.size, 0);
  });
};
