/** Recording rules and series of alerts in processes killed at every stage: each sample is stored exactly once. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { scheduleTopics } from '../../processors/index.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { ConsumedPositions, parseEmittedPosition } from '../../schemas/records/emitted-position.ts';
import { allTopics, topics } from '../../schemas/topics.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { seeded } from '../cases/random.ts';
import { copyColumns } from '../services/columns-template.ts';
import type { Stage } from './dying-ports.ts';
import { runDying } from './dying-run.ts';
import { expectedSamples, landedSamples, prepareRecording, stepMs } from './recording-script.ts';

/** Each stage at which a process is killed, and the largest number of times that it passes that stage before. */
const deaths: readonly (readonly [Stage, number])[] = [
  ['before a save', 4],
  ['between a save and what it publishes', 4],
  // This process first publishes what the previous one saved.
  ['before it publishes', 1],
  ['while it publishes', 1],
  ['after it published', 1],
  ['before an insert', 12],
  ['after an insert', 12],
  ['after it published', 12],
  ['while it saves', 12],
  ['between a save and what it publishes', 6],
  ['while it publishes', 6],
];
const lengthMs = 160_000;
const program = 'dying-recording.ts';

/** The number of repeated messages in the topic. */
const repeatedIn = async (directory: string): Promise<number> => {
  const bus = await openSegmentsBus({ directory: join(directory, 'bus'), lockWaitMs: 10_000 });
  let repeated = 0;
  for (const { partition, earliest, end } of await bus.offsets(topics.remoteWrite.name)) {
    const seenPositions = new ConsumedPositions();
    for await (const { headers } of bus.read(topics.remoteWrite.name, partition, earliest, end)) {
      const position = parseEmittedPosition(headers);
      if (position !== undefined && !seenPositions.accept(position)) repeated++;
    }
  }
  await bus.close();
  return repeated;
};

test('samples of recording rules and of alerts are stored once each, whenever the processes that evaluate and store them are killed', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'oiq-recording-kills-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  copyColumns(join(directory, 'columns'));
  const created = await openChdbColumns({ directory: join(directory, 'columns') });
  const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
  await migrate(created, silentLog);
  await bus.ensureTopics([...allTopics, ...scheduleTopics]);
  const fromMs = await prepareRecording(documents);
  await Promise.all([documents.close(), created.close(), bus.close()]);

  const untilMs = fromMs + lengthMs;
  const random = seeded(5);
  let nowMs = fromMs;
  for (const [index, [stage, maxKills]] of deaths.entries()) {
    const { signal, code, output, atMs } = await runDying(
      ...([t, program, directory, fromMs, nowMs, untilMs, stage, 1 + random(maxKills)] as const),
    );
    t.is(signal, 'SIGKILL', `${stage}: it exited with ${code} instead\n${output}`);
    // Sometimes no process runs for a while, so due times are missed. The schedule catches up on fewer than that.
    nowMs = Math.min(untilMs, atMs + (index % 3 === 2 ? 4 * stepMs : 0));
  }
  const last = await runDying(t, program, directory, fromMs, nowMs, untilMs);
  t.is(last.code, 0, last.output);

  t.true((await repeatedIn(directory)) > 0, 'no message was repeated');
  const columns = await openChdbColumns({ directory: join(directory, 'columns') });
  t.teardown(() => columns.close());
  const expected = expectedSamples(fromMs, untilMs);
  t.deepEqual(await landedSamples(columns), expected);
  t.true(expected.length > 200, `${expected.length} samples`);
});
