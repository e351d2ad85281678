/**
 * A record filter hides only records that the processor would ignore: each processor with a filter has the same result
 * without it.
 */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { z } from 'zod';
import { defineProcessor, type Processor } from '../../processors/engine/definition.ts';
import { keyedState } from '../../processors/engine/state.ts';
import { processors } from '../../processors/registry.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import { changeAttributes, changeTexts } from '../../subjects/file-integrity/shapes.ts';
import { seeded } from './random.ts';
import { TaskRun } from './run-task.ts';
import { text } from './sink-tables.ts';

const random = seeded(3);
const pick = <Each>(from: readonly Each[]): Each => from[random(from.length)] as Each;

const sensorEvent = (): object => ({
  stringValue: JSON.stringify({
    output: 'Error File below a known binary directory opened for writing',
    priority: 'Error',
    rule: 'Write below binary dir',
    time: '2026-01-01T10:00:00Z',
    output_fields: { 'fd.name': `/bin/x${random(9)}`, 'proc.cmdline': 'touch /bin/x', 'user.name': 'root' },
  }),
});
const agentEvent = (): object => ({
  stringValue: JSON.stringify({
    timestamp: Date.UTC(2026, 0, 1),
    source: 'process',
    pid: 12,
    comm: 'claude',
    data: { event: 'EXEC', comm: 'claude', pid: 12, ppid: 1, filename: '/usr/bin/claude' },
  }),
});
const bodies: readonly (() => object | undefined)[] = [
  sensorEvent,
  agentEvent,
  () => ({ stringValue: `request ${random(99)} took ${random(99)} ms for user u${random(9)} ` }),
  () => ({ stringValue: '' }),
  () => undefined,
  () => ({
    stringValue: `${random(2) === 0 ? 'x' : ''}${pick(changeTexts)}${random(2) === 0 ? ' 1' : 'nginx-1.2-3'}`,
  }),
  () => ({
    stringValue: `2026-01-01 10:00:0${random(9)} ${pick(['install', 'status installed', 'remove'])} curl:amd64 7.1 7.2`,
  }),
  () => ({ stringValue: '2026-01-01T10:00:00+0000 SUBDEBUG Upgraded: openssl-libs-1:3.0.7-25.el9.x86_64' }),
  () => ({ stringValue: '2026-01-01 10:00:00|install|vim|9.1|x86_64|root|repo|' }),
  () => ({ stringValue: '[2026-01-01T10:00:00+0000] [ALPM] upgraded curl (7.1 -> 7.2)' }),
  () => ({ stringValue: 'Upgrade: nginx:amd64 (1.18.0, 1.20.1)' }),
  () => ({ stringValue: JSON.stringify({ syscheck: { path: `/etc/${random(5)}`, event: 'modified' } }) }),
  () => ({ stringValue: JSON.stringify({ output_fields: { 'evt.type': 'unlink', 'fd.name': '/etc/passwd' } }) }),
  () => ({ stringValue: `type=PATH msg=audit(1767225600.1:${random(4)}): item=0 name="/etc/x" nametype=CREATE` }),
  () => ({
    stringValue: `type=SYSCALL msg=audit(1767225600.1:${random(4)}): syscall=257 success=yes items=1 exe="/bin/touch"`,
  }),
  () => ({
    stringValue: `java.lang.IllegalStateException: no cart ${random(9)}\n\tat shop.Cart.of(Cart.java:${random(50)})`,
  }),
  () => ({
    kvlistValue: {
      values: [
        text('file.path', '/etc/hosts'),
        text('event.action', 'modified'),
        { key: 'file', value: { kvlistValue: { values: [text('path', '/x')] } } },
      ],
    },
  }),
  () => ({ arrayValue: { values: [{ stringValue: 'syscheck' }] } }),
  () => ({ intValue: String(random(9)) }),
];
const severities: readonly object[] = [
  {},
  { severityText: 'loud' },
  { severityText: 'Warning' },
  { severityText: 'err' },
  { severityText: 'info' },
  ...[1, 9, 12, 13, 16, 17, 21, 24].map((severityNumber) => ({ severityNumber })),
  { severityNumber: 9, severityText: 'error' },
];
const attribute = (): object =>
  pick([
    () => text('exception.type', pick(['TypeError', ''])),
    () => text('exception.message', 'no cart'),
    () => text('event.action', pick(['created', 'opened'])),
    () => text(pick(changeAttributes), '/etc/passwd'),
    () => text(`${pick(changeAttributes)}x`, '/etc/passwd'),
    () => text('user.id', `u${random(9)}`),
    () => text('', 'nothing'),
  ])();
const records = (): object[] =>
  Array.from({ length: 40 }, (_, at) => ({
    timeUnixNano: `${Date.UTC(2026, 0, 1) + at}000000`,
    attributes: Array.from({ length: random(4) }, attribute),
    body: pick(bodies)(),
    ...pick(severities),
  }));
const batches = Array.from({ length: 60 }, records);

/** The emitted values, statistics and state of a run. */
const ran = (processor: Processor) => {
  const run = new TaskRun(processor, { emitter: 'test' });
  for (const [at, batch] of batches.entries())
    run.logs(batch, { 'service.name': `s${at % 3}` }, { atMs: Date.UTC(2026, 0, 1) + at * 1_000 });
  run.tick(Date.UTC(2026, 0, 2));
  return {
    emitted: run.emitted(),
    answers: run.answers.map(({ counts, poison }) => ({ counts, poison })),
    snapshot: run.task.snapshot(),
  };
};

for (const processor of processors.filter(({ itemFilter: itemMatcher }) => itemMatcher !== undefined))
  test(`${processor.name} finds the same results as with a read of every record`, (t) => {
    const all = ran({ ...processor, itemFilter: undefined });
    t.true(all.emitted.length > 100, `${all.emitted.length} values`);
    t.deepEqual(ran(processor), all);
  });

const counting = (name: string, recordFilter: object | undefined): Processor =>
  defineProcessor({
    name,
    summary: 'Counts',
    reads: logRecords,
    ...(recordFilter && { recordFilter }),
    state: keyedState({ version: 1, maxEntries: 1, schema: z.number() }),
    step: (_, { state }) => state.set('count', (state.get('count') ?? 0) + 1),
  });
const counted = (processor: Processor): number => {
  const run = new TaskRun(processor);
  run.logs([
    { severityNumber: 9, body: { stringValue: 'cart is empty' } },
    { severityNumber: 17, body: { stringValue: 'no cart' } },
    { severityNumber: 5, attributes: [text('key.40', 'x')] },
  ]);
  return Number(/count",(\d+)/.exec(Buffer.from(run.task.snapshot()).toString('latin1'))?.[1] ?? 0);
};

test('a hundred record filters are distinguished', (t) => {
  const many = Array.from({ length: 100 }, (_, at) => counting(`many-${at}`, { attributes: [`key.${at}`] }));
  t.deepEqual(
    many.map(counted),
    many.map((_, at) => (at === 40 ? 1 : 0)),
  );
  t.is(counted(counting('all', undefined)), 3);
  t.is(counted(counting('loud', { severity: 17 })), 1);
  t.is(counted(counting('carts', { body: ['cart'] })), 2);
  t.is(counted(counting('either', { body: ['empty'], severity: 17, attributes: ['key.40'] })), 3);
  t.is(counted(counting('nothing', {})), 0);
});

test('record filters are supported only for log records', (t) => {
  const error = t.throws(() =>
    defineProcessor({ name: 'some-spans', summary: 'None', reads: spans, recordFilter: {}, step: () => undefined }),
  );
  t.regex(error.message, /some-spans has a record filter/);
});
