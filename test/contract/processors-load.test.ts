/** The initial state of a processor whose snapshot is damaged, missing, too old, or of another bus. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openSegmentsBus, type SegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { runProcessorStateRequest } from '../../commands/control-request.ts';
import { startProcessors } from '../../processors/index.ts';
import { openStates } from '../../runtime/states.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { platformTenant } from '../../schemas/ports/documents.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { organizations } from '../../schemas/resources/organization.ts';
import { plans } from '../../schemas/resources/plan.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { topics } from '../../schemas/topics.ts';
import { eventually } from '../waiting.ts';
import { marks, processors, rebuildMs, shouts, words } from './made-up-processors.ts';

const key = 'test-tallies/test-words/0';

interface Line {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

const open = async (t: ExecutionContext) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-load-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  await documents.ensureCollections([processorStates, processorStateChunks, marks, plans, organizations]);
  const time = { nowMs: systemClock.now() };
  const openBus = async (name: string): Promise<SegmentsBus> => {
    const opened = await openSegmentsBus({
      directory: join(directory, name),
      clock: { now: () => time.nowMs },
      segmentBytes: 4_096,
      retentionEveryMs: 86_400_000,
    });
    await opened.ensureTopics([words, shouts, topics.deadLetter]);
    return opened;
  };
  let bus = await openBus('bus');
  t.teardown(async () => {
    await bus.close();
    await documents.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const lines: Line[] = [];
  const counted = new Map<string, number>();
  const write = (fields: Line['fields'], message: string): void => void lines.push({ fields, message });
  const metrics: Metrics = {
    add(name, value, labels) {
      const counter = [name, ...Object.values(labels as Record<string, string>)].join(' ');
      counted.set(counter, (counted.get(counter) ?? 0) + value);
    },
    set() {},
    observe() {},
  };
  const shouted = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const { partition, earliest, end } of await bus.offsets(shouts.name))
      for await (const { value } of bus.read(shouts.name, partition, earliest, end))
        for (const { word } of JSON.parse(value.toString()) as { word: string }[]) found.push(word);
    return found;
  };
  return {
    documents,
    lines,
    counted,
    time,
    shouted,
    states: openStates({ documents, clock: systemClock }),
    get bus() {
      return bus;
    },
    async replaceBus() {
      await bus.close();
      bus = await openBus('another-bus');
    },
    async publishWords(...wordsToPublish: string[]) {
      const producer = await bus.producer();
      for (const word of wordsToPublish)
        await producer.publish([
          {
            topic: words.name,
            key: 'acme',
            headers: { tenant: 'acme', records: '1' },
            value: Buffer.from(JSON.stringify([{ tenantId: 'acme', word }])),
          },
        ]);
      await producer.close();
    },
    async caughtUp(name = 'test-tallies') {
      await eventually(`${name} has no lag`, async () =>
        (await bus.lag(`processors.${name}`, [words.name])).every(({ lag }) => lag === 0),
      );
    },
    /** Returns a function that stops it. */
    async start(...only: string[]) {
      const role = await startProcessors({
        bus,
        documents,
        metrics,
        log: { info: write, warn: write, error: write },
        clock: systemClock,
        only: only.length === 0 ? ['test-tallies'] : only,
        registered: { processors, module: new URL('./made-up-processors.ts', import.meta.url) },
        pool: { threads: 1 },
      });
      const ended = role.failure.catch(() => undefined);
      let stopping: Promise<void> | undefined;
      const stop = async (): Promise<void> => {
        stopping ??= role.stop().then(() => ended);
        await stopping;
      };
      t.teardown(stop);
      return stop;
    },
    /** Publishes the words, waits until the processor has processed them, and saves its state. */
    async tallied(...wordsToPublish: string[]) {
      await this.publishWords(...wordsToPublish);
      const stop = await this.start();
      await this.caughtUp();
      await stop();
    },
  };
};

