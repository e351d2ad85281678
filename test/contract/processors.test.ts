/** What the engine promises every processor; and what must hold for each registered one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { segmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { dead, defineProcessor, drop, ok, type Processor } from '../../processors/engine/processor.ts';
import { runProcessor } from '../../processors/engine/run.ts';
import { processors, startProcessors } from '../../processors/index.ts';
import { consumerGroup } from '../../runtime/consumer-groups.ts';
import { decodeDeadLetter } from '../../schemas/dead-letter.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import type { Bus, BusRecord, Producer } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { noMetrics } from '../../schemas/ports/metrics.ts';
import { defineTopic, topics } from '../../schemas/topics.ts';

const input = defineTopic({ name: 'words', summary: 'Words', key: 'none' });
const output = defineTopic({ name: 'shouts', summary: 'Words in capitals', key: 'none' });

/** Shouts each word; what it does with some of them is the test's own. */
const shouts = (treat: (word: string) => ReturnType<typeof ok> | undefined): Processor =>
  defineProcessor({
    name: 'shouts',
    summary: 'Words in capitals',
    input,
    outputs: [output],
    config: z.strictObject({ mark: z.string().default('!') }),
    create: ({ config }) => ({
      process({ key, value }) {
        const word = value.toString();
        return (
          treat(word) ??
          ok({ topic: output.name, key, value: Buffer.from(word.toUpperCase() + config.mark), headers: {} })
        );
      },
    }),
  });

const openBus = async (t: ExecutionContext): Promise<Bus> => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-processors-'));
  const bus = await segmentsBus({ directory });
  await bus.ensureTopics([input, output, topics.deadLetter]);
  t.teardown(async () => {
    await bus.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return bus;
};

const all = async (bus: Bus, topic: string): Promise<BusRecord[]> => {
  const [{ earliest, end } = { earliest: 0, end: 0 }] = await bus.offsets(topic);
  const records: BusRecord[] = [];
  for await (const record of bus.read(topic, 0, earliest, end)) records.push(record);
  return records;
};

/** Publishes the words, runs the processor until it has no lag, and gives what it published. */
const processed = async (
  bus: Bus,
  processor: Processor,
  words: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<{ published: string[]; letters: BusRecord[] }> => {
  const producer = await bus.producer();
  await producer.publish(words.map((word) => ({ topic: input.name, key: 'k', value: Buffer.from(word), headers })));
  const consumer = bus.consumer({ group: consumerGroup('processors', processor.name), maxWaitMs: 20 });
  const done = runProcessor(processor, { config: {}, clock: systemClock, consumer, producer, metrics: noMetrics });
  const lag = async (): Promise<number> =>
    (await bus.lag(consumerGroup('processors', processor.name), [input.name])).reduce((sum, each) => sum + each.lag, 0);
  while ((await lag()) > 0) await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 20))]);
  await consumer.stop();
  await done;
  await producer.close();
  return {
    published: (await all(bus, output.name)).map(({ value }) => value.toString()),
    letters: await all(bus, topics.deadLetter.name),
  };
};

test('what a processor returns is published, in order', async (t) => {
  const { published, letters } = await processed(
    await openBus(t),
    shouts(() => undefined),
    ['a', 'b', 'c'],
  );
  t.deepEqual(published, ['A!', 'B!', 'C!']);
  t.is(letters.length, 0);
});

test('what is dropped is neither published nor a dead letter', async (t) => {
  const treat = (word: string) => (word === 'b' ? drop('unwanted') : undefined);
  const { published, letters } = await processed(await openBus(t), shouts(treat), ['a', 'b', 'c']);
  t.deepEqual(published, ['A!', 'C!']);
  t.is(letters.length, 0);
});

