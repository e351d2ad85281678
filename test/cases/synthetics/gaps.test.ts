/** What a check was while nobody judged it: as if it had been judged all along. */
import test from 'ava';
import { fillTimeMs, type Gap, isGap, reconstructChanges } from '../../../subjects/synthetics/gaps.ts';
import { judgeChanges, type KnownStates } from '../../../subjects/synthetics/judged.ts';
import type { Outcome } from '../../../subjects/synthetics/state.ts';
import type { CheckResult } from '../../../subjects/synthetics/stored-results.ts';

const check = { id: 'c', enabled: true, every: '10s', locations: ['a', 'b', 'c'], consensus: { down: null } };
const fromMs = Date.parse('2026-03-01T12:00:00Z');
const none = new Set<string>();

/** Results by location: each letter is one interval, `.` stands for none. */
const runsOf = (texts: Readonly<Record<string, string>>): CheckResult[] => {
  const outcomes: Readonly<Record<string, Outcome>> = { p: 'passed', f: 'failed', d: 'degraded', u: 'unknown' };
  return Object.entries(texts)
    .flatMap(([location, text], place) =>
      [...text].flatMap((character, at): CheckResult[] => {
        const outcome = outcomes[character];
        if (outcome === undefined) return [];
        return [{ checkId: 'c', location, outcome, startedAtMs: fromMs - 10_000 + at * 10_000 + place * 1000 }];
      }),
    )
    .toSorted((one, other) => one.startedAtMs - other.startedAtMs);
};
const up: KnownStates = Object.fromEntries(
  ['', 'a', 'b', 'c'].map((location) => [location, { state: 'up', atMs: fromMs - 60_000 }]),
);
const gapOf = (lengthMs: number, after: KnownStates = up): Gap => ({
  fromMs,
  toMs: fromMs + lengthMs,
  before: up,
  after,
});
const stateChangesOf = (texts: Readonly<Record<string, string>>, gap = gapOf(90_000), location = '') =>
  reconstructChanges(check, gap, { runs: runsOf(texts), suspects: none })
    .filter((one) => one.location === location)
    .map(({ state, atMs }) => `${state} ${(atMs - fromMs) / 1000}`);

test('an outage that started and ended during a gap in evaluation is reported with its times', (t) => {
  t.deepEqual(stateChangesOf({ a: 'pppffppppp', b: 'pppffppppp', c: 'pppffppppp' }), ['down 21', 'up 41']);
  // One location that fails alone is down there, and nowhere else.
  const alone = { a: 'pppffppppp', b: 'pppppppppp', c: 'pppppppppp' };
  t.deepEqual(stateChangesOf(alone), []);
  t.deepEqual(stateChangesOf(alone, gapOf(90_000), 'a'), ['down 20', 'up 40']);
});

test('a check without runs is unknown after three intervals', (t) => {
  t.deepEqual(stateChangesOf({ a: 'pp.......p', b: 'pp.......p', c: 'pp.......p' }), ['unknown 32.001', 'up 80']);
  t.deepEqual(stateChangesOf({}), ['unknown 0', 'up 90']);
});

test('if the state at the end of a gap differs from the last evaluated state, it applies from that end', (t) => {
  const down = { ...up, '': { state: 'down', atMs: fromMs + 85_000 } } as const;
  t.deepEqual(stateChangesOf({ a: 'pppppppppp', b: 'pppppppppp', c: 'pppppppppp' }, gapOf(90_000, down)), ['down 90']);
  t.deepEqual(stateChangesOf({ a: 'pppppppppf', b: 'pppppppppf', c: 'pppppppppf' }), ['down 81', 'up 90']);
});

test('the changes equal those of an uninterrupted evaluation', (t) => {
  // Made up by a fixed rule; each text is longer than the gap.
  let seed = 7;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  for (let round = 0; round < 200; round++) {
    const text = (): string => Array.from({ length: 12 }, () => 'pppfffdu..'[next() % 10]).join('');
    const runs = runsOf({ a: `p${text()}`, b: `p${text()}`, c: `p${text()}` });
    const gap = gapOf(110_000);
    let known: KnownStates = up;
    const steady: string[] = [];
    for (let nowMs = fromMs + 1; nowMs < gap.toMs; nowMs += 500) {
      const latest = new Map(runs.filter((one) => one.startedAtMs <= nowMs).map((one) => [one.location, one]));
      const { known: then, changes } = judgeChanges(check, known, {
        latest: [...latest.values()],
        suspects: none,
        nowMs,
      });
      known = then;
      for (const { location, state } of changes) steady.push(`${location} ${state}`);
    }
    const found = reconstructChanges(check, { ...gap, after: known }, { runs, suspects: none });
    // Within one moment the order of locations is nobody's.
    t.deepEqual(
      found.map(({ location, state }) => `${location} ${state}`).toSorted(),
      steady.toSorted(),
      JSON.stringify(runs),
    );
  }
});

test('a gap is longer than twenty seconds, and is filled after probes have sent their stored results', (t) => {
  t.false(isGap(0, fromMs));
  t.false(isGap(fromMs - 20_000, fromMs));
  t.true(isGap(fromMs - 25_000, fromMs));
  const times = ['a', 'b', 'c', 'd'].map((id) => fillTimeMs(id, gapOf(90_000)) - gapOf(90_000).toMs);
  t.true(times.every((ms) => ms >= 300_000 && ms < 600_000));
  t.is(new Set(times).size, 4);
});
