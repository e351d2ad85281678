/** The disk of the embedded log: full, and damaged while no process runs. */
import { execFileSync } from 'node:child_process';
import { appendFile, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { processorGroups } from '../../processors/index.ts';
import { topics } from '../../schemas/topics.ts';
import { sinkGroups } from '../../sinks/index.ts';
import { eventually } from '../waiting.ts';
import { deadLetterCommand, listDeadLetters } from './dead-letter-command.ts';
import { embeddedDeployment, withoutLimits } from './deployment.ts';
import { type OiqProcess, startOiq } from './oiq-process.ts';
import { Oracle } from './oracle.ts';
import { readBackEmbedded } from './read-back.ts';
import { assertReadBack, installation, temporaryDirectory, waitUntilDrained } from './reliability.ts';

const mebibyte = 1024 ** 2;

/** Only root may mount a small disk. In CI a missing permission is a failure. */
const mountable = (process.platform === 'linux' && process.getuid?.() === 0) || (process.env['CI'] ?? '') !== '';

(mountable ? test.serial : test.serial.skip)(
  'the disk of the log is full: 503 with Retry-After, nothing acknowledged is lost, and on when there is room again',
  async (t) => {
    const dataDirectory = await temporaryDirectory(t, 'full');
    const licenseKey = await embeddedDeployment(dataDirectory);
    const disk = join(dataDirectory, 'bus');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]);
    t.teardown(() => execFileSync('umount', ['-l', disk]));
    const filler = join(disk, 'filler');
    await writeFile(filler, Buffer.alloc(64 * mebibyte));
    const environment = { ...withoutLimits, OIQ_NEW_INSTALLATION: 'true' };
    const oiq = await startOiq({ dataDirectory, environment });
    const load = { connections: 4, pauseMs: 5, paddingBytes: 2000 };
    const oracle = new Oracle({ otlp: () => oiq.otlp, licenseKey, ...load });
    t.teardown(async () => {
      await oiq.kill();
      await oracle.close();
    });
    oracle.start();
    await eventually('responses that report a full disk', () => (oracle.responses().get('503 retry-after') ?? 0) > 20);
    await eventually('not ready', async () => (await fetch(`${oiq.http}/readyz`)).status === 503);
    await delay(2000);
    t.deepEqual([...oracle.responses().keys()].sort(), ['200', '503 retry-after']);
    await rm(filler);
    oracle.responses({ reset: true });
    await eventually('acknowledgements when there is room again', () => (oracle.responses().get('200') ?? 0) > 50);
    await oracle.stop();
    await eventually('ready', async () => (await fetch(`${oiq.http}/readyz`)).status === 200);
    await waitUntilDrained(oiq.http);
    t.is(await oiq.stop(), 0, oiq.output());
    assertReadBack(t, oracle, await readBackEmbedded(dataDirectory, oracle.service));
  },
);

/** Prepares a log with acknowledged records that no sink has read. */
const prepareUnreadLog = async (t: ExecutionContext) => {
  const { dataDirectory, environment, licenseKey } = await installation(t, 'damage');
  const receivers = await startOiq({ args: ['receivers'], dataDirectory, environment });
  const oracle = new Oracle({ otlp: () => receivers.otlp, licenseKey, connections: 2 });
  t.teardown(async () => {
    await receivers.kill();
    await oracle.close();
  });
  oracle.start();
  await eventually('some records', () => oracle.counts().acknowledged > 10_000);
  await oracle.stop();
  t.is(await receivers.stop(), 0);
  const partition = join(dataDirectory, 'bus', 'otlp.logs', '0');
  const [segment = ''] = (await readdir(partition)).filter((name) => name.endsWith('.log'));
  return { dataDirectory, oracle, segment: join(partition, segment) };
};

const started = (t: ExecutionContext, dataDirectory: string): Promise<OiqProcess> =>
  startOiq({ dataDirectory, environment: withoutLimits }).then((oiq) => {
    t.teardown(() => oiq.kill());
    return oiq;
  });