for (const [how, treat] of [
  ['dead', () => dead('bad-word', 'not a word')],
  [
    'a PermanentError',
    () => {
      throw new PermanentError('bad-word', 'not a word');
    },
  ],
] as const) {
  test(`${how} sends one record to the dead letter, the others go on`, async (t) => {
    const words = Array.from({ length: 19 }, (_, index) => `w${index}`);
    const { published, letters } = await processed(
      await openBus(t),
      shouts((word) => (word === 'w7' ? treat() : undefined)),
      words,
    );
    t.is(published.length, 18);
    t.is(letters.length, 1);
    const letter = decodeDeadLetter(letters[0]?.headers ?? {});
    t.like(letter, {
      origin: 'processors.shouts',
      kind: 'unprocessable',
      reason: 'bad-word',
      topic: 'words',
      offset: 7,
    });
    t.is(letters[0]?.value.toString(), 'w7');
  });
}

test('any other error redelivers the whole batch, and outputs come once it passes', async (t) => {
  let failures = 2;
  const treat = (word: string) => {
    if (word === 'b' && failures-- > 0) throw new TypeError('not now');
    return undefined;
  };
  const { published } = await processed(await openBus(t), shouts(treat), ['a', 'b']);
  t.deepEqual(published, ['A!', 'B!']);
  t.is(failures, -1);
});

test('nothing is acknowledged before what was made of it is durable, and what could not be published comes again', async (t) => {
  const bus = await openBus(t);
  const processor = shouts(() => undefined);
  const producer = await bus.producer();
  await producer.publish([{ topic: input.name, key: 'k', value: Buffer.from('a'), headers: {} }]);
  const attempts: (() => void)[] = [];
  const refusing: Producer = {
    ...producer,
    async publish(messages) {
      const attempt = attempts.length;
      await new Promise<void>((resolve) => attempts.push(resolve));
      if (attempt === 0) throw new UnavailableError('the broker is away');
      await producer.publish(messages);
    },
  };
  const consumer = bus.consumer({ group: processor.name, maxWaitMs: 20 });
  const runtime = { config: {}, clock: systemClock, consumer, metrics: noMetrics };
  const done = runProcessor(processor, { ...runtime, producer: refusing });
  const lag = async (): Promise<number | undefined> => (await bus.lag(processor.name, [input.name]))[0]?.lag;
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await holds())) await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 5))]);
  };
  await until(() => attempts.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.is(await lag(), 1, 'publishing is under way');
  attempts[0]?.();
  await until(() => attempts.length === 2);
  t.is(await lag(), 1, 'publishing failed');
  attempts[1]?.();
  await until(async () => (await lag()) === 0);
  await consumer.stop();
  await done;
  t.deepEqual(
    (await all(bus, output.name)).map(({ value }) => value.toString()),
    ['A!'],
  );
});

test('too many dead letters stop the processor instead of emptying the topic into the dead letter', async (t) => {
  const bus = await openBus(t);
  const words = Array.from({ length: 40 }, (_, index) => `w${index}`);
  const processor = shouts(() => dead('bad-word', 'not a word'));
  const producer = await bus.producer();
  await producer.publish(words.map((word) => ({ topic: input.name, key: 'k', value: Buffer.from(word), headers: {} })));
  const consumer = bus.consumer({ group: consumerGroup('processors', processor.name), maxWaitMs: 20 });
  const done = runProcessor(processor, { config: {}, clock: systemClock, consumer, producer, metrics: noMetrics });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await consumer.stop();
  await done;
  t.is((await all(bus, topics.deadLetter.name)).length, 0);
  t.is((await bus.lag(consumerGroup('processors', processor.name), [input.name]))[0]?.lag, 40);
});

test('a replayed dead letter of another group is passed by', async (t) => {
  const { published } = await processed(
    await openBus(t),
    shouts(() => undefined),
    ['a'],
    { 'only-group': 'others' },
  );
  t.deepEqual(published, []);
});

test('an unknown option is refused at the start', (t) => {
  t.throws(() => shouts(() => undefined).create({ marks: '?' }, systemClock));
});

test('a name that no processor has is refused with the names there are', async (t) => {
  const bus = await openBus(t);
  await t.throwsAsync(startProcessors({ bus, metrics: noMetrics, clock: systemClock, only: ['nothing'] }), {
    message: /no processor is called nothing; there are:/,
  });
});

test('every registered processor starts without configuration and has a name of its own', (t) => {
  t.is(new Set(processors.map(({ name }) => name)).size, processors.length);
  for (const processor of processors) t.notThrows(() => processor.create({}, systemClock), processor.name);
});
