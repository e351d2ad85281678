/** Calls counted by edge and minute. */
import test from 'ava';
import { type Edge, EdgeCounts } from '../../processors/edges/counts.ts';
import { countCall, flush } from '../../processors/edges/flush.ts';
import { ServiceEdge } from '../../schemas/edges.ts';

const edge: Edge = {
  projectId: 'shop',
  serverProjectId: 'shop',
  connection: 'request',
  system: '',
  address: '',
  via: '',
  client: 'cart',
  clientKind: 'service',
  clientEnvironment: '',
  server: 'pay',
  serverKind: 'service',
  serverEnvironment: '',
};
const startMs = Date.UTC(2026, 2, 1, 10, 0, 59, 999);

test('calls with the same edge and minute form one value, and another minute or edge forms another', (t) => {
  const counts = new EdgeCounts();
  counts.add(edge, { startMs, failed: true, durationNs: 1023, serverDurationNs: 5 });
  counts.add(edge, { startMs, failed: false, durationNs: 0, unpaired: 'late' });
  counts.add(edge, { startMs: startMs + 1, failed: false });
  counts.add({ ...edge, via: 'orders' }, { startMs, failed: false });
  const values = counts.drain('acme').map((value) => ServiceEdge.parse(value));
  t.deepEqual(
    values.map(({ minute, via, requests, errors, timed }) => [
      new Date(minute).toISOString(),
      via,
      requests,
      errors,
      timed,
    ]),
    [
      ['2026-03-01T10:00:00.000Z', '', 2, 1, 2],
      ['2026-03-01T10:01:00.000Z', '', 1, 0, 0],
      ['2026-03-01T10:00:00.000Z', 'orders', 1, 0, 0],
    ],
  );
  t.like(values[0], { durationSum: 1023, durationMax: 1023, serverDurationSum: 5, unpaired: { late: 1 } });
  t.deepEqual(values[0]?.durationBuckets, { 0: 1, 80: 1 });
  t.deepEqual([counts.entries, counts.bytes], [0, 0], 'and nothing is left');
});

test('a span with any clock value is counted in a minute within the table range, and sums stay integers', (t) => {
  const counts = new EdgeCounts();
  const durationNs = Number.MAX_SAFE_INTEGER - 1;
  for (const at of [startMs * 1000, startMs * 1000]) counts.add(edge, { startMs: at, failed: false, durationNs });
  const [value] = counts.drain('acme');
  t.is(new Date(value?.minute ?? 0).toISOString(), '2106-02-07T06:28:00.000Z');
  t.is(value?.durationSum, Number.MAX_SAFE_INTEGER);
});

test('counts are emitted half a minute after the first count, or at 5,000 edges', (t) => {
  const counts = new EdgeCounts();
  const timers: unknown[][] = [];
  const emitted: ServiceEdge[] = [];
  const context = { tenantId: 'acme', clockMs: startMs, setTimer: (...timer: unknown[]) => timers.push(timer) };
  const addServer = (server: string) =>
    countCall(counts, { ...edge, server }, { startMs, failed: false }, context, (value) => emitted.push(value));
  for (let index = 0; index < 4_999; index++) addServer(`pay-${index}`);
  t.deepEqual(timers, [['clock', startMs + 30_000, 'flush']]);
  t.is(emitted.length, 0);
  addServer('one more');
  t.is(emitted.length, 5_000);
  addServer('and the next');
  t.is(timers.length, 2);
  flush(counts, 'acme', (value) => emitted.push(value));
  t.is(emitted.length, 5_001);
});