test('a processor with a damaged snapshot names the snapshot and waits, alone, and resumes by itself once the snapshot is removed', async (t) => {
  const world = await open(t);
  const { documents, lines, shouted } = world;
  await world.tallied('a', 'a');
  const heads = documents.forTenant(platformTenant).collection(processorStates);
  await heads.update(key, { bytes: Buffer.from('something else').toString('base64') });
  await world.publishWords('a');
  await world.start('test-tallies', 'test-shouts');
  await world.caughtUp('test-shouts');
  const complaints = () =>
    lines.filter(({ fields, message }) => /is damaged/.test(message) && fields['processor'] === 'test-tallies');
  await eventually('it tries again', () => complaints().length > 1);
  t.regex(String(complaints()[0]?.fields['error']), /oiq processor-state remove test-tallies\/test-words\/0/);
  await world.publishWords('b');
  await world.caughtUp('test-shouts');
  t.deepEqual((await shouted()).toSorted(), ['A', 'A', 'A', 'B', 'a1', 'a2']);

  const printed: string[] = [];
  const request = (stateRequest: Parameters<typeof runProcessorStateRequest>[1]): Promise<void> =>
    runProcessorStateRequest({ documents, clock: systemClock }, stateRequest, (line) => printed.push(line));
  await request({ action: 'list-processor-states' });
  t.true(
    printed.some((line) => /^test-tallies\/test-words\/0 {2}\S+Z {2}\d+ bytes$/.test(line)),
    printed.join('\n'),
  );
  await t.throwsAsync(request({ action: 'remove-processor-state', key: 'test-tallies/none/0' }), {
    message: /saved state test-tallies\/none\/0 does not exist/,
  });
  await request({ action: 'remove-processor-state', key });
  await world.caughtUp();
  t.deepEqual(
    (await shouted()).filter((word) => /\d/.test(word)),
    ['a1', 'a2', 'a3', 'b1'],
  );
});

test('without a snapshot, the part of the topic needed to rebuild the state is replayed without effects', async (t) => {
  const world = await open(t);
  const { states, time, shouted } = world;
  await world.tallied('a', 'a', 'a');
  time.nowMs += rebuildMs + 60_000;
  await world.tallied('a', 'a');
  await states.remove(key);
  await world.tallied('a');
  t.deepEqual(await shouted(), ['a1', 'a2', 'a3', 'a4', 'a5', 'a3']);
});

test('messages that the snapshot lacks and that are no longer retained are counted, and the others are stepped', async (t) => {
  const world = await open(t);
  const { states, time, counted, lines, shouted } = world;
  await world.tallied('a');
  const early = await states.load(key);
  await world.tallied(...new Array<string>(60).fill('a'));
  time.nowMs += 400 * 86_400_000;
  await world.publishWords('a');
  await world.bus.retain();
  const [bounds] = await world.bus.offsets(words.name);
  const earliest = bounds?.earliest ?? 0;
  t.true(earliest > 1, `earliest ${earliest}`);
  await states.save(key, early?.bytes ?? new Uint8Array(0), await states.getNumber(key));
  await world.tallied();
  t.is(counted.get('oiq_processor_dropped_total test-tallies not-kept'), earliest - 1);
  t.true(lines.some(({ fields, message }) => /no longer retained/.test(message) && fields['earliest'] === earliest));
  // One from the snapshot, those of the sixty that are still retained, and the last.
  t.is((await shouted()).at(-1), `a${1 + (61 - earliest) + 1}`);
});

test('a snapshot of another bus is ignored: the state starts empty, and messages are emitted with a new emitter', async (t) => {
  const world = await open(t);
  const { lines, shouted } = world;
  await world.tallied('a', 'a', 'a');
  const emitters = async (): Promise<Set<string | undefined>> => {
    const found = new Set<string | undefined>();
    for (const { partition, earliest, end } of await world.bus.offsets(shouts.name))
      for await (const { headers } of world.bus.read(shouts.name, partition, earliest, end))
        found.add(headers['emitter']);
    return found;
  };
  const before = await emitters();
  await world.replaceBus();
  await world.tallied('a');
  t.deepEqual(await shouted(), ['a1']);
  t.true(lines.some(({ message }) => /to another bus/.test(message)));
  for (const emitter of await emitters()) t.false(before.has(emitter));
  lines.length = 0;
  await world.tallied('a');
  t.deepEqual(await shouted(), ['a1', 'a2'], 'the new snapshot is of this bus');
  t.false(lines.some(({ message }) => /to another bus/.test(message)));
});
