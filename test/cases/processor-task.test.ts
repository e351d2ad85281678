/** The core of a processor: its result depends only on its snapshot and its messages. */
import test from 'ava';
import { defineProcessor } from '../../processors/engine/definition.ts';
import { FollowedDocuments } from '../../processors/engine/documents.ts';
import { estimateBytes, LruMap } from '../../processors/engine/state.ts';
import { Task } from '../../processors/engine/task.ts';
import { windowedState } from '../../processors/engine/windows.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import { defineCollection } from '../../schemas/ports/documents.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { createItemSource } from '../../schemas/records/values.ts';
import { ignoredPages, type Visit, visitCounter, visitCounts, visits } from './made-up-processor.ts';
import { seeded } from './random.ts';
import { firstMs, otlpMessage, TaskRun, valuesIn } from './run-task.ts';

const options = { topic: visits.name, partition: 0, emitter: 'one' };

const visit = (page: string, timeMs: number, tenantId = 'acme'): Visit => ({ tenantId, page, timeMs, serial: 0 });

/** Visits of three tenants over ten minutes: some late, some from clocks that are hours off, some poison. */
const messagesOf = (seed: number): BusRecord[] => {
  const random = seeded(seed);
  let timestampMs = firstMs;
  return Array.from({ length: 150 }, (_, index) => {
    timestampMs += random(random(10) === 0 ? 200_000 : 4_000);
    const tenantId = `tenant-${random(3)}`;
    const skewMs = [0, 0, 0, -3_600_000, 7_200_000][random(5)] ?? 0;
    const values = Array.from({ length: random(6) }, (): Visit => {
      const page = random(12) === 0 ? 'poison' : `/page/${random(random(4) === 0 ? 60 : 8)}`;
      return visit(page, timestampMs + skewMs - random(random(5) === 0 ? 90_000 : 3_000), tenantId);
    });
    const value = Buffer.from(JSON.stringify(values));
    return { offset: 2 * index, timestampMs, key: '', value, headers: { tenant: tenantId } };
  });
};

/** A time slice that is over after each item. */
const short = { isOver: () => true };

test('time slice boundaries do not change the result', (t) => {
  for (let seed = 0; seed < 10; seed++) {
    const messages = messagesOf(seed);
    const last = messages.at(-1)?.offset ?? 0;
    const whole = new Task(visitCounter, options);
    const slicedTask = new Task(visitCounter, options);
    const { tenants, ...undisturbed } = whole.batch(messages, last);
    slicedTask.begin(messages, last);
    let sliceCount = 0;
    let response = slicedTask.advance(short);
    for (; response === undefined; response = slicedTask.advance(short)) sliceCount++;
    t.true(sliceCount > messages.length, `${sliceCount} turns`);
    const { tenants: spent, ...rest } = response;
    t.deepEqual(rest, undisturbed);
    t.deepEqual(
      spent.map(({ ms, ...each }) => each),
      tenants.map(({ ms, ...each }) => each),
    );
    t.deepEqual(slicedTask.snapshot(), whole.snapshot());
  }
});

test('a range processed in several time slices uses the documents and plan from its start', (t) => {
  const documents = new FollowedDocuments();
  const marks = defineCollection<{ mark: string }>({ name: 'marks' });
  const seen: string[] = [];
  let isEntitled = true;
  const processor = defineProcessor({
    name: 'marked',
    summary: 'Looks at documents',
    reads: createItemSource(visits),
    follows: { marks },
    step: (_, { follows }) => void seen.push([...follows.marks.values()].map(({ mark }) => mark).join('')),
  });
  const stored = (mark: string) => ({ id: 'one', version: 1, mark, createdAt: '', updatedAt: '' });
  const value = Buffer.from(JSON.stringify([visit('/a', firstMs), visit('/b', firstMs)]));
  const message = { timestampMs: firstMs, key: '', value, headers: { tenant: 'acme' } };
  const task = new Task(processor, { ...options, documents, isEntitled: () => isEntitled });
  documents.applyChange('marks', 'acme', 'one', stored('old'));
  task.begin(
    [0, 1].map((offset) => ({ offset, ...message })),
    1,
  );
  t.is(task.advance(short), undefined);
  documents.applyChange('marks', 'acme', 'one', stored('new'));
  isEntitled = false;
  t.not(task.advance(), undefined);
  t.deepEqual(seen, ['old', 'old', 'old', 'old']);
  isEntitled = true;
  task.batch([{ offset: 2, ...message }]);
  t.deepEqual(seen.slice(4), ['new', 'new']);
});

