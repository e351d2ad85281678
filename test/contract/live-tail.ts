/** Live tail over a bus: what every adapter of the bus must allow it to promise. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { filterOf } from '../../queries/live-tail/filter.ts';
import { type Asked, openLiveTail } from '../../queries/live-tail/live-tail.ts';
import type { Bus, Message } from '../../schemas/ports/bus.ts';
import { silent } from '../../schemas/ports/log.ts';
import { topics } from '../../schemas/topics.ts';
import { eventually } from '../waiting.ts';
import type { BusContract } from './bus-harness.ts';
import { anotherMillisecond, hear, logsOf, numbered, silence, spansOf } from './live-tail-harness.ts';

const someTenant = (): string => `tenant-${randomUUID()}`;
const asked = (tenantId: string, more: Partial<Asked> = {}): Asked => ({
  ...{ tenantId, shards: 1, last: 0, filter: filterOf({ signal: 'logs' }) },
  ...more,
});

export const liveTailContract = ({ name, make }: BusContract): void => {
  const prepare = async (t: Parameters<typeof make>[0]) => {
    const { bus } = await make(t);
    await bus.ensureTopics([topics.logs, topics.traces]);
    const producer = await bus.producer();
    const open = (over: Bus = bus) => {
      const tail = openLiveTail({ bus: over, log: silent });
      t.teardown(() => tail.close());
      return tail;
    };
    return { bus, open, publish: (...messages: Message[]) => producer.publish(messages) };
  };

  test(`${name}: live tail tells each listener of its organization's records, in order, and of nobody else's`, async (t) => {
    const { open, publish } = await prepare(t);
    const tail = open();
    const [one, two] = [someTenant(), someTenant()];
    await publish(logsOf(['before'], { tenantId: one }));
    const listeners = await Promise.all([one, one, two].map((tenantId) => tail.open(asked(tenantId))));
    const heard = listeners.map(() => silence());
    const all = () => listeners.forEach((listener, index) => void hear(listener, heard[index]));
    for (let round = 0; round < 20; round++) {
      await publish(logsOf(numbered(`one ${round}`, 3), { tenantId: one }));
      await publish(logsOf([`two ${round}`], { tenantId: two }));
    }
    await eventually('all records', () => {
      all();
      return heard[1]?.bodies.length === 60 && heard[2]?.bodies.length === 20;
    });
    const expected = Array.from({ length: 20 }, (_, round) => numbered(`one ${round}`, 3)).flat();
    t.deepEqual(
      heard.map(({ bodies }) => bodies),
      [expected, expected, Array.from({ length: 20 }, (_, round) => `two ${round}`)],
    );
  });

  test(`${name}: live tail begins with the last records that are wanted, and no record is missing or double where it goes on`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const filter = filterOf({ signal: 'logs', search: 'wanted' });
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
    const listening = await tail.open(asked(tenantId, { filter, last: 50 }));
    const heard = silence();
    await eventually('the last of all', () => {
      hear(listening, heard);
      return !publishing && heard.bodies.at(-1) === 'wanted 159' && heard.live;
    });
    await rest;
    const first = Number(heard.bodies[0]?.split(' ')[1]);
    t.true(first >= 10, 'fifty before those that came meanwhile');
    t.deepEqual(
      heard.bodies,
      Array.from({ length: 160 - first }, (_, index) => `wanted ${first + index}`),
    );
    t.deepEqual([heard.dropped, heard.skipped, heard.gaps, heard.live], [0, 0, 0, true]);
  });

  test(`${name}: live tail goes on at a position without a gap or a double, in another instance too`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const expected = Array.from({ length: 40 }, (_, round) => numbered(`record ${round}`, 5)).flat();
    const heard = silence();
    let listening = await open().open(asked(tenantId));
    const publishing = (async () => {
      for (let round = 0; round < 40; round++) await publish(logsOf(numbered(`record ${round}`, 5), { tenantId }));
    })();
    let times = 0;
    await eventually('everything', async () => {
      // A few records at a time: positions lie within messages as well.
      if (!listening.hasNews) return heard.bodies.length >= expected.length;
      const { records, positions, gap } = listening.take(700);
      heard.bodies.push(...records.map((text) => (JSON.parse(text) as { body: string }).body));
      heard.gaps += Number(gap);
      if (++times % 9 !== 0) return heard.bodies.length >= expected.length;
      listening.close();
      listening = await open().open(asked(tenantId, { resume: positions }));
      return false;
    });
    await publishing;
    t.deepEqual(heard.bodies, expected);
    t.is(heard.gaps, 0);
    t.true(times > 20);
  });

  test(`${name}: live tail says where positions are not kept, and goes on at the end`, async (t) => {
    const { bus, open, publish } = await prepare(t);
    const tenantId = someTenant();
    await publish(logsOf(['before'], { tenantId }));
    const ends = await bus.offsets(topics.logs.name);
    const beyond = new Map(ends.map(({ partition, end }) => [partition, { offset: end + 1_000_000, ordinal: 0 }]));
    const listening = await open().open(asked(tenantId, { resume: beyond }));
    await publish(logsOf(['after'], { tenantId }));
    const heard = silence();
    await eventually('the record', () => hear(listening, heard).bodies.length > 0);
    t.deepEqual([heard.bodies, heard.gaps], [['after'], 1]);
  });

  test(`${name}: a listener that takes nothing is told how much it missed, and the others miss nothing`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const tail = open();
    const [slow, quick] = [await tail.open(asked(tenantId)), await tail.open(asked(tenantId))];
    const heard = silence();
    const padding = 'x'.repeat(20_000);
    for (let round = 0; round < 20; round++) {
      await publish(logsOf(numbered(`${padding} ${round}`, 10), { tenantId }));
      await eventually('what was published', () => hear(quick, heard).bodies.length === (round + 1) * 10);
    }
    const late = hear(slow);
    t.true(late.bodies.length > 0 && late.bodies.length < 100, `${late.bodies.length} had room`);
    t.is(late.bodies.length + late.dropped + late.skipped, 200);
    t.is(late.skipped, heard.skipped);
    t.is(heard.bodies.length, 200);
    await publish(logsOf(['last'], { tenantId }));
    await eventually('the last', () => hear(slow, late).bodies.at(-1) === 'last');
  });

  test(`${name}: live tail reads all partitions of an organization, also of before it had several`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const before = numbered('before', 8);
    for (const [turn, body] of before.entries()) {
      await publish(logsOf([body], { tenantId, shards: 8, turn }));
      await anotherMillisecond();
    }
    const listening = await open().open(asked(tenantId, { shards: 8, last: 5 }));
    const heard = silence();
    await eventually('to be live', () => hear(listening, heard).live);
    const last = heard.bodies.splice(0);
    // Fewer than five where others have published more in the same partitions than is searched.
    t.true(last.length > 0 && last.length <= 5, last.join());
    t.deepEqual(last, before.slice(-last.length));
    await publish(logsOf(['as before'], { tenantId }));
    for (let turn = 0; turn < 16; turn++) await publish(logsOf([`live ${turn}`], { tenantId, shards: 8, turn }));
    await eventually('17 records', () => hear(listening, heard).bodies.length === 17);
    t.deepEqual(heard.bodies.toSorted(), ['as before', ...numbered('live', 16)].toSorted());
  });

  test(`${name}: live tail reads further partitions once an organization has them`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const listening = await open().open(asked(tenantId));
    listening.spread(8);
    const heard = silence();
    await eventually('records of every shard', async () => {
      for (let turn = 0; turn < 8; turn++) await publish(logsOf([`shard ${turn}`], { tenantId, shards: 8, turn }));
      return new Set(hear(listening, heard).bodies).size === 8;
    });
    t.is(new Set(heard.bodies).size, 8);
  });

  test(`${name}: live tail passes over replays and what sinks refuse, and tells of one project where that is asked`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const listening = await open().open(asked(tenantId, { projectId: 'p' }));
    const broken = logsOf(['broken'], { tenantId, projectId: 'p' });
    await publish(
      logsOf(['another project'], { tenantId }),
      { ...broken, value: Buffer.from(broken.value).fill(0xff) },
      logsOf(['replayed'], { tenantId, projectId: 'p', headers: { onlyGroup: 'sinks.logs' } }),
      logsOf(['told'], { tenantId, projectId: 'p' }),
    );
    const heard = silence();
    await eventually('the record', () => hear(listening, heard).bodies.length > 0);
    t.deepEqual(heard.bodies, ['told']);
  });

  test(`${name}: live tail of spans`, async (t) => {
    const { open, publish } = await prepare(t);
    const tenantId = someTenant();
    const filter = filterOf({ signal: 'spans', attribute: ['status=error', 'kind=server'] });
    const listening = await open().open(asked(tenantId, { filter, last: 10 }));
    const span = { name: 'GET /', kind: 2, status: { code: 2 }, startTimeUnixNano: '1', endTimeUnixNano: '5' };
    await publish(spansOf([span, { ...span, name: 'fine', status: { code: 1 } }], { tenantId }));
    const heard = silence();
    await eventually('the span', () => hear(listening, heard).bodies.length > 0);
    t.deepEqual(heard.bodies, ['GET /']);
  });
};
