/** States of checks whose results are read late: as if they had been read at once. */
import test from 'ava';
import {
  findCorrections,
  findMissedOutage,
  findReviewStart,
  type LocatedChange,
  mergeChanges,
  reconstructChanges,
  recordResults,
  settledAtMs,
  statesAt,
} from '../../../subjects/synthetics/late-results.ts';
import { judgeChanges, type KnownStates } from '../../../subjects/synthetics/location-votes.ts';
import type { Outcome } from '../../../subjects/synthetics/state.ts';
import type { CheckResult } from '../../../subjects/synthetics/stored-results.ts';
import { seeded } from '../random.ts';

const check = { id: 'c', enabled: true, every: '10s', locations: ['a', 'b', 'c'], consensus: { down: null } };
const fromMs = Date.parse('2026-03-01T12:00:00Z');
const none = new Set<string>();

/** Results by location: each letter is one interval, `.` is a missing result. */
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
const period = (lengthMs = 90_000) => ({ fromMs, toMs: fromMs + lengthMs, before: up });
const describe = (changes: readonly LocatedChange[], of = ''): string[] =>
  changes.filter(({ location }) => location === of).map(({ state, atMs }) => `${state} ${(atMs - fromMs) / 1000}`);
const stateChangesOf = (texts: Readonly<Record<string, string>>, location = '') =>
  describe(reconstructChanges(check, period(), { runs: runsOf(texts), suspects: none }).changes, location);

test('an outage that started and ended during a gap in evaluation is reported with its times', (t) => {
  t.deepEqual(stateChangesOf({ a: 'pppffppppp', b: 'pppffppppp', c: 'pppffppppp' }), ['down 21', 'up 41']);
  // A location that fails alone is down, and the check is not.
  const alone = { a: 'pppffppppp', b: 'pppppppppp', c: 'pppppppppp' };
  t.deepEqual(stateChangesOf(alone), []);
  t.deepEqual(stateChangesOf(alone, 'a'), ['down 20', 'up 40']);
});

test('a check without runs is unknown after three intervals', (t) => {
  t.deepEqual(stateChangesOf({ a: 'pp.......p', b: 'pp.......p', c: 'pp.......p' }), ['unknown 32.001', 'up 80']);
  t.deepEqual(stateChangesOf({}), ['unknown 0']);
});

test('the changes equal those of an uninterrupted evaluation', (t) => {
  // Pseudorandom results; each text is longer than the gap.
  let seed = 7;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  for (let round = 0; round < 200; round++) {
    const text = (): string => Array.from({ length: 12 }, () => 'pppfffdu..'[next() % 10]).join('');
    const runs = runsOf({ a: `p${text()}`, b: `p${text()}`, c: `p${text()}` });
    const gap = period(110_000);
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
    const { changes: found } = reconstructChanges(check, gap, { runs, suspects: none });
    // The order of locations at the same time is arbitrary.
    t.deepEqual(
      found.map(({ location, state }) => `${location} ${state}`).toSorted(),
      steady.toSorted(),
      JSON.stringify(runs),
    );
  }
});

test('states are recalculated from the last result that was evaluated in time', (t) => {
  const start = (
    read: Record<string, number>,
    { before = { a: 0, b: 0 }, nowMs = 12_000, judgedMs = 7000, every = '10s' } = {},
  ) => {
    const results = (startsMs: Record<string, number>): CheckResult[] =>
      Object.entries(startsMs).map(([location, ms]) => ({
        checkId: 'c',
        location,
        outcome: 'passed',
        startedAtMs: fromMs + ms,
      }));
    const known = recordResults(results(before), {}, fromMs + judgedMs);
    const next = recordResults(results(read), known, fromMs + nowMs);
    const found = findReviewStart(
      { every, locations: ['a', 'b'] },
      { judgedMs: fromMs + judgedMs, read: known },
      { read: next, nowMs: fromMs + nowMs },
    );
    return found === undefined ? undefined : found - fromMs;
  };
  const cases: readonly [string, Parameters<typeof start>, number | undefined][] = [
    ['results in time', [{ a: 10_000, b: 10_000 }], undefined],
    ['no new result', [{ a: 0, b: 0 }], undefined],
    [
      'a run between two results',
      [
        { a: 20_000, b: 10_000 },
        { nowMs: 22_000, judgedMs: 17_000 },
      ],
      0,
    ],
    [
      'a result with a delay of 45 seconds',
      [
        { a: 10_000, b: 0 },
        { nowMs: 55_000, judgedMs: 50_000 },
      ],
      0,
    ],
    [
      'the first result of a location, late',
      [{ a: 10_000 }, { before: { a: -50_000, b: 0 }, nowMs: 20_000, judgedMs: 15_000 }],
      -50_000,
    ],
    [
      'no evaluation for a time',
      [
        { a: 0, b: 0 },
        { nowMs: 30_000, judgedMs: 5000 },
      ],
      5000,
    ],
    [
      'a result within a long interval',
      [
        { a: 300_000, b: 0 },
        { nowMs: 400_000, judgedMs: 395_000, every: '5m' },
      ],
      undefined,
    ],
    [
      'results of an hour',
      [
        { a: 7_200_000, b: 0 },
        { nowMs: 7_205_000, judgedMs: 7_200_000 },
      ],
      7_205_000 - 3_900_000,
    ],
  ];
  for (const [name, given, expected] of cases) t.is(start(...given), expected, name);
});