test('batch boundaries and snapshot positions change neither the emitted values nor the state', (t) => {
  for (let seed = 0; seed < 40; seed++) {
    const messages = messagesOf(seed);
    const last = messages.at(-1)?.offset ?? 0;
    const whole = new Task(visitCounter, options);
    const undisturbed = whole.batch(messages, last + 3);
    t.true(undisturbed.poison.length > 3 && undisturbed.messages.length > 3);

    const random = seeded(seed + 1_000);
    let task = new Task(visitCounter, options);
    const emitted: unknown[] = [];
    const poison: unknown[] = [];
    for (let at = 0; at < messages.length; ) {
      const next = at + 1 + random(20);
      // The last offset of a range may be unreadable.
      const response = task.batch(
        messages.slice(at, next),
        messages[next]?.offset ? messages[next].offset - 1 : last + 3,
      );
      emitted.push(...valuesIn(response.messages));
      poison.push(...response.poison);
      at = next;
      if (random(3) === 0) task = new Task(visitCounter, options, task.snapshot());
    }
    // Values of one page have a fixed order; the order of values of different pages depends on the batch.
    const ordered = (values: unknown[]) =>
      Map.groupBy(values as { tenantId: string; page: string }[], ({ tenantId, page }) => `${tenantId} ${page}`);
    t.deepEqual(new Map([...ordered(emitted)].sort()), new Map([...ordered(valuesIn(undisturbed.messages))].sort()));
    t.deepEqual(poison, [...undisturbed.poison]);
    t.deepEqual(Buffer.from(task.snapshot()).toString('latin1'), Buffer.from(whole.snapshot()).toString('latin1'));
  }
});

test('processed messages are skipped when their range is delivered again', (t) => {
  const messages = messagesOf(7);
  const task = new Task(visitCounter, options);
  task.batch(messages);
  const before = task.snapshot();
  const again = task.batch(messages);
  t.deepEqual([again.messages, again.poison, again.counts.items], [[], [], 0]);
  t.deepEqual(task.snapshot(), before);
});

test('a replay emits nothing, and gives the same state', (t) => {
  const messages = messagesOf(8);
  const task = new Task(visitCounter, options);
  const replayed = new Task(visitCounter, options);
  task.batch(messages.slice(0, 90));
  t.is(replayed.replay(messages.slice(0, 90)), undefined);
  t.deepEqual(replayed.snapshot(), task.snapshot());
  t.deepEqual(replayed.batch(messages.slice(90)).messages, task.batch(messages.slice(90)).messages);
});

test('positions increase from batch to batch, across ticks and restarts, and are the same for the same range', (t) => {
  const run = new TaskRun(visitCounter);
  for (let minute = 0; minute < 5; minute++) {
    run.values([visit('/a', firstMs + minute * 60_000), visit('/b', firstMs)], { atMs: firstMs + minute * 60_000 });
    if (minute === 2) run.restart();
  }
  run.tick(firstMs + 3_600_000);
  run.values([visit('/c', firstMs + 3_700_000)], { atMs: firstMs + 3_700_000 });
  const positions = run.messages.map(({ headers }) => headers['position']?.split('.').map(Number) ?? []);
  t.true(positions.length > 6);
  for (const [index, [offset = 0, part = 0]] of positions.entries()) {
    const [beforeOffset = -1, beforePart = -1] = positions[index - 1] ?? [];
    t.true(offset > beforeOffset || (offset === beforeOffset && part > beforePart), JSON.stringify(positions));
  }
  t.is(new Set(run.messages.map(({ headers }) => headers['emitter'])).size, 1);
});

