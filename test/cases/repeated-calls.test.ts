/** Calls that one span repeats. */
import test from 'ava';
import { type CallSpan, findRepeatedCalls } from '../../queries/traces/repeated-calls.ts';

const call = (more: Partial<CallSpan> = {}): CallSpan => ({
  kind: 3,
  service: 'cart',
  name: 'SELECT',
  statement: '1',
  ...more,
});
const root = call({ kind: 2 });

/** Finds repeated calls among children of the first span; the critical path time of each equals its position. */
const repeatedOf = (calls: readonly CallSpan[]) =>
  findRepeatedCalls(calls, {
    parents: Int32Array.from(calls, (_, at) => (at === 0 ? -1 : 0)),
    criticalPathNs: Float64Array.from(calls, (_, at) => at),
  });

test('four calls of one statement under one span are reported, with the time spent waiting', (t) => {
  t.deepEqual(repeatedOf([root, call(), call(), call(), call()]), [
    { caller: 0, firstCall: 1, count: 4, criticalPathNs: 10 },
  ]);
  t.deepEqual(repeatedOf([root, call({ kind: 4 }), ...Array.from({ length: 3 }, () => call({ kind: 4 }))]).length, 1);
});

for (const [title, calls] of [
  ['three calls', [call(), call(), call()]],
  ['calls of two statements', [call(), call(), call({ statement: '2' }), call({ statement: '2' })]],
  ['calls of two names', [call(), call(), call({ name: 'GET' }), call({ name: 'GET' })]],
  ['calls of two services', [call(), call(), call({ service: 'web' }), call({ service: 'web' })]],
  ['spans of the inside', Array.from({ length: 9 }, () => call({ kind: 1 }))],
] as const)
  test(`${title} are not repeated`, (t) => {
    t.deepEqual(repeatedOf([root, ...calls]), []);
  });

test('calls of several callers are counted separately', (t) => {
  const calls = [root, root, call(), call(), call(), call(), call()];
  const parents = Int32Array.from([-1, 0, 0, 1, 1, 1, 1]);
  const criticalPathNs = new Float64Array(calls.length);
  t.deepEqual(findRepeatedCalls(calls, { parents, criticalPathNs }), [
    { caller: 1, firstCall: 3, count: 4, criticalPathNs: 0 },
  ]);
});

test('calls with the longest waiting time are listed first', (t) => {
  const found = repeatedOf([root, ...Array.from({ length: 8 }, (_, at) => call({ name: at < 4 ? 'early' : 'late' }))]);
  t.deepEqual(
    found.map(({ firstCall }) => firstCall),
    [5, 1],
  );
});
