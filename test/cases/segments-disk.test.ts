import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Disk, disk } from '../../adapters/bus-segments/disk.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { consumeTexts, publish, readTexts, segmentsUnderTest, topic } from './segments-harness.ts';

/** The real disk, except that `faults` can delay or fail writes and syncs of segment files. */
const faulty = (faults: { write?: () => Promise<void>; sync?: () => Promise<void> }): Disk => ({
  ...disk,
  async open(path, mode) {
    const file = await disk.open(path, mode);
    return {
      ...file,
      async write(buffers, position) {
        await faults.write?.();
        await file.write(buffers, position);
      },
      async sync() {
        await faults.sync?.();
        await file.sync();
      },
    };
  },
});

/** An in-memory file system of 4 MiB. */
const smallDisk = async (t: ExecutionContext): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'oiq-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', directory]);
  t.teardown(async () => {
    execFileSync('umount', ['-l', directory]);
    await rm(directory, { recursive: true });
  });
  return directory;
};

const mayMount = process.platform === 'linux' && process.getuid?.() === 0;
const whereMountable = mayMount || process.env['CI'] !== undefined ? test : test.skip;

whereMountable(
  'on a full disk publish rejects as unavailable, loses no acknowledged record, and works again once there is space',
  async (t) => {
    const log = await segmentsUnderTest(t, await smallDisk(t));
    const bus = await log.open();
    const producer = await bus.producer();
    const ballast = join(log.directory, 'ballast');
    await writeFile(ballast, Buffer.alloc(1024 * 1024));
    const acknowledged: string[] = [];
    const send = async (text: string) => {
      await producer.publish([
        { topic: topic.name, key: '', value: Buffer.from(text.padEnd(300_000, '.')), headers: {} },
      ]);
      acknowledged.push(text);
    };
    let failure: unknown;
    for (let i = 0; i < 20 && failure === undefined; i++) await send(`${i}`).catch((error) => (failure = error));
    t.true(failure instanceof UnavailableError, String(failure));
    t.regex((failure as Error).message, /ENOSPC|no space/);
    t.true(acknowledged.length > 2);
    await t.throwsAsync(() => bus.check(), { message: /cannot be written/ });
    const [segment = ''] = await log.segments();
    const { size } = await stat(join(log.partition, segment));
    t.true(size < acknowledged.length * 300_200, 'the part that was written is still there');
    await rm(ballast);
    // Every role of the process checks the bus.
    await t.notThrowsAsync(Promise.all([bus.check(), bus.check(), bus.check()]));
    await send('with space');
    await t.notThrowsAsync(bus.check());
    const trimmed = async (from: typeof bus) => (await readTexts(from)).texts.map((text) => text.replace(/\.+$/, ''));
    t.deepEqual(await trimmed(bus), acknowledged);
    await bus.close();
    t.deepEqual(await trimmed(await log.open()), acknowledged);
  },
);

test('after a failed sync nothing is appended to that segment, and acknowledged records are preserved', async (t) => {
  const log = await segmentsUnderTest(t);
  let failing = 0;
  const sync = async () => {
    if (failing-- > 0) throw new Error('EIO: i/o error, fdatasync');
  };
  const bus = await log.open({ disk: faulty({ sync }) });
  await publish(bus, 'before');
  failing = 1;
  const error = await t.throwsAsync(() => publish(bus, 'in doubt'));
  t.true(error instanceof UnavailableError);
  await publish(bus, 'after');
  t.deepEqual(await readTexts(bus), { texts: ['before', 'after'], failure: '' });
  t.is((await log.segments()).length, 2);
  failing = 3;
  for (let i = 0; i < 2; i++) await t.throwsAsync(() => publish(bus, 'in doubt'), { instanceOf: UnavailableError });
  failing = 0;
  await publish(bus, 'at last');
  await bus.close();
  t.deepEqual(await readTexts(await log.open()), { texts: ['before', 'after', 'at last'], failure: '' });
});

test('a failed write fails only the publishes that share it', async (t) => {
  const log = await segmentsUnderTest(t);
  let writes = 0;
  const write = async () => {
    if (++writes === 2) throw new Error('EIO: i/o error, write');
  };
  const bus = await log.open({ disk: faulty({ write }) });
  await publish(bus, 'first');
  const results = await Promise.allSettled([publish(bus, 'second'), publish(bus, 'third')]);
  t.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await publish(bus, 'fourth');
  t.deepEqual((await readTexts(bus)).texts, ['first', 'fourth']);
});

