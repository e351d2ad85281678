import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { disk } from '../../adapters/bus-segments/disk.ts';
import { platformTenant } from '../../schemas/ports/documents.ts';
import { topics } from '../../schemas/topics.ts';
import { consumeTexts, deadLettersOn, publish, readTexts, segmentsUnderTest, topic } from './segments-harness.ts';

const texts = ['zero', 'one', 'two', 'three', 'four'];
const magic = Buffer.from('OIQ1');

/** The position of a record in a segment, by its number. */
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
  test(`a last record ${what} is truncated with a warning, and the log continues`, async (t) => {
    const log = await segmentsUnderTest(t);
    const bus = await log.open();
    await publish(bus, ...texts);
    await bus.close();
    await log.harm(harm);
    const again = await log.open();
    t.deepEqual(await again.offsets(topic.name), [{ partition: 0, earliest: 0, end: 4 }]);
    t.regex(log.complaints.join(), /cut off an incomplete record at the end of the log/);
    t.notRegex(log.complaints.join(), /never acknowledged/);
    await publish(again, 'anew');
    t.deepEqual(await readTexts(again), { texts: ['zero', 'one', 'two', 'three', 'anew'], failure: '' });
  });
}

test('a torn record that a group has already consumed is corruption, not a torn write', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open();
  await publish(bus, ...texts);
  await consumeTexts(bus, 'group', 5);
  await bus.close();
  await log.harm((bytes) => bytes.subarray(0, -2));
  const again = await log.open();
  t.notRegex(log.complaints.join(), /cut off/);
  t.deepEqual((await readTexts(again)).texts, texts.slice(0, 4));
  t.regex(log.complaints.join(), /is damaged at byte \d+ \(offset 4 and up to 1 more\)/);
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

const all = [...texts, 'later'];

for (const [field, at] of fields)
  for (const number of [0, 2, 4]) {
    test(`a flipped bit in the ${field} of record ${number} loses only that record: its bytes go to the dead letter, named and counted`, async (t) => {
      const log = await segmentsUnderTest(t);
      const bus = await log.open();
      await publish(bus, ...texts);
      await bus.close();
      let byte = 0;
      let bytes = Buffer.alloc(0);
      const path = await log.harm((file) => {
        byte = recordAt(file, number);
        flip(file, byte + at);
        const next = recordAt(Buffer.concat([file.subarray(0, byte), magic, file.subarray(byte + 4)]), number + 1);
        bytes = Buffer.from(file.subarray(byte, next < 0 ? file.length : next));
        return file;
      });
      const again = await log.open();
      await publish(again, 'later');
      // After the last record in a file, the number of lost records is unknown, so offsets leave a gap.
      const left = all.filter((_, index) => index !== number);
      t.deepEqual(await consumeTexts(again, 'group', 5), { texts: left, failure: '' });
      const deadLetters = await deadLettersOn(again);
      t.is(deadLetters.length, 1);
      t.deepEqual(deadLetters[0]?.value, bytes);
      t.like(deadLetters[0]?.headers, {
        tenantId: platformTenant,
        origin: 'group',
        kind: 'unprocessable',
        reason: 'damaged',
        topic: topic.name,
        partition: 0,
        offset: number,
        size: bytes.length,
        originalHeaders: {},
      });
      const named = `letters/0: ${path} is damaged at byte ${byte} (offset`;
      t.true(deadLetters[0]?.headers.message.startsWith(named), deadLetters[0]?.headers.message);
      t.is(log.complaints.filter((line) => line.includes(named)).length, 1);
      t.deepEqual(log.counted, ['oiq_dead_letters_total 1 group damaged']);
      t.deepEqual(await consumeTexts(again, 'another', 5), { texts: left, failure: '' });
      const met = (await deadLettersOn(again)).map(({ headers: { id, origin, receivedAtMs } }) => ({
        id,
        origin,
        receivedAtMs,
      }));
      t.deepEqual(
        met,
        ['group', 'another'].map((origin) => ({ ...met[0], origin })),
        'one dead letter, which both groups met',
      );
    });
  }

test('a damaged value that contains a record-like sequence is skipped as a whole', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open();
  await publish(bus, 'zero', 'one', 'two');
  await bus.close();
  let forged = Buffer.alloc(0);
  await log.harm((bytes) => {
    forged = Buffer.from(bytes.subarray(recordAt(bytes, 2)));
    return bytes;
  });
  const another = await segmentsUnderTest(t);
  const sent = await another.open();
  const producer = await sent.producer();
  await publish(sent, 'zero');
  await producer.publish([{ topic: topic.name, key: 'key', value: forged, headers: {} }]);
  await publish(sent, 'really two', 'three');
  await sent.close();
  await another.harm((bytes) => flip(bytes, recordAt(bytes, 1) + 57));
  const again = await another.open();
  t.deepEqual(await consumeTexts(again, 'group', 3), { texts: ['zero', 'really two', 'three'], failure: '' });
});

