/** Reports name the operation that blocks the event loop. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { z } from 'zod';
import { defineGroup } from '../../api/groups/define-group.ts';
import { defineOperation } from '../../api/kernel/operation.ts';
import type { Ports } from '../../api/kernel/ports.ts';
import { createApiServer } from '../../api/kernel/server.ts';
import { trackWork } from '../../runtime/current-work.ts';
import { type LoopWatch, watchLoop } from '../../runtime/event-loop-watchdog.ts';
import { defineJob, openJobs } from '../../runtime/jobs.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { eventually } from '../waiting.ts';

interface Line {
  readonly work: string;
  readonly stack: string;
  readonly blockedMs: number;
  readonly message: string;
}

interface Watched {
  readonly watch: LoopWatch;
  readonly lines: Line[];
  /** The labels of the metric. */
  readonly counted: string[];
  readonly log: Log;
}

const blockedMs = 40;

const watched = (t: { teardown(work: () => unknown): void }, longMs?: number): Watched => {
  const lines: Line[] = [];
  const counted: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => void lines.push({ ...(fields as unknown as Line), message }),
  };
  const watch = watchLoop({
    log,
    metrics: { observe: (_name, _seconds, labels) => void counted.push((labels as { work: string }).work) },
    blockedMs,
    ...(longMs !== undefined && { reportBeforeEndMs: longMs }),
  });
  t.teardown(() => watch.stop());
  return { watch, lines, counted, log };
};

/** Blocks until the watchdog has reported it, and for longer than the limit. */
const blockUntil = (seen: () => boolean): void => {
  const beginMs = performance.now();
  const endMs = beginMs + 120_000;
  while (!seen() || performance.now() < beginMs + 3 * blockedMs)
    if (performance.now() > endMs) throw new Error('the watchdog did not check');
};
const blockUntilNamed = ({ watch }: Watched, work: string): void => blockUntil(() => watch.blockedBy === work);

const waitForReport = ({ lines, counted }: Watched, work: string): Promise<void> =>
  eventually(`a line and a count of ${work}`, () => lines.some((line) => line.work === work) && counted.includes(work));

test.serial('a blocking operation is named in the log with its stack, and in the metric', async (t) => {
  const seen = watched(t);
  const group = defineGroup({
    name: 'tests',
    summary: 'Of this test.',
    operations: [
      defineOperation({
        method: 'GET',
        path: '/api/blocking',
        operationId: 'block',
        role: 'none',
        summary: 'Blocks',
        response: z.strictObject({}),
        async handler() {
          await sleep(1);
          blockUntilNamed(seen, 'operation block');
          return {};
        },
      }),
      defineOperation({
        method: 'GET',
        path: '/api/brief',
        operationId: 'brief',
        role: 'none',
        summary: 'Does not block',
        response: z.strictObject({}),
        handler: () => ({}),
      }),
    ],
  });
  const clock = { now: () => Date.now() };
  const server = createApiServer({
    operations: group.operations,
    groups: [group],
    ports: {
      documents: { forTenant: () => ({}) },
      columns: { forTenant: () => ({}) },
      clock,
      log: silentLog,
      settings: parseSettings({}),
      counters: { consume: () => ({ allowed: true }) },
    } as unknown as Ports,
  });
  const http = createServer(server.callback);
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  t.teardown(() => http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const responses = ['/api/brief', '/api/blocking', '/api/brief'].map((path) => fetch(url + path));
  await Promise.all(responses.map((response) => response.then((one) => one.text())));
  await waitForReport(seen, 'operation block');
  const line = seen.lines.find(({ work }) => work === 'operation block');
  t.is(line?.message, 'the event loop was blocked');
  t.true((line?.blockedMs ?? 0) >= blockedMs);
  t.regex(line?.stack ?? '', /blockUntil .*handler .*event-loop-watchdog\.test\.ts/);
});

test.serial('a blocking job is named', async (t) => {
  const seen = watched(t);
  const jobs = openJobs({
    documents: {} as never,
    clock: { now: () => Date.now() },
    log: silentLog,
    metrics: silentMetrics,
  });
  jobs.start(
    defineJob({
      name: 'blocking',
      summary: 'Blocks',
      everyMs: 3_600_000,
      firstMs: 1,
      scope: 'process' as const,
      run: async () => blockUntilNamed(seen, 'job blocking'),
    }),
    undefined,
  );
  await waitForReport(seen, 'job blocking');
  await jobs.stop();
  t.pass();
});

test.serial('blocking work within a regular expression is named', async (t) => {
  const seen = watched(t);
  // Each letter doubles the duration.
  for (let count = 20; !seen.counted.includes('work of an expression'); count++) {
    trackWork('work of an expression', () => /^(?:a+)+$/.test(`${'a'.repeat(count)}b`));
    await sleep(50);
  }
  t.regex(seen.lines.find(({ work }) => work === 'work of an expression')?.stack ?? '', /^RegExp\.test/);
});

test.serial('blocking work is reported before it ends', async (t) => {
  const seen = watched(t, 100);
  const { lines } = seen;
  trackWork('endless work', () => blockUntil(() => lines.some(({ work }) => work === 'endless work')));
  t.regex(lines[0]?.message ?? '', /is blocked/);
  await eventually('a line at the end', () => lines.some(({ message }) => /was blocked/.test(message)));
});

test.serial('the same blocking work is logged once a minute, and always counted', async (t) => {
  const seen = watched(t);
  for (let times = 1; times <= 3; times++) {
    trackWork('work', () => blockUntilNamed(seen, 'work'));
    await eventually('another count', () => seen.counted.filter((work) => work === 'work').length >= times);
  }
  t.is(seen.lines.filter(({ work }) => work === 'work').length, 1);
});

test.serial('work that only waits does not block', async (t) => {
  const seen = watched(t);
  // Other work may block this process in a test, but not under the name of this work.
  await trackWork('work that waits', () => sleep(300));
  t.false(seen.counted.includes('work that waits'));
});
