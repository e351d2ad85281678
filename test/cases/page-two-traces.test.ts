/** How the page compares two traces. */
import test from 'ava';
import { compareCalls, toDurationDifference } from '../../web/areas/traces/compare-traces.ts';
import type { OrderedSpan } from '../../web/areas/traces/span-order.ts';

/** A span by its depth, name and duration in milliseconds. */
const placed = (
  ...spans: readonly (readonly [depth: number, name: string, ms: number, failed?: boolean])[]
): OrderedSpan[] =>
  spans.map(
    ([depth, name, ms, failed = false]) =>
      ({
        depth,
        offsetNs: 0,
        below: 0,
        span: { service: 's', name, durationNs: String(ms * 1e6), status: failed ? 'error' : 'ok' },
      }) as never,
  );
const pairsOf = (one: OrderedSpan[], other: OrderedSpan[]) =>
  compareCalls(one, other).map((call) => [
    call.depth,
    call.name,
    call.firstStats?.count,
    call.secondStats?.count,
    toDurationDifference(call) / 1e6,
  ]);

test('calls of one name under the same parents form one line, with the difference in duration', (t) => {
  const one = placed([0, 'root', 10], [1, 'query', 2], [1, 'query', 3], [1, 'mail', 1]);
  const other = placed([0, 'root', 40], [1, 'query', 30, true], [1, 'pay', 4]);
  t.deepEqual(pairsOf(one, other), [
    [0, 'root', 1, 1, 30],
    [1, 'query', 2, 1, 25],
    [1, 'mail', 1, undefined, -1],
    [1, 'pay', undefined, 1, 4],
  ]);
  t.is(compareCalls(one, other)[1]?.secondStats?.failedCount, 1);
});

test('calls of one name under other parents are separate lines', (t) => {
  t.deepEqual(pairsOf(placed([0, 'a', 1], [1, 'x', 1]), placed([0, 'b', 1], [1, 'x', 1])), [
    [0, 'a', 1, undefined, -1],
    [1, 'x', 1, undefined, -1],
    [0, 'b', undefined, 1, 1],
    [1, 'x', undefined, 1, 1],
  ]);
});

test('a chain of calls can be as long as a trace', (t) => {
  const chain = placed(...Array.from({ length: 100_000 }, (_, depth): [number, string, number] => [depth, 'x', 1]));
  t.is(compareCalls(chain, chain).length, 100_000);
});
