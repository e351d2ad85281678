/** Shared functions for tests of the embedded log: a bus in a separate directory, with files that tests can damage. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { openSegmentsBus, type SegmentsBus, type SegmentsOptions } from '../../adapters/bus-segments/bus-segments.ts';
import { type DeadLetterHeaders, decodeDeadLetter } from '../../schemas/dead-letter.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { defineTopic, type Topic } from '../../schemas/topic.ts';
import { topics } from '../../schemas/topics.ts';

export const topic: Topic = defineTopic({ name: 'letters', summary: 'of a test', key: 'any' });

export interface SegmentsUnderTest {
  readonly directory: string;
  /** The directory of the only partition. */
  readonly partition: string;
  /** Warnings and errors that the bus logged, as text. */
  readonly complaints: string[];
  /** Counters of the bus, as text. */
  readonly counted: string[];
  open(options?: Partial<SegmentsOptions>): Promise<SegmentsBus>;
  /** Names of the segment files, in order. */
  segments(): Promise<string[]>;
  /** Changes a segment file, by default the last one; close the bus first. */
  harm(change: (bytes: Buffer) => Buffer, segment?: number): Promise<string>;
}

export const segmentsUnderTest = async (t: ExecutionContext, within = tmpdir()): Promise<SegmentsUnderTest> => {
  const directory = await mkdtemp(join(within, 'oiq-segments-'));
  const partition = join(directory, topic.name, '0');
  const complaints: string[] = [];
  const complain = (fields: object, message: string) => complaints.push(`${message} ${JSON.stringify(fields)}`);
  const counted: string[] = [];
  const metrics: Metrics = {
    add: (name, value, labels) => counted.push(`${name} ${value} ${Object.values(labels).join(' ')}`),
    set() {},
    observe() {},
  };
  const log: Log = { info() {}, warn: complain, error: complain };
  const buses: SegmentsBus[] = [];
  t.teardown(async () => {
    for (const bus of buses) await bus.close();
    await rm(directory, { recursive: true });
  });
  const segments = async () => (await readdir(partition)).filter((name) => name.endsWith('.log')).sort();
  return {
    directory,
    partition,
    complaints,
    counted,
    segments,
    async open(options = {}) {
      const bus = await openSegmentsBus({ directory, log, metrics, ...options });
      buses.push(bus);
      await bus.ensureTopics([topic, topics.deadLetter]);
      return bus;
    },
    async harm(change, segment = -1) {
      const path = join(partition, (await segments()).at(segment) ?? '');
      await writeFile(path, change(await readFile(path)));
      return path;
    },
  };
};

export const publish = async (bus: SegmentsBus, ...texts: readonly string[]): Promise<void> => {
  const producer = await bus.producer();
  for (const text of texts)
    await producer.publish([{ topic: topic.name, key: 'key', value: Buffer.from(text), headers: {} }]);
};

/** The texts of all records from an offset on, and the error that ended the read, if any. */
export const readTexts = async (bus: SegmentsBus, from = 0): Promise<{ texts: string[]; failure: string }> => {
  const texts: string[] = [];
  try {
    for await (const { value } of bus.read(topic.name, 0, from, Number.MAX_SAFE_INTEGER)) texts.push(value.toString());
    return { texts, failure: '' };
  } catch (error) {
    return { texts, failure: (error as Error).message };
  }
};

/** Consumes until the given number of texts is acknowledged or consuming fails; returns the texts and the error. */
export const consumeTexts = async (bus: SegmentsBus, group: string, count: number, from = topic.name) => {
  const texts: string[] = [];
  const consumer = bus.createConsumer({ group, maxWaitMs: 5 });
  const enough = Promise.withResolvers<void>();
  const running = consumer.run([from], async ({ records }) => {
    for (const { value } of records) texts.push(value.toString());
    if (texts.length >= count) enough.resolve();
  });
  const failure = await Promise.race([enough.promise, running]).then(
    () => '',
    (error: Error) => error.message,
  );
  await consumer.stop();
  return { texts, failure };
};

/** The dead letters on a bus, each with its bytes. */
export const deadLettersOn = async (bus: SegmentsBus): Promise<{ headers: DeadLetterHeaders; value: Buffer }[]> => {
  const deadLetters: { headers: DeadLetterHeaders; value: Buffer }[] = [];
  for await (const { headers, value } of bus.read(topics.deadLetter.name, 0, 0, Number.MAX_SAFE_INTEGER))
    deadLetters.push({ headers: decodeDeadLetter(headers), value: Buffer.from(value) });
  return deadLetters;
};