test('concurrent publishes share one write and one sync', async (t) => {
  const log = await segmentsUnderTest(t);
  const counts = { writes: 0, syncs: 0 };
  const count = faulty({
    write: async () => void counts.writes++,
    sync: async () => void counts.syncs++,
  });
  const bus = await log.open({ disk: count });
  await Promise.all(Array.from({ length: 50 }, (_, index) => publish(bus, `${index}`)));
  t.deepEqual(counts, { writes: 1, syncs: 1 });
});

test('publish rejects at once while too many bytes are waiting for a write', async (t) => {
  const log = await segmentsUnderTest(t);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const bus = await log.open({ disk: faulty({ write: () => released }), maxPendingBytes: 10_000 });
  const waiting = [publish(bus, 'x'.repeat(6000)), publish(bus, 'y'.repeat(3000))];
  const error = await t.throwsAsync(() => publish(bus, 'z'.repeat(3000)));
  t.true(error instanceof UnavailableError);
  t.is((error as UnavailableError).retryAfterSeconds, 1);
  release();
  await Promise.all(waiting);
  await t.notThrowsAsync(publish(bus, 'z'.repeat(3000)));
});

test('records not consumed by a group are retained past their age and size limits, with a warning that names the group', async (t) => {
  const log = await segmentsUnderTest(t);
  let now = Date.now();
  const bus = await log.open({ clock: { now: () => now }, segmentBytes: 1, retentionBytes: 100 });
  await publish(bus, 'one', 'two', 'three');
  await consumeTexts(bus, 'done', 3);
  const slowConsumer = bus.createConsumer({ group: 'slow', maxWaitMs: 1 });
  const stuck = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const running = slowConsumer.run([topic.name], () => {
    started.resolve();
    return stuck.promise;
  });
  await started.promise;
  now += 1000 * 3_600_000;
  await bus.retain();
  t.deepEqual((await readTexts(bus)).texts, ['one', 'two', 'three']);
  t.regex(log.complaints.join(), /stored because a group has not consumed them.*"group":"slow","committed":0/);
  stuck.resolve();
  await slowConsumer.stop();
  await running;
  await bus.retain();
  t.deepEqual(await bus.offsets(topic.name), [{ partition: 0, earliest: 3, end: 3 }]);
  await publish(bus, 'four');
  t.deepEqual((await consumeTexts(bus, 'slow', 1)).texts, ['four']);
  await bus.close();
  t.deepEqual(await (await log.open()).offsets(topic.name), [{ partition: 0, earliest: 3, end: 4 }]);
});

test('a forgotten group does not block retention', async (t) => {
  const log = await segmentsUnderTest(t);
  let now = Date.now();
  const bus = await log.open({ clock: { now: () => now }, segmentBytes: 1 });
  await publish(bus, 'one');
  await consumeTexts(bus, 'gone', 1);
  await consumeTexts(bus, 'here', 1);
  await publish(bus, 'two');
  await consumeTexts(bus, 'here', 1);
  now += 1000 * 3_600_000;
  await bus.retain();
  t.like((await bus.offsets(topic.name))[0], { earliest: 1 });
  await bus.deleteGroup('gone');
  await bus.retain();
  t.like((await bus.offsets(topic.name))[0], { earliest: 2 });
  await bus.close();
  const reopened = await log.open({ clock: { now: () => now } });
  await t.throwsAsync(reopened.deleteGroup('gone'), { message: 'group gone is not known' });
});

test('a group that missed records reports them, and continues after them', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open({ segmentBytes: 1 });
  await publish(bus, 'one', 'two', 'three');
  await consumeTexts(bus, 'group', 3);
  await publish(bus, 'four', 'five');
  await bus.close();
  for (const segment of (await log.segments()).slice(0, 4)) await rm(join(log.partition, segment));
  t.deepEqual(await consumeTexts(await log.open(), 'group', 1), { texts: ['five'], failure: '' });
  t.regex(log.complaints.join(), /letters\/0: offset 3 cannot be read, no segment file has them/);
});

test('a large publish yields to the event loop while its checksums are calculated', async (t) => {
  let loopIterations = 0;
  let iterationsAtWrite = 0;
  const log = await segmentsUnderTest(t);
  const bus = await log.open({
    disk: faulty({
      write: async () => {
        iterationsAtWrite = loopIterations;
      },
    }),
  });
  const producer = await bus.producer();
  const messages = (count: number) =>
    Array.from({ length: count }, () => ({ topic: topic.name, key: '', value: Buffer.alloc(900_000), headers: {} }));
  await producer.publish(messages(1));
  loopIterations = 0;
  const count = (): void => {
    loopIterations++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  await producer.publish(messages(40));
  clearImmediate(timer);
  // The 36 MB take several iterations, each with at most 4 MiB plus one record.
  t.true(iterationsAtWrite >= 7, `${iterationsAtWrite} turns`);
});
