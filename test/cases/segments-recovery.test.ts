import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { consumeTexts, publish, readTexts, segmentsUnderTest, topic } from './segments-harness.ts';

const texts = ['zero', 'one', 'two', 'three', 'four'];
const magic = Buffer.from('OIQ1');

/** Position of the record with this number in a segment. */
const recordAt = (bytes: Buffer, number: number): number => {
  let position = -1;
  for (let i = 0; i <= number; i++) position = bytes.indexOf(magic, position + 1);
  return position;
};

const flip = (bytes: Buffer, position: number): Buffer => {
  bytes.writeUInt8(bytes.readUInt8(position) ^ 1, position);
  return bytes;
};

const torn: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ['cut in its value', (bytes) => bytes.subarray(0, -2)],
  ['cut in its head', (bytes) => bytes.subarray(0, recordAt(bytes, 4) + 20)],
  ['never written but for its length', (bytes) => bytes.fill(0, recordAt(bytes, 4))],
];

for (const [what, harm] of torn) {
  test(`a last record ${what} is cut off with a warning, and the log goes on`, async (t) => {
    const log = await segmentsUnderTest(t);
    const bus = await log.open();
    await publish(bus, ...texts);
    await bus.close();
    await log.harm(harm);
    const again = await log.open();
    t.deepEqual(await again.offsets(topic.name), [{ partition: 0, earliest: 0, end: 4 }]);
    t.regex(log.complaints.join(), /cut off a torn write/);
    await publish(again, 'anew');
    t.deepEqual(await readTexts(again), { texts: ['zero', 'one', 'two', 'three', 'anew'], failure: '' });
  });
}

test('a torn record that a group has already consumed is damage, not a torn write', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open();
  await publish(bus, ...texts);
  await consumeTexts(bus, 'group', 5);
  await bus.close();
  await log.harm((bytes) => bytes.subarray(0, -2));
  const again = await log.open();
  t.notRegex(log.complaints.join(), /cut off/);
  const { texts: read, failure } = await readTexts(again);
  t.deepEqual(read, texts.slice(0, 4));
  t.regex(failure, /is damaged at byte \d+ \(offset 4\)/);
});

const fields: readonly (readonly [string, number])[] = [
  ['magic', 0],
  ['checksum', 5],
  ['length', 9],
  ['value length', 13],
  ['key length', 20],
  ['offset', 25],
  ['time', 33],
  ['transaction', 40],
  ['group', 48],
  ['key', 57],
  ['value', 60],
];

for (const [field, at] of fields)
  for (const number of [0, 2, 4]) {
    test(`a flipped bit in the ${field} of record ${number} is named, and earlier records are read`, async (t) => {
      const log = await segmentsUnderTest(t);
      const bus = await log.open();
      await publish(bus, ...texts);
      await bus.close();
      let byte = 0;
      const path = await log.harm((bytes) => {
        byte = recordAt(bytes, number);
        return flip(bytes, byte + at);
      });
      const again = await log.open();
      const { texts: read, failure } = await readTexts(again);
      t.deepEqual(read, texts.slice(0, number));
      t.true(failure.includes(`${path} is damaged at byte ${byte} (offset ${number})`), failure);
      t.regex(log.complaints.join(), /a segment is damaged/);
    });
  }

test('a damaged record stops a consumer that needs it, not the publishing', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open();
  await publish(bus, ...texts);
  await bus.close();
  const path = await log.harm((bytes) => flip(bytes, recordAt(bytes, 2) + 60));
  const again = await log.open();
  await publish(again, 'later');
  const stopped = await consumeTexts(again, 'group', 100);
  t.deepEqual(stopped.texts, ['zero', 'one']);
  t.regex(stopped.failure, /restore the file|Restore the file/);
  await writeFile(`${path}.accept-loss`, '');
  const { texts: read, failure } = await consumeTexts(again, 'group', 3);
  t.deepEqual([read, failure], [['three', 'four', 'later'], '']);
  t.regex(log.complaints.join(), /stepping over damaged records.*"from":2,"to":2/);
});

