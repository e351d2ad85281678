/** When checks are due, and how results become state changes. */
import test from 'ava';
import { findLastDueMs, findNextDueMs, isDueAt } from '../../../subjects/synthetics/due-times.ts';
import { findSuspects, judgeChanges, type KnownStates } from '../../../subjects/synthetics/location-votes.ts';
import { splitPeriods } from '../../../subjects/synthetics/periods.ts';
import type { Outcome } from '../../../subjects/synthetics/state.ts';
import type { CheckResult } from '../../../subjects/synthetics/stored-results.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');

test('due times are one interval apart, distributed over it, and the same in every process', (t) => {
  const phases = new Set<number>();
  for (let index = 0; index < 200; index++) {
    const check = { id: `c${index}`, every: '5m' };
    const due = findNextDueMs(check, 'local', nowMs);
    t.true(due > nowMs && due <= nowMs + 300_000);
    t.is(findNextDueMs(check, 'local', due), due + 300_000);
    t.is(findLastDueMs(check, 'local', due), due);
    t.is(findLastDueMs(check, 'local', due - 1), due - 300_000);
    t.true(isDueAt(check, 'local', due));
    t.false(isDueAt(check, 'local', due + 1000));
    phases.add(due % 300_000);
  }
  t.true(phases.size > 195, `${phases.size}`);
  t.not(findNextDueMs({ id: 'c', every: '1h' }, 'a', nowMs), findNextDueMs({ id: 'c', every: '1h' }, 'b', nowMs));
});

const check = { id: 'c', enabled: true, every: '10s', locations: ['a', 'b', 'c'], consensus: { down: null } };
const results = (outcomes: Readonly<Record<string, Outcome>>, agoMs = 1000): CheckResult[] =>
  Object.entries(outcomes).map(([location, outcome]) => ({
    checkId: 'c',
    location,
    outcome,
    startedAtMs: nowMs - agoMs,
  }));
const judged = (latest: readonly CheckResult[], known: KnownStates = {}, of = check, suspects = new Set<string>()) =>
  judgeChanges(of, known, { latest, suspects, nowMs });

test('a change starts with the result that caused it, and is reported once', (t) => {
  const up = judged(results({ a: 'passed', b: 'passed', c: 'passed' }));
  t.deepEqual(
    up.changes.map(({ location, state, atMs }) => [location, state, atMs]),
    ['', 'a', 'b', 'c'].map((location) => [location, 'up', nowMs - 1000]),
  );
  t.deepEqual(judged(results({ a: 'passed', b: 'passed', c: 'passed' }), up.known).changes, []);
  const one = judged(results({ a: 'failed', b: 'passed', c: 'passed' }, 500), up.known);
  t.deepEqual(one.changes, [{ location: 'a', state: 'down', atMs: nowMs - 500 }]);
  const two = judged(results({ a: 'failed', b: 'failed', c: 'passed' }, 200), one.known);
  t.deepEqual(
    two.changes.map(({ location, state }) => [location, state]),
    [
      ['', 'down'],
      ['b', 'down'],
    ],
  );
});

test('a silent check is unknown from when the silence was seen; so are a disabled check and a removed location', (t) => {
  const { known } = judged(results({ a: 'passed', b: 'passed', c: 'passed' }));
  const silent = judged(results({ a: 'passed', b: 'passed', c: 'passed' }, 60_000), known);
  t.deepEqual(
    silent.changes.map(({ state, atMs }) => [state, atMs]),
    Array.from({ length: 4 }, () => ['unknown', nowMs]),
  );
  const latest = results({ a: 'passed', b: 'passed', c: 'passed' });
  t.true(judged(latest, known, { ...check, enabled: false }).changes.every(({ state }) => state === 'unknown'));
  const left = judged(latest, known, { ...check, locations: ['a', 'b'] });
  t.deepEqual(left.changes, [{ location: 'c', state: 'unknown', atMs: nowMs }]);
  t.false('c' in left.known);
});

test('a location that fails while others pass is suspect, and has no vote', (t) => {
  const latest = ['c1', 'c2', 'c3', 'c4'].flatMap((checkId) =>
    results({ a: 'failed', b: 'passed' }).map((one) => ({ ...one, checkId })),
  );
  t.deepEqual([...findSuspects(latest)], ['a']);
  t.deepEqual([...findSuspects(latest.slice(0, 6))], []);
  const of = { ...check, locations: ['a', 'b'], consensus: { down: null } };
  const state = (suspects: Set<string>) =>
    judged(results({ a: 'failed', b: 'passed' }), {}, of, suspects).known['']?.state;
  t.is(state(new Set(['a'])), 'up');
});

test('months in a time zone are clipped to the range, and have no gaps', (t) => {
  const range = { fromMs: Date.parse('2026-01-15T00:00:00Z'), toMs: Date.parse('2026-04-02T00:00:00Z') };
  const months = splitPeriods(range, { period: 'month', timeZone: 'Europe/Zurich' }) ?? [];
  t.deepEqual(
    months.map(({ toMs }) => new Date(toMs).toISOString()),
    ['2026-01-31T23:00:00.000Z', '2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z', '2026-04-02T00:00:00.000Z'],
  );
  t.is(months[0]?.fromMs, range.fromMs);
  for (const [index, { fromMs }] of months.slice(1).entries()) t.true(fromMs === months[index]?.toMs);
  t.is(splitPeriods({ fromMs: 0, toMs: nowMs }, { period: 'day', timeZone: 'UTC' }), undefined);
});
