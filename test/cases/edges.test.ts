/** Service edges computed from a stream of spans. */
import test from 'ava';
import fc from 'fast-check';
import { flow, sumsOf } from './edges/flow.ts';
import { type EdgeMetricsByKey, joinSpans } from './edges/join.ts';
import { arrivalsOf, beginMs, kinds, madeUpTraces, type RawSpan } from './edges/traces.ts';

test('the edges equal a join over all raw spans, regardless of order, batches, clocks and restarts', (t) => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 1, max: 4 }),
      (seed, count, partitions) => {
        const raw = madeUpTraces(seed, count);
        const { edges, problems, holding } = flow(arrivalsOf(raw, seed, partitions), {
          seed,
          partitions,
          restarts: 0.1,
        });
        t.deepEqual(sumsOf(edges), joinSpans(raw));
        t.is(problems, 0);
        t.is(holding, 0, 'nothing waits at the end');
      },
    ),
    { numRuns: 40 },
  );
});

test('the queue time of a message matches its spans, to the microsecond', (t) => {
  const sent = (kind: number, startMs: number, links: RawSpan['links']): RawSpan => ({
    trace: '1'.repeat(32),
    id: String(kind).repeat(16),
    parent: '',
    kind,
    service: `s${kind}`,
    project: 'p',
    environment: '',
    startMs,
    durationNs: 100_000,
    failed: false,
    links,
    arrivesMs: beginMs + 1_000,
    attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': 'orders' },
  });
  const producer = sent(kinds.producer, beginMs + 0.9, []);
  const consumer = sent(kinds.consumer, beginMs + 3.25, [{ trace: producer.trace, id: producer.id }]);
  const { edges } = flow(arrivalsOf([producer, consumer], 1, 1), { seed: 1, partitions: 1 });
  t.like(
    edges.find(({ connection }) => connection === 'message'),
    { durationSum: 2_250_000, requests: 1 },
  );
});

/** Returns the requests and total duration by called service, and the number of unpaired calls. */
const totalOf = (
  sums: EdgeMetricsByKey,
): { readonly called: number; readonly serverNs: number; readonly unpaired: number } => {
  const total = { called: 0, serverNs: 0, unpaired: 0 };
  for (const [key, { requests, serverDurationSum, unpaired }] of Object.entries(sums)) {
    total.serverNs += serverDurationSum;
    total.unpaired += unpaired;
    const { server } = JSON.parse(key) as { server: string };
    if (server.startsWith('service-')) total.called += requests;
  }
  return total;
};

test('spans that are ten minutes late are neither lost nor counted twice, and unpaired spans are counted as unpaired', (t) => {
  let [more, late] = [0, 0];
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 40, max: 120 }), (seed, count) => {
      const raw = madeUpTraces(seed, count, { delayMs: 600_000, repeated: 0 });
      const { edges, problems, holding } = flow(arrivalsOf(raw, seed, 2), { seed, partitions: 2, restarts: 0.1 });
      const [got, all] = [totalOf(sumsOf(edges)), totalOf(joinSpans(raw))];
      t.deepEqual([got.called, got.serverNs], [all.called, all.serverNs]);
      more += got.unpaired - all.unpaired;
      late += edges.filter(({ unpaired }) => unpaired.late !== undefined).length;
      t.deepEqual([problems, holding], [0, 0]);
    }),
    { numRuns: 15 },
  );
  t.true(more > 0 && late > 0);
});
