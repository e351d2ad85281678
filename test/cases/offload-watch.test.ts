/** Metrics and logs about bodies that a worker fails to check, and the share of its queue and memory for browsers. */
import test from 'ava';
import { InFlight } from '../../receivers/engine/in-flight.ts';
import { Offload } from '../../receivers/engine/offload.ts';
import { OffloadWatch } from '../../receivers/engine/offload-watch.ts';
import { PendingBodies } from '../../receivers/engine/pending-bodies.ts';
import { requireFormat } from '../../receivers/registry.ts';
import { defaultBrowserPrivacy } from '../../schemas/browser-privacy.ts';
import { stretched } from '../waiting.ts';

/** A worker that never responds. */
const silentWorker = new URL('data:text/javascript,setInterval(() => {}, 1000)');

test('a worker that stops is visible in metrics, in readiness, and once in the log', async (t) => {
  const offload = new Offload(silentWorker);
  const gauges = new Map<string, number>();
  const lines: string[] = [];
  let stalledMs = 0;
  const watch = new OffloadWatch({
    offloads: {
      browser: {
        get pending() {
          return offload.pending;
        },
        getOldestMs: () => offload.getOldestMs() + stalledMs,
      },
    },
    metrics: { set: (name, value, labels) => gauges.set(`${name} ${JSON.stringify(labels)}`, value) },
    log: { info: (_fields, line) => lines.push(line), warn: (_fields, line) => lines.push(line) },
  });
  t.teardown(async () => {
    watch.close();
    await offload.close();
  });
  const readGauge = (name: string): number => gauges.get(`oiq_ingest_waiting_${name} {"bodies":"browser"}`) ?? -1;
  t.deepEqual([readGauge('bodies'), readGauge('oldest_seconds')], [0, 0]);
  const format = requireFormat('browser-otlp-json');
  const browser = { application: 'shop', privacy: defaultBrowserPrivacy };
  for (let count = 0; count < 2; count++)
    void offload.prepare({ signal: 'logs', format, encoding: 'identity', browser }, [Buffer.from('{}')], 100);
  await new Promise((resolve) => setTimeout(resolve, stretched(20)));
  watch.report();
  t.is(readGauge('bodies'), 2);
  t.true(readGauge('oldest_seconds') > 0);
  t.is(watch.describeDegradation(), undefined);
  stalledMs = 20_000;
  watch.report();
  watch.report();
  t.regex(watch.describeDegradation() ?? '', /^2 browser bodies wait to be checked, the oldest for 2\d seconds/);
  t.is(lines.length, 1);
  stalledMs = 0;
  watch.report();
  t.is(lines.at(-1), 'bodies are checked again');
});

test('a flood of one visitor or one key leaves room in the queue', (t) => {
  const bodies = new PendingBodies();
  const countAdmitted = (keyId: string, getVisitor: (index: number) => string): number =>
    Array.from({ length: 64 }, (_, index) => bodies.enter(keyId, getVisitor(index))).filter(
      (refusal) => refusal === undefined,
    ).length;
  t.is(
    countAdmitted('a', () => 'one'),
    8,
  );
  t.is(
    countAdmitted('a', (index) => `visitor ${index}`),
    24,
  );
  t.like(bodies.enter('a', 'other'), { kind: 'rate-limited', retryAfterSeconds: 1 });
  t.is(bodies.enter('b', 'one'), undefined);
  bodies.leave('a', 'one');
  t.is(bodies.enter('a', 'other'), undefined);
});

test('bodies of browsers leave memory for servers, and those of a visitor for other visitors', (t) => {
  const inFlight = new InFlight();
  const reserve = (visitor: string | undefined): number => {
    let mebibytes = 0;
    while (inFlight.reserveBytes(1024 * 1024, visitor) === undefined) mebibytes++;
    return mebibytes;
  };
  t.is(reserve('one'), 10);
  t.like(inFlight.reserveBytes(1, 'one'), { kind: 'rate-limited' });
  t.is(
    Array.from({ length: 20 }, (_, index) => reserve(`visitor ${index}`)).reduce((sum, count) => sum + count),
    86,
  );
  t.like(inFlight.reserveBytes(1, 'last'), { kind: 'unavailable' });
  t.is(reserve(undefined), 160);
  inFlight.release(10 * 1024 * 1024, 'one');
  t.is(reserve('last'), 10);
});