test('several consecutive damaged records are one dead letter', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open();
  await publish(bus, ...texts);
  await bus.close();
  await log.harm((bytes) => bytes.fill(7, recordAt(bytes, 1) + 3, recordAt(bytes, 3) + 20));
  const again = await log.open();
  t.deepEqual(await consumeTexts(again, 'group', 2), { texts: ['zero', 'four'], failure: '' });
  const [deadLetter, ...others] = await deadLettersOn(again);
  t.deepEqual(others, []);
  t.regex(deadLetter?.headers.message ?? '', /\(offset 1 and up to 2 more\)/);
});

test('a record is skipped only after its dead letter is durable', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open();
  await publish(bus, ...texts);
  await bus.close();
  await log.harm((bytes) => flip(bytes, recordAt(bytes, 0) + 60));
  let full = true;
  const refused = Promise.withResolvers<void>();
  const again = await log.open({
    disk: {
      ...disk,
      async open(path, mode) {
        const file = await disk.open(path, mode);
        const write: typeof file.write = async (buffers, position) => {
          if (!full || !path.includes(topics.deadLetter.name)) return file.write(buffers, position);
          refused.resolve();
          throw new Error('ENOSPC: no space left on device');
        };
        return { ...file, write };
      },
    },
  });
  const consuming = consumeTexts(again, 'group', 4);
  await refused.promise;
  t.like((await again.lag('group', [topic.name]))[0], { committed: 0 });
  full = false;
  t.deepEqual(await consuming, { texts: texts.slice(1), failure: '' });
  t.is((await deadLettersOn(again)).length, 1);
});

for (const number of [1, 2, 3]) {
  test(`an uncommitted range is delivered again with the same bounds when its record ${number} is damaged meanwhile`, async (t) => {
    const log = await segmentsUnderTest(t);
    const bus = await log.open();
    await publish(bus, 'zero');
    await consumeTexts(bus, 'group', 1);
    await publish(bus, ...texts.slice(1));
    const ranges: unknown[] = [];
    const failing = bus.createConsumer({ group: 'group', maxRecords: 3, maxWaitMs: 5 });
    const seen = Promise.withResolvers<void>();
    const running = failing.run([topic.name], async ({ first, last }) => {
      ranges.push([first, last]);
      seen.resolve();
      throw new Error('not yet');
    });
    await seen.promise;
    await failing.stop();
    await running;
    await bus.close();
    t.deepEqual(ranges, [[1, 3]]);
    await log.harm((bytes) => flip(bytes, recordAt(bytes, number) + 60));
    const again = await log.open();
    const batches: unknown[] = [];
    const consumer = again.createConsumer({ group: 'group', maxWaitMs: 5 });
    const enough = Promise.withResolvers<void>();
    const ran = consumer.run([topic.name], async ({ first, last, records }) => {
      batches.push([first, last, ...records.map(({ offset }) => offset)]);
      if (last === 4) enough.resolve();
    });
    await enough.promise;
    await consumer.stop();
    await ran;
    t.deepEqual(batches, [
      [1, 3, ...[1, 2, 3].filter((offset) => offset !== number)],
      [4, 4, 4],
    ]);
    t.deepEqual(
      (await deadLettersOn(again)).map(({ headers }) => headers.offset),
      [number],
    );
  });
}

test('damaged dead letters are reported and skipped, without another dead letter', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open();
  const producer = await bus.producer();
  const deadLetter = { topic: topics.deadLetter.name, key: 'key', headers: { 'dead-letter': '{}' } };
  for (const text of ['one', 'two']) await producer.publish([{ ...deadLetter, value: Buffer.from(text) }]);
  await bus.close();
  const path = `${log.directory}/${deadLetter.topic}/0/${'0'.repeat(20)}.log`;
  await writeFile(path, flip(await readFile(path), 60));
  const again = await log.open();
  const consumed = await consumeTexts(again, 'dead-letters', 1, deadLetter.topic);
  t.deepEqual(consumed, { texts: ['two'], failure: '' });
  t.is((await deadLettersOn(again)).length, 1);
  t.regex(log.complaints.join(), /dead-letter\/0: .* is damaged at byte 0 \(offset 0\)/);
  t.deepEqual(log.counted, []);
});