test('the watermark follows the latest record; a fast clock does not move it, and a slow clock gives late records', (t) => {
  const seen: number[] = [];
  const watcher = defineProcessor({
    name: 'watcher',
    summary: 'Looks at the watermark',
    reads: createItemSource(visits),
    latenessMs: 10_000,
    step: (_, { watermarkMs }) => void seen.push(watermarkMs - firstMs),
  });
  const run = new TaskRun(watcher);
  const at = (timeMs: number, atMs: number) => run.values([visit('/', firstMs + timeMs)], { atMs: firstMs + atMs });
  at(1_000, 1_000);
  at(7_200_000, 2_000);
  at(3_000, 3_000);
  at(-3_600_000, 4_000);
  at(5_000, 5_000);
  t.deepEqual(seen, [Number.NEGATIVE_INFINITY, -9_000, -9_000, -7_000, -7_000]);
});

test('one tenant does not move the watermark of another tenant', (t) => {
  const run = new TaskRun(visitCounter);
  run.values([visit('/a', firstMs)], { atMs: firstMs });
  run.values([visit('/b', firstMs + 75_000, 'other')], { tenantId: 'other', atMs: firstMs + 75_000 });
  t.deepEqual(countsOf(run), []);
  run.values([visit('/c', firstMs + 75_000)], { atMs: firstMs + 76_000 });
  t.deepEqual(countsOf(run), ['acme /a 1']);
});

test('messages of other tenants close the windows of a tenant that is silent for twice the lateness', (t) => {
  const run = new TaskRun(visitCounter);
  run.values([visit('/a', firstMs)], { atMs: firstMs });
  const other = (atMs: number) =>
    run.values([visit('/b', firstMs + atMs, 'other')], { tenantId: 'other', atMs: firstMs + atMs });
  other(79_999);
  t.deepEqual(countsOf(run), []);
  other(80_000);
  t.deepEqual(countsOf(run), ['acme /a 1']);
});

test('records of a tenant whose clocks are all an hour behind are on time while it sends', (t) => {
  const run = new TaskRun(visitCounter);
  for (let atMs = firstMs; atMs < firstMs + 120_000; atMs += 15_000)
    run.values([visit('/a', atMs - 3_600_000)], { atMs });
  t.deepEqual(countsOf(run), ['acme /a 4']);
  t.true(run.answers.every(({ counts }) => counts.dropped['late'] === undefined));
});

test('if no messages arrive, a tick closes windows and runs timers by the clock', (t) => {
  const run = new TaskRun(visitCounter);
  run.values([visit('/a', firstMs)], { atMs: firstMs });
  t.is(run.task.status.nextTickMs, firstMs + 80_000);
  t.is(run.tick(firstMs + 79_999), undefined);
  run.tick(firstMs + 80_000);
  t.deepEqual(countsOf(run), ['acme /a 1']);
  t.is(run.task.status.nextTickMs, firstMs + 90_000);
  run.tick(firstMs + 100_000);
  t.deepEqual(
    run.emitted<{ kind: string }>().map(({ kind }) => kind),
    ['first', 'count', 'silence'],
  );
  t.is(run.task.status.nextTickMs, Number.POSITIVE_INFINITY);
});

test('values emitted by a tick stay in the snapshots until they are published', (t) => {
  const task = new Task(visitCounter, options);
  task.batch(messagesOf(3));
  const response = task.tick(firstMs + 3_600_000_000);
  t.true((response?.messages.length ?? 0) > 0);
  const restored = new Task(visitCounter, options, task.snapshot());
  t.deepEqual(restored.outbox, response?.messages);
  restored.clearOutbox();
  t.deepEqual(new Task(visitCounter, options, restored.snapshot()).outbox, []);
});