test('a result that is late counts until the next one is due, also for the state as of now', (t) => {
  const failed = (agoMs: number): CheckResult[] =>
    ['a', 'b', 'c'].map((location) => ({ checkId: 'c', location, outcome: 'failed', startedAtMs: fromMs - agoMs }));
  const state = (agoMs: number, readAgoMs: number) => {
    const latest = failed(agoMs);
    const read = recordResults(latest, {}, fromMs - readAgoMs);
    return judgeChanges(check, up, { latest, suspects: none, read, nowMs: fromMs }).known['']?.state;
  };
  t.is(state(45_000, 0), 'down');
  t.is(state(75_000, 30_000), 'down');
  t.is(state(75_001, 30_001), 'unknown');
  // A result older than ten minutes does not determine the current state.
  t.is(state(601_000, 0), 'unknown');
});

const changesOf = (texts: readonly string[], location = ''): LocatedChange[] =>
  texts.map((text) => {
    const [state = '', seconds] = text.split(' ');
    return { location, state: state as LocatedChange['state'], atMs: fromMs + Number(seconds) * 1000 };
  });

test('corrections give the right states, whatever was stored before', (t) => {
  const next = seeded(11);
  const states = ['up', 'down', 'unknown', 'degraded'] as const;
  const create = (): LocatedChange[] =>
    ['', 'a'].flatMap((location) =>
      [...new Set(Array.from({ length: next(6) }, () => next(9) + 1))]
        .toSorted((one, other) => one - other)
        .map((second) => ({ location, state: states[next(4)] ?? 'up', atMs: fromMs + second * 1000 })),
    );
  for (let round = 0; round < 500; round++) {
    const [stored, right] = [mergeChanges(create()), mergeChanges(create())];
    const corrected = mergeChanges(stored, findCorrections(stored, { fromMs, before: up }, right));
    for (let second = 0; second <= 10; second++) {
      const at = (changes: readonly LocatedChange[], location: string) =>
        (statesAt(changes, fromMs + second * 1000 + 500)[location] ?? up[location])?.state;
      for (const location of ['', 'a']) t.is(at(corrected, location), at(right, location), `${round} at ${second}`);
    }
  }
  t.deepEqual(findCorrections(changesOf(['down 5']), { fromMs, before: up }, changesOf(['down 5'])), []);
});

test('an outage that was known when it was over is found once', (t) => {
  const find = (stored: readonly string[], right: readonly string[]): string | undefined => {
    const span = findMissedOutage(changesOf(stored), changesOf(right), { fromMs, toMs: fromMs + 90_000 });
    return span && `${(span.fromMs - fromMs) / 1000} to ${(span.toMs - fromMs) / 1000}`;
  };
  t.is(find(['up -60'], ['up -60', 'down 10', 'up 70']), '10 to 70');
  t.is(find(['up -60', 'unknown 32'], ['up -60', 'down 10', 'up 70']), '10 to 70');
  t.is(find(['up -60', 'down 10', 'up 70'], ['up -60', 'down 10', 'up 70']), undefined);
  t.is(find(['up -60', 'down 40'], ['up -60', 'down 10', 'up 70']), undefined);
  t.is(find(['down -60'], ['down -60', 'up 70']), undefined);
  // The outage continues, so it is the current state.
  t.is(find(['up -60'], ['up -60', 'down 10']), undefined);
});

test('a period is evaluated a second time when results in any order have arrived', (t) => {
  const times = ['a', 'b', 'c', 'd'].map((id) => settledAtMs(id, fromMs) - fromMs);
  t.true(times.every((ms) => ms >= 300_000 && ms < 600_000));
  t.is(new Set(times).size, 4);
});
