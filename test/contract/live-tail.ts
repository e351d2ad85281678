/** The contract of live tail on any bus. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { buildFilter } from '../../queries/live-tail/filter.ts';
import { type ListenRequest, openLiveTail } from '../../queries/live-tail/live-tail.ts';
import type { Bus, Message } from '../../schemas/ports/bus.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { topics } from '../../schemas/topics.ts';
import { eventually } from '../waiting.ts';
import type { BusContract } from './bus-harness.ts';
import { anotherMillisecond, logsOf, numbered, receive, silence, spansOf } from './live-tail-harness.ts';

const someTenant = (): string => `tenant-${randomUUID()}`;
const requestOf = (tenantId: string, more: Partial<ListenRequest> = {}): ListenRequest => ({
  tenantId,
  shards: 1,
  last: 0,
  filter: buildFilter({ signal: 'logs' }),
  ...more,
});

export const liveTailContract = ({ name, make }: BusContract): void => {
  const prepare = async (t: Parameters<typeof make>[0]) => {
    const { bus } = await make(t);
    await bus.ensureTopics([topics.logs, topics.traces]);
    const producer = await bus.producer();
    const open = (over: Bus = bus) => {
      const tail = openLiveTail({ bus: over, log: silentLog });
      t.teardown(() => tail.close());
      return tail;
    };
    return { bus, open, publish: (...messages: Message[]) => producer.publish(messages) };
  };

  test(`${name}: live tail delivers to each listener the records of its organization, in order, and of no other`, async (t) => {
    const { open, publish } = await prepare(t);
    const tail = open();
    const [one, two] = [someTenant(), someTenant()];
    await publish(logsOf(['before'], { tenantId: one }));
    const listeners = await Promise.all([one, one, two].map((tenantId) => tail.open(requestOf(tenantId))));
    const received = listeners.map(() => silence());
    const all = () => listeners.forEach((listener, index) => void receive(listener, received[index]));
    for (let round = 0; round < 20; round++) {
      await publish(logsOf(numbered(`one ${round}`, 3), { tenantId: one }));
      await publish(logsOf([`two ${round}`], { tenantId: two }));
    }
    await eventually('all records', () => {
      all();
      return received[1]?.bodies.length === 60 && received[2]?.bodies.length === 20;
    });
    const expected = Array.from({ length: 20 }, (_, round) => numbered(`one ${round}`, 3)).flat();
    t.deepEqual(
      received.map(({ bodies }) => bodies),
      [expected, expected, Array.from({ length: 20 }, (_, round) => `two ${round}`)],
    );
  });

  test(`${name}: live tail begins with the last records requested, and continues with no record missing or duplicated`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const filter = buildFilter({ signal: 'logs', search: 'wanted' });
    for (let round = 0; round < 60; round++)
      await publish(
        logsOf([`wanted ${round}`, `other ${round}`], { tenantId }),
        logsOf(['wanted elsewhere'], { tenantId: 'others' }),
      );
    const tail = open();
    let publishing = true;
    const rest = (async () => {
      for (let round = 60; round < 160; round++) await publish(logsOf([`wanted ${round}`], { tenantId }));
      publishing = false;
    })();
    const listening = await tail.open(requestOf(tenantId, { filter, last: 50 }));
    const received = silence();
    await eventually('the last of all', () => {
      receive(listening, received);
      return !publishing && received.bodies.at(-1) === 'wanted 159' && received.live;
    });
    await rest;
    const first = Number(received.bodies[0]?.split(' ')[1]);
    t.true(first >= 10, 'fifty before those that came meanwhile');
    t.deepEqual(
      received.bodies,
      Array.from({ length: 160 - first }, (_, index) => `wanted ${first + index}`),
    );
    t.deepEqual([received.dropped, received.skipped, received.gaps, received.live], [0, 0, 0, true]);
  });

  test(`${name}: live tail resumes at a position without gap or duplicate, in another instance too`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const expected = Array.from({ length: 40 }, (_, round) => numbered(`record ${round}`, 5)).flat();
    const received = silence();
    let listening = await open().open(requestOf(tenantId));
    const publishing = (async () => {
      for (let round = 0; round < 40; round++) await publish(logsOf(numbered(`record ${round}`, 5), { tenantId }));
    })();
    let times = 0;
    await eventually('everything', async () => {
      // A few records at a time, because positions also lie within messages.
      if (!listening.hasPendingData) return received.bodies.length >= expected.length;
      const { records, positions, gap } = listening.nextBatch(700);
      received.bodies.push(...records.map((text) => (JSON.parse(text) as { body: string }).body));
      received.gaps += Number(gap);
      if (++times % 9 !== 0) return received.bodies.length >= expected.length;
      listening.close();
      listening = await open().open(requestOf(tenantId, { resume: positions }));
      return false;
    });
    await publishing;
    t.deepEqual(received.bodies, expected);
    t.is(received.gaps, 0);
    t.true(times > 20);
  });

  test(`${name}: live tail reports a gap if positions are no longer retained, and continues at the end`, async (t) => {
    const { bus, open, publish } = await prepare(t);
    const tenantId = someTenant();
    await publish(logsOf(['before'], { tenantId }));
    const ends = await bus.offsets(topics.logs.name);
    const beyond = new Map(ends.map(({ partition, end }) => [partition, { offset: end + 1_000_000, ordinal: 0 }]));
    const listening = await open().open(requestOf(tenantId, { resume: beyond }));
    await publish(logsOf(['after'], { tenantId }));
    const received = silence();
    await eventually('the record', () => receive(listening, received).bodies.length > 0);
    t.deepEqual([received.bodies, received.gaps], [['after'], 1]);
  });

  test(`${name}: a listener that reads nothing gets the number of records it missed, and the others miss nothing`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const tail = open();
    const [slow, quick] = [await tail.open(requestOf(tenantId)), await tail.open(requestOf(tenantId))];
    const received = silence();
    const padding = 'x'.repeat(20_000);
    for (let round = 0; round < 20; round++) {
      await publish(logsOf(numbered(`${padding} ${round}`, 10), { tenantId }));
      await eventually('what was published', () => receive(quick, received).bodies.length === (round + 1) * 10);
    }
    const late = receive(slow);
    t.true(late.bodies.length > 0 && late.bodies.length < 100, `${late.bodies.length} had room`);
    t.is(late.bodies.length + late.dropped + late.skipped, 200);
    t.is(late.skipped, received.skipped);
    t.is(received.bodies.length, 200);
    await publish(logsOf(['last'], { tenantId }));
    await eventually('the last', () => receive(slow, late).bodies.at(-1) === 'last');
  });

  test(`${name}: live tail reads all partitions of an organization, including those from before it had several`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const before = numbered('before', 8);
    for (const [shardIndex, body] of before.entries()) {
      await publish(logsOf([body], { tenantId, shards: 8, shardIndex }));
      await anotherMillisecond();
    }
    const listening = await open().open(requestOf(tenantId, { shards: 8, last: 5 }));
    const received = silence();
    await eventually('to be live', () => receive(listening, received).live);
    const last = received.bodies.splice(0);
    // Fewer than five, if others have published more in the same partitions than is searched.
    t.true(last.length > 0 && last.length <= 5, last.join());
    t.deepEqual(last, before.slice(-last.length));
    await publish(logsOf(['as before'], { tenantId }));
    for (let shardIndex = 0; shardIndex < 16; shardIndex++)
      await publish(logsOf([`live ${shardIndex}`], { tenantId, shards: 8, shardIndex }));
    await eventually('17 records', () => receive(listening, received).bodies.length === 17);
    t.deepEqual(received.bodies.toSorted(), ['as before', ...numbered('live', 16)].toSorted());
  });

  test(`${name}: live tail reads additional partitions once an organization has them`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const listening = await open().open(requestOf(tenantId));
    listening.setShards(8);
    const received = silence();
    await eventually('records of every shard', async () => {
      for (let shardIndex = 0; shardIndex < 8; shardIndex++)
        await publish(logsOf([`shard ${shardIndex}`], { tenantId, shards: 8, shardIndex }));
      return new Set(receive(listening, received).bodies).size === 8;
    });
    t.is(new Set(received.bodies).size, 8);
  });

  test(`${name}: live tail skips replays and records that sinks refuse, and is limited to one project on request`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const listening = await open().open(requestOf(tenantId, { projectId: 'p' }));
    const broken = logsOf(['broken'], { tenantId, projectId: 'p' });
    await publish(
      logsOf(['another project'], { tenantId }),
      { ...broken, value: Buffer.from(broken.value).fill(0xff) },
      logsOf(['replayed'], { tenantId, projectId: 'p', headers: { onlyGroup: 'sinks.logs' } }),
      logsOf(['told'], { tenantId, projectId: 'p' }),
    );
    const received = silence();
    await eventually('the record', () => receive(listening, received).bodies.length > 0);
    t.deepEqual(received.bodies, ['told']);
  });

  test(`${name}: live tail delivers spans`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const filter = buildFilter({ signal: 'spans', attribute: ['status=error', 'kind=server'] });
    const listening = await open().open(requestOf(tenantId, { filter, last: 10 }));
    const span = { name: 'GET /', kind: 2, status: { code: 2 }, startTimeUnixNano: '1', endTimeUnixNano: '5' };
    await publish(spansOf([span, { ...span, name: 'fine', status: { code: 1 } }], { tenantId }));
    const received = silence();
    await eventually('the span', () => receive(listening, received).bodies.length > 0);
    t.deepEqual(received.bodies, ['GET /']);
  });
};