test('timers run in order of time, kind and key, and a timer with the same kind and key replaces the former', (t) => {
  const called: string[] = [];
  const timed = defineProcessor({
    name: 'timed',
    summary: 'Asks to be called',
    reads: createItemSource(visits),
    step(_, { clockMs, setTimer }) {
      for (const key of ['b', 'a', 'taken-back']) setTimer('clock', clockMs + 10, key);
      setTimer('watermark', clockMs + 10, 'a');
      setTimer('clock', clockMs + 5, 'z');
      setTimer('clock', clockMs + 7, 'z');
      setTimer('clock', Number.POSITIVE_INFINITY, 'taken-back');
      setTimer('clock', clockMs + 1_000_000, 'later');
    },
    timer({ kind, key, dueMs }, { setTimer }) {
      called.push(`${dueMs - firstMs} ${kind} ${key}`);
      if (key === 'a' && kind === 'clock') setTimer('clock', dueMs + 2, 'follow-up');
    },
  });
  const run = new TaskRun(timed);
  run.values([visit('/', firstMs)], { atMs: firstMs });
  run.restart();
  run.tick(firstMs + 200_000);
  t.deepEqual(called, ['7 clock z', '10 clock a', '10 clock b', '10 watermark a', '12 clock follow-up']);
});

test('items that throw go to the dead letter by their ordinals, and the others continue', (t) => {
  const run = new TaskRun(visitCounter);
  const pages = ['/a', 'poison', '/b', 'poison', 'poison', '/c'];
  const { poison, counts } = run.values(pages.map((page) => visit(page, firstMs)));
  t.like(poison[0], { offset: 0, tenantId: 'acme', ordinals: '1,3-4', reason: 'bad-page', message: 'no such page' });
  t.is(poison.length, 1);
  t.is(counts.items, 6);
  t.deepEqual(
    run.emitted<{ page: string }>().map(({ page }) => page),
    ['/a', '/b', '/c'],
  );
});

test('a replayed dead letter processes only its named items, and is not a duplicate', (t) => {
  const run = new TaskRun(visitCounter);
  const group = 'processors.test-visit-counts';
  const place = { emitter: 'upstream', position: '5.0' };
  const pages = ['/a', '/b', '/c'].map((page) => visit(page, firstMs));
  run.values([pages[0]], { headers: place });
  run.values([pages[0]], { headers: place });
  run.values(pages, { headers: { ...place, 'only-group': group, 'only-ordinals': '2' } });
  run.values(pages, { headers: { 'only-group': 'processors.other' } });
  t.deepEqual(
    run.emitted<{ page: string }>().map(({ page }) => page),
    ['/a', '/c'],
  );
  t.deepEqual(run.answers[1]?.counts.dropped, { duplicate: 1 });
});

test('a message that cannot be decoded is one dead letter with the whole message', (t) => {
  const run = new TaskRun(visitCounter);
  const { poison } = run.message({ value: Buffer.from('[{'), headers: { tenant: 'acme' }, timestampMs: firstMs });
  t.like(poison[0], { ordinals: undefined, reason: 'bad-value', tenantId: 'acme' });
});

test('a value of another tenant, one that violates the schema and one above the message size are poison', (t) => {
  const emitter = defineProcessor({
    name: 'emitter',
    summary: 'Emits what it is told',
    reads: createItemSource(visits),
    emits: { counts: visitCounts },
    step({ page }, { emit, tenantId }) {
      const value = { kind: 'count', timeMs: 0, visits: 1, page } as const;
      if (page === 'foreign') emit.counts({ ...value, tenantId: 'other' });
      else if (page === 'broken') emit.counts({ ...value, tenantId, visits: 0.5 });
      else emit.counts({ ...value, tenantId, page: page === 'large' ? 'x'.repeat(1_100_000) : page });
    },
  });
  const run = new TaskRun(emitter);
  const { poison } = run.values(['foreign', 'broken', 'large', 'fine'].map((page) => visit(page, firstMs)));
  t.is(poison[0]?.ordinals, '0-2');
  t.deepEqual(
    run.emitted<{ page: string }>().map(({ page }) => page),
    ['fine'],
  );
});

test('many values are split into messages of at most 256 KiB', (t) => {
  const run = new TaskRun(visitCounter, { buckets: 1 });
  run.values(Array.from({ length: 20 }, (_, index) => visit(`${index}`.padEnd(50_000, '/'), firstMs)));
  t.is(run.messages.length, 4);
  t.true(run.messages.every(({ value }) => value.length <= 256 * 1024 + 2));
  t.is(run.emitted().length, 20);
});