test('a flipped bit in an old full segment is found when the segment is read', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open({ segmentBytes: 200 });
  await publish(bus, ...texts);
  await bus.close();
  const path = await log.harm((bytes) => flip(bytes, 60), 0);
  const again = await log.open();
  t.deepEqual(log.complaints, []);
  t.deepEqual((await readTexts(again)).texts, texts.slice(1));
  t.true(log.complaints.join().includes(`${path} is damaged at byte 0 (offset 0)`));
  t.true((await log.segments()).length > 1);
});

test('a missing segment is a named gap, and a dead letter without bytes', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open({ segmentBytes: 1 });
  await publish(bus, ...texts);
  await bus.close();
  const [, deletedSegment = '', , next = ''] = await log.segments();
  await rm(`${log.partition}/${deletedSegment}`);
  await rm(`${log.partition}/${next.replace('3.log', '2.log')}`);
  const again = await log.open();
  t.deepEqual(await consumeTexts(again, 'group', 3), { texts: ['zero', 'three', 'four'], failure: '' });
  const [deadLetter] = await deadLettersOn(again);
  t.regex(deadLetter?.headers.message ?? '', /^letters\/0: offsets 1 to 2 cannot be read, no segment file has them/);
  t.like(deadLetter?.headers, { offset: 1, size: 0 });
});

test('if segment files are older than the offsets that groups have read, new records get new offsets and the gap is named', async (t) => {
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
  t.deepEqual(await consumeTexts(again, 'behind', 4), { texts: [...texts.slice(0, 3), 'later'], failure: '' });
  t.regex(log.complaints.join(), /offsets 3 to 4 cannot be read/);
});

test('a full segment without its index file can still be read', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open({ segmentBytes: 200 });
  await publish(bus, ...texts);
  await bus.close();
  for (const name of await log.segments())
    await rm(`${log.partition}/${name.replace('.log', '.index')}`, { force: true });
  t.deepEqual((await readTexts(await log.open(), 1)).texts, texts.slice(1));
});

test('an incorrect index file costs only a scan', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open({ segmentBytes: 250 });
  await publish(bus, ...texts);
  await bus.close();
  const [first = ''] = await log.segments();
  const lie = { lastTimestampMs: 1, offsets: [0, 1], positions: [0, 17] };
  await writeFile(`${log.partition}/${first.replace('.log', '.index')}`, JSON.stringify(lie));
  t.deepEqual(await readTexts(await log.open(), 2), { texts: texts.slice(2), failure: '' });
});

test('a directory is used by one process at a time, and the error message names it', async (t) => {
  const log = await segmentsUnderTest(t);
  const bus = await log.open();
  const error = await t.throwsAsync(() => log.open({ lockWaitMs: 0 }));
  t.is(
    error?.message,
    `the data directory ${log.directory} is in use by another running oiq (pid ${process.pid}): stop that process first, or use another data directory for this one (OIQ_DATA_DIR)`,
  );
  await bus.close();
  await t.notThrowsAsync(log.open());
});

test('after a kill at any moment, the log preserves acknowledged records, shows no partial transaction, and opens again', async (t) => {
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
      // The kill may truncate the last line.
      if (line.length === 3000) acknowledged.add(line);
      if (++seen === 40 + round * 13) child.kill('SIGKILL');
    });
    await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  }
  const bus = await log.open();
  const { texts: retainedTexts, failure } = await readTexts(bus);
  t.is(failure, '');
  t.is(new Set(retainedTexts).size, retainedTexts.length, 'a record occurs twice');
  for (const text of acknowledged) t.true(retainedTexts.includes(text), `${text} was acknowledged and is lost`);
  for (const text of retainedTexts.filter((each) => each.startsWith('left')))
    t.true(
      retainedTexts.includes(text.replace('left', 'right').padEnd(3000, '.').slice(0, 3000)),
      `${text} is half a transaction`,
    );
});