const magic = Buffer.from('OIQ1');

/** The byte positions at which records begin. */
const recordStarts = async (path: string): Promise<number[]> => {
  const bytes = await readFile(path);
  const starts: number[] = [];
  for (let at = bytes.indexOf(magic); at >= 0; at = bytes.indexOf(magic, at + bytes.readUInt32LE(at + 8)))
    starts.push(at);
  return starts;
};

/** Consumer groups that read log records. */
const readers = [...sinkGroups, ...processorGroups].filter(({ topics: read }) =>
  read.includes(topics.logs.name),
).length;

test.serial(
  'a flipped byte affects only its message, which goes to the dead letter queue as stored; all others land at the first start',
  async (t) => {
    const { dataDirectory, oracle, segment } = await prepareUnreadLog(t);
    const starts = await recordStarts(segment);
    const middle = starts.length >> 1;
    const [damaged = 0, next = 0] = starts.slice(middle);
    const file = await open(segment, 'r+');
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, damaged + 100);
    await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, damaged + 100);
    await file.close();

    const oiq = await started(t, dataDirectory);
    await waitUntilDrained(oiq.http);
    const metrics = await (await fetch(`${oiq.http}/metrics`)).text();
    t.regex(metrics, /^oiq_dead_letters_total\{[^}]*reason="damaged"[^}]*\} 1$/m);
    const command = deadLetterCommand(t, { OIQ_DATA_DIR: dataDirectory });
    await listDeadLetters(command, 1, '--reason', 'damaged');
    const list = await command('list', '--reason', 'damaged');
    t.true(list.includes(`${segment} is damaged at byte ${damaged} (offset ${middle}): `), list);
    const replayed = await command('replay', '--reason', 'damaged');
    t.regex(replayed, /still open, damaged: 1\b/, 'one dead letter, whichever group read the damage');
    t.is(await oiq.stop(), 0, oiq.output());
    // Other reads of this position, such as for the age of a lag, may log a warning without a group.
    const named = oiq
      .output()
      .split('\n')
      .filter((line) => line.includes('is damaged at byte'))
      .flatMap((line) => /"group":"([^"]+)"/.exec(line)?.[1] ?? []);
    t.deepEqual([named.length, new Set(named).size], [readers, readers], `logged once per group: ${named}`);

    const after = await readBackEmbedded(dataDirectory, oracle.service);
    t.log(`${oracle.counts().sent} records, ${after.size} landed, ${next - damaged} bytes damaged`);
    t.deepEqual(
      [...after.values()].filter((times) => times !== 1),
      [],
    );
    // All are stored except those of the damaged message.
    const lost = oracle.verdict(after);
    t.true(
      lost.every((line) => line.endsWith('was acknowledged and is there 0 times')),
      lost[0],
    );
    t.true(lost.length > 0 && lost.length * 20 < oracle.counts().sent, `${lost.length} lost`);
  },
);

test.serial(
  'after a torn write at the end of the log all acknowledged records are read, and the tail is named and truncated',
  async (t) => {
    const { dataDirectory, oracle, segment } = await prepareUnreadLog(t);
    const bytes = await readFile(segment);
    const starts = await recordStarts(segment);
    const last = bytes.subarray(starts.at(-1));
    // The beginning of one more record, as left by a kill during a write.
    const torn = Buffer.from(last.subarray(0, Math.floor(last.length * 0.6)));
    const offset = last.readBigInt64LE(24) + 1n;
    torn.writeBigInt64LE(offset, 24);
    torn.writeBigInt64LE(offset, 48);
    await appendFile(segment, torn);

    const oiq = await started(t, dataDirectory);
    await waitUntilDrained(oiq.http);
    t.is(await oiq.stop(), 0, oiq.output());
    t.true(oiq.output().includes(`"file":"${segment}","byte":${bytes.length}`), oiq.output());
    t.true((await stat(segment)).size >= bytes.length);
    assertReadBack(t, oracle, await readBackEmbedded(dataDirectory, oracle.service));
  },
);