test('a processor gets only the followed documents of the tenant', (t) => {
  const run = new TaskRun(visitCounter);
  const stored = { version: 1, createdAt: '', updatedAt: '', page: '/a' };
  run.task.applyChange(ignoredPages.name, 'acme', '/a', { id: '/a', ...stored });
  run.values([visit('/a', firstMs), visit('/b', firstMs)]);
  run.values([visit('/a', firstMs, 'other')], { tenantId: 'other' });
  run.task.applyChange(ignoredPages.name, 'acme', '/a', undefined);
  run.values([visit('/a', firstMs)]);
  t.deepEqual(
    run.emitted<{ page: string; tenantId: string }>().map(({ tenantId, page }) => `${tenantId} ${page}`),
    ['acme /b', 'other /a', 'acme /a'],
  );
});

test('messages of a limited tenant are skipped until the limit expires, and others continue', (t) => {
  const run = new TaskRun(visitCounter);
  run.values([visit('/a', firstMs)]);
  run.task.limitTenant('acme', 'thread-time', 60_000);
  run.restart();
  const { limited } = run.values([visit('/b', firstMs)], { atMs: firstMs + 59_999, headers: { records: '7' } });
  t.deepEqual(limited, [{ tenantId: 'acme', reason: 'thread-time', records: 7 }]);
  run.values([visit('/c', firstMs, 'other')], { tenantId: 'other' });
  run.values([visit('/d', firstMs)], { atMs: firstMs + 60_000 });
  t.deepEqual(
    run
      .emitted<{ kind: string; page: string }>()
      .filter(({ kind }) => kind === 'first')
      .map(({ page }) => page),
    ['/a', '/c', '/d'],
  );
});

test('a skipped message goes to the dead letter', (t) => {
  const run = new TaskRun(visitCounter);
  run.task.skip(1);
  run.restart();
  for (const page of ['/a', '/b', '/c']) run.values([visit(page, firstMs)]);
  t.deepEqual(
    run.emitted<{ page: string }>().map(({ page }) => page),
    ['/a', '/c'],
  );
  t.like(run.answers[1]?.poison[0], { offset: 1, reason: 'too-slow', ordinals: undefined });
});

test('a tenant without the entitlement is skipped, and counted', (t) => {
  const run = new TaskRun(visitCounter, { isEntitled: (tenantId) => tenantId === 'acme' });
  run.values([visit('/a', firstMs)]);
  const { counts } = run.values([visit('/b', firstMs, 'other')], { tenantId: 'other', headers: { records: '3' } });
  t.deepEqual(counts.dropped, { 'not-entitled': 3 });
  t.is(run.emitted().length, 1);
});

test('a state of another version is upgraded, or starts empty', (t) => {
  const counter = (version: number, upgrade?: (saved: Uint8Array, version: number) => Uint8Array) =>
    defineProcessor({
      name: 'counter',
      summary: 'Counts',
      reads: createItemSource(visits),
      state: {
        version,
        open: (saved) => ({ count: saved === undefined ? 0 : Number(Buffer.from(saved).toString()) }),
        save: ({ count }: { count: number }) => Buffer.from(String(count)),
        size: () => ({ entries: 1, bytes: 8, evicted: 0 }),
        ...(upgrade !== undefined && { upgrade }),
      },
      step: (_, { state }) => void state.count++,
    });
  const first = new Task(counter(1), options);
  first.batch(messagesOf(1).filter(({ value }) => value.length > 2));
  const emptied = new Task(counter(2), options, first.snapshot());
  t.deepEqual(
    [emptied.isEmptied, emptied.status.entries, emptied.status.nextOffset],
    [true, 0, first.status.nextOffset],
  );
  const upgraded = new Task(
    counter(2, (saved) => Buffer.concat([saved, Buffer.from('0')])),
    options,
    first.snapshot(),
  );
  t.deepEqual([upgraded.isEmptied, upgraded.status.entries], [false, 3]);
});