test('a bit that flips in a segment that was full long ago is found when it is read', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open({ segmentBytes: 200 });
  await publish(bus, ...texts);
  await bus.close();
  const path = await log.harm((bytes) => flip(bytes, 60), 0);
  const again = await log.open();
  t.deepEqual(log.complaints, []);
  t.true((await readTexts(again)).failure.includes(`${path} is damaged at byte 0 (offset 0)`));
  const segment = await log.segments();
  t.true(segment.length > 1);
  const { texts: later } = await readTexts(again, 4);
  t.deepEqual(later, ['four']);
});

test('a segment that is gone is a gap with a name, and its loss can be accepted', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open({ segmentBytes: 1 });
  await publish(bus, ...texts);
  await bus.close();
  const [, gone = '', , next = ''] = await log.segments();
  await rm(`${log.partition}/${gone}`);
  await rm(`${log.partition}/${next.replace('3.log', '2.log')}`);
  const again = await log.open();
  const { texts: read, failure } = await readTexts(again);
  t.deepEqual(read, ['zero']);
  t.regex(failure, /offset 1 is no longer kept: offsets 1 to 2 are gone, the next one is 3/);
  await writeFile(`${log.partition}/${next}.accept-loss`, '');
  t.deepEqual(await readTexts(again), { texts: ['zero', 'three', 'four'], failure: '' });
});

test('when segment files are older than what groups have read, new records get new offsets and the gap is named', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open();
  await publish(bus, ...texts);
  await consumeTexts(bus, 'ahead', 5);
  await bus.close();
  await log.harm((bytes) => bytes.subarray(0, recordAt(bytes, 3)));
  const again = await log.open();
  t.regex(log.complaints.join(), /records that were already read are missing/);
  await publish(again, 'later');
  t.deepEqual(await consumeTexts(again, 'ahead', 1), { texts: ['later'], failure: '' });
  t.regex((await readTexts(again)).failure, /offsets 3 to 4 are gone/);
});

test('without its index file a full segment is read all the same', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open({ segmentBytes: 200 });
  await publish(bus, ...texts);
  await bus.close();
  for (const name of await log.segments())
    await rm(`${log.partition}/${name.replace('.log', '.index')}`, { force: true });
  t.deepEqual((await readTexts(await log.open(), 1)).texts, texts.slice(1));
});

test('an index file that lies costs a scan and nothing else', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open({ segmentBytes: 250 });
  await publish(bus, ...texts);
  await bus.close();
  const [first = ''] = await log.segments();
  const lie = { lastTimestampMs: 1, offsets: [0, 1], positions: [0, 17] };
  await writeFile(`${log.partition}/${first.replace('.log', '.index')}`, JSON.stringify(lie));
  t.deepEqual(await readTexts(await log.open(), 2), { texts: texts.slice(2), failure: '' });
});

test('a directory has one process at a time, and the message says which', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open();
  const error = await t.throwsAsync(() => log.open({ lockWaitMs: 0 }));
  t.is(
    error?.message,
    `the data directory ${log.directory} is in use by another running oiq (pid ${process.pid}): stop that one first, or give this one a directory of its own (OIQ_DATA_DIR)`,
  );
  await bus.close();
  await t.notThrowsAsync(log.open());
});

test('killed at any moment, the log keeps what it acknowledged, never shows half a transaction, and opens again', async (t) => {
  const log = await segmentsUnderTest(t);
  const acknowledged = new Set<string>();
  const script = fileURLToPath(new URL('segments-writer.ts', import.meta.url));
  for (let round = 0; round < 5; round++) {
    const child = spawn(process.execPath, [script, log.directory, `${round}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout);
    let seen = 0;
    lines.on('line', (line) => {
      // The last line may be cut off by the kill.
      if (line.length === 3000) acknowledged.add(line);
      if (++seen === 40 + round * 13) child.kill('SIGKILL');
    });
    await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  }
  const bus = await log.open();
  const { texts: kept, failure } = await readTexts(bus);
  t.is(failure, '');
  t.is(new Set(kept).size, kept.length, 'a record is there twice');
  for (const text of acknowledged) t.true(kept.includes(text), `${text} was acknowledged and is lost`);
  for (const text of kept.filter((each) => each.startsWith('left')))
    t.true(
      kept.includes(text.replace('left', 'right').padEnd(3000, '.').slice(0, 3000)),
      `${text} is half a transaction`,
    );
});