test('late records and keys above the limit are dropped and counted', (t) => {
  const windowed = defineProcessor({
    name: 'windowed',
    summary: 'Counts',
    reads: createItemSource(visits),
    emits: { counts: visitCounts },
    latenessMs: 0,
    state: windowedState<number>({ version: 1, lengthMs: 60_000, maxEntries: 2 }),
    step({ page, timeMs }, context) {
      context.state.add(context, timeMs, page, (count = 0) => count + 1);
    },
    timer(_, { state, watermarkMs, emit, tenantId }) {
      for (const { key, startMs, value } of state.removeClosed(watermarkMs))
        emit.counts({ tenantId, kind: 'count', page: key, timeMs: startMs, visits: value });
    },
  });
  const run = new TaskRun(windowed);
  const full = run.values(['/a', '/b', '/c', '/a'].map((page) => visit(page, firstMs)));
  t.deepEqual(full.counts.dropped, { 'too-many-keys': 1 });
  run.values([visit('/a', firstMs + 60_000)], { atMs: firstMs + 60_000 });
  t.deepEqual(countsOf(run), ['acme /a 2', 'acme /b 1']);
  const late = run.values([visit('/a', firstMs + 59_999)]);
  t.deepEqual(late.counts.dropped, { late: 1 });
  t.deepEqual(countsOf(run), ['acme /a 2', 'acme /b 1'], 'a window is emitted once');
});

for (const name of ['', 'Counts', 'a--b', 'a.b', '1a', 'a-', 'a b']) {
  test(`a processor cannot be named "${name}"`, (t) => {
    t.throws(() => defineProcessor({ name, summary: '', reads: createItemSource(visits), step: () => undefined }));
  });
}

const countsOf = (run: TaskRun): string[] =>
  run
    .emitted<{ tenantId: string; kind: string; page: string; visits: number }>()
    .filter(({ kind }) => kind === 'count')
    .map(({ tenantId, page, visits: count }) => `${tenantId} ${page} ${count}`);

test('an unreadable message from receivers is left to the dead letter of its sink', (t) => {
  const counter = defineProcessor({
    name: 'test-bodies',
    summary: 'Steps over log records',
    reads: logRecords,
    step: () => undefined,
  });
  const run = new TaskRun(counter);
  const good = otlpMessage('logs', {
    resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'good' } }] }] }],
  });
  const { poison, counts } = run.message({
    value: Buffer.alloc(good.value.length, 0xff),
    headers: good.headers,
    timestampMs: firstMs,
  });
  t.deepEqual(poison, []);
  t.deepEqual(counts.dropped, { malformed: 1 });
  t.is(run.message({ ...good, timestampMs: firstMs }).counts.items, 1);
});

test('above the limit of keyed values the least recently used value is evicted', (t) => {
  const random = seeded(5);
  const keyed = new LruMap<string>(20);
  // The most recently used value is last.
  const known = new Map<string, string>();
  let evicted = 0;
  for (let at = 0; at < 20_000; at++) {
    const key = `key ${random(30)}`;
    const value = known.get(key);
    const isRead = random(3) === 0;
    if (random(8) === 0) {
      keyed.delete(key);
      known.delete(key);
      continue;
    }
    if (isRead) t.is(keyed.get(key), value);
    else keyed.set(key, `${at}`);
    known.delete(key);
    if (!isRead) known.set(key, `${at}`);
    else if (value !== undefined) known.set(key, value);
    if (known.size > 20) {
      known.delete(known.keys().next().value ?? '');
      evicted++;
    }
    if (at % 100 === 0) t.deepEqual([...keyed.entries()], [...known]);
  }
  t.true(evicted > 1_000);
  const bytes = [...known].reduce((sum, [key, value]) => sum + 64 + 2 * key.length + estimateBytes(value), 0);
  t.deepEqual(keyed.size, { entries: known.size, bytes, evicted });
  for (const [key] of keyed.entries()) keyed.delete(key);
  t.deepEqual(keyed.size, { entries: 0, bytes: 0, evicted });
});
