/** States of checks: votes of locations, suspects, consensus, retries; and uptime to the millisecond. */
import test from 'ava';
import { getWallClock } from '../../../runtime/wall-clock.ts';
import {
  type CheckState,
  evaluateState,
  findSuspicion,
  getFinalOutcome,
  getRetryDelayMs,
  type Outcome,
} from '../../../subjects/synthetics/state.ts';
import { computeUptime, type StateChange, type TimePeriod } from '../../../subjects/synthetics/uptime.ts';

const everyMs = 60_000;
const nowMs = Date.UTC(2026, 5, 1, 12);

interface Given {
  readonly consensus?: number;
  readonly suspects?: readonly string[];
  readonly isMaintenance?: boolean;
}

const outcomes: Readonly<Record<string, Outcome>> = { p: 'passed', d: 'degraded', f: 'failed', u: 'unknown' };

/**
 * Results as letters, one per location: p, d, f, u; `F` is a failure that is too old to count, `-` is a missing result.
 */
const judged = (results: string, { consensus, suspects = [], isMaintenance = false }: Given = {}) =>
  evaluateState({
    locations: new Map(
      [...results].map((character, index) => {
        const outcome = outcomes[character.toLowerCase()];
        const startedAtMs = character === 'F' ? nowMs - 3 * everyMs - 1 : nowMs - everyMs;
        return [`l${index}`, outcome === undefined ? undefined : { outcome, startedAtMs }];
      }),
    ),
    suspects: new Set(suspects),
    ...(consensus === undefined ? {} : { consensus }),
    everyMs,
    nowMs,
    isMaintenance,
  });

test('a check is down when as many voting locations fail as the consensus requires', (t) => {
  const table: readonly (readonly [results: string, state: CheckState, given?: Given])[] = [
    ['', 'unknown'],
    ['-', 'unknown'],
    ['u', 'unknown'],
    ['F', 'unknown'],
    ['p', 'up'],
    ['d', 'degraded'],
    ['f', 'down'],
    ['pf', 'up'],
    ['ff', 'down'],
    ['df', 'degraded'],
    ['ppf', 'up'],
    ['pff', 'down'],
    ['pdf', 'degraded'],
    ['pdd', 'degraded'],
    ['ppd', 'up'],
    ['ppff', 'up'],
    ['pfff', 'down'],
    ['ppf', 'down', { consensus: 1 }],
    ['pff', 'up', { consensus: 3 }],
    ['pff', 'maintenance', { isMaintenance: true }],
    // Unknown, old and missing results do not vote.
    ['uff', 'down', { consensus: 2 }],
    ['puf', 'up'],
    ['pFF', 'up'],
    ['-f', 'down'],
    // A suspect location has no vote, and does not make the consensus unreachable.
    ['fpp', 'up', { suspects: ['l0'], consensus: 1 }],
    ['pff', 'down', { suspects: ['l0'], consensus: 3 }],
    ['f', 'unknown', { suspects: ['l0'] }],
  ];
  for (const [results, state, given] of table) {
    t.is(judged(results, given).state, state, `${results} ${JSON.stringify(given ?? {})}`);
  }
});

test('a location that fails alone, below the consensus, is reported', (t) => {
  t.like(judged('ppf'), { failing: ['l2'], voters: 3, requiredFailures: 2, isBelowConsensus: true });
  t.like(judged('pff'), { failing: ['l1', 'l2'], isBelowConsensus: false });
  t.like(judged('ppp'), { failing: [], isBelowConsensus: false });
  t.like(judged('fpp', { suspects: ['l0'] }), { failing: [], voters: 2, isBelowConsensus: false });
});

test('a location is suspect when it sends no results for three intervals or fails more than half of the checks that pass elsewhere', (t) => {
  const suspicion = (record: object) =>
    findSuspicion({ lastSeenAtMs: nowMs, comparedRuns: 0, loneFailures: 0, ...record }, { everyMs, nowMs });
  t.is(suspicion({}), undefined);
  t.is(suspicion({ lastSeenAtMs: nowMs - 3 * everyMs }), undefined);
  t.is(suspicion({ lastSeenAtMs: nowMs - 3 * everyMs - 1 }), 'silent');
  t.is(suspicion({ comparedRuns: 10, loneFailures: 5 }), undefined);
  t.is(suspicion({ comparedRuns: 10, loneFailures: 6 }), 'differs');
  t.is(suspicion({ comparedRuns: 1, loneFailures: 1 }), undefined);
});

test('a retry that passes overrides the failed attempts before it', (t) => {
  const attempts = (outcomeCodes: string) =>
    [...outcomeCodes].map((character) => ({ outcome: outcomes[character] ?? 'unknown' }));
  const table: readonly (readonly [attempts: string, outcome: Outcome, againIn: number | undefined])[] = [
    ['p', 'passed', undefined],
    ['f', 'failed', 5000],
    ['ff', 'failed', 5000],
    ['fff', 'failed', undefined],
    ['fp', 'passed', undefined],
    ['d', 'degraded', undefined],
    ['u', 'unknown', undefined],
    ['', 'unknown', undefined],
  ];
  for (const [outcomeCodes, outcome, againIn] of table) {
    t.is(getFinalOutcome(attempts(outcomeCodes)), outcome);
    t.is(getRetryDelayMs(attempts(outcomeCodes), { count: 2, waitMs: 5000 }), againIn, outcomeCodes);
  }
});

test('uptime excludes unknown time and planned downtime, and is reported with and without exclusions', (t) => {
  const changes: StateChange[] = [
    { atMs: 100, state: 'up' },
    { atMs: 400, state: 'degraded' },
    { atMs: 500, state: 'down' },
    { atMs: 600, state: 'unknown' },
    { atMs: 700, state: 'up' },
  ];
  const period = { fromMs: 0, toMs: 1000 };
  t.deepEqual(computeUptime(changes, [], period), {
    ...period,
    upMs: 700,
    downMs: 100,
    unknownMs: 200,
    excludedMs: 0,
    uptime: 700 / 800,
    uptimeWithoutExclusions: 700 / 800,
  });
  const downtimes = [
    { fromMs: 540, toMs: 800 },
    { fromMs: 450, toMs: 550 },
    { fromMs: 950, toMs: 5000 },
  ];
  t.deepEqual(computeUptime(changes, downtimes, period), {
    ...period,
    upMs: 500,
    downMs: 0,
    unknownMs: 100,
    excludedMs: 400,
    uptime: 1,
    uptimeWithoutExclusions: 700 / 800,
  });
  t.like(computeUptime([], [], period), { unknownMs: 1000, uptime: null, uptimeWithoutExclusions: null });
  t.like(computeUptime(changes, [], { fromMs: 510, toMs: 511 }), { downMs: 1, uptime: 0 });
});

test('the months in a time zone add up to their year, to the millisecond', (t) => {
  const clock = getWallClock('Europe/Zurich');
  const months = Array.from({ length: 13 }, (_, month) => clock.getInstant(Date.UTC(2026, month)));
  const year: TimePeriod = { fromMs: months[0] ?? 0, toMs: months[12] ?? 0 };
  // Steps of a prime length never coincide with the start of a month.
  const states = ['up', 'down', 'degraded', 'unknown'] as const;
  const changes = Array.from({ length: 3000 }, (_, index) => ({
    atMs: year.fromMs - 999_983 + index * 10_000_019,
    state: states[index % 4] ?? 'up',
  }));
  const downtimes = Array.from({ length: 60 }, (_, index) => {
    const fromMs = year.fromMs + index * 600_000_007;
    return { fromMs, toMs: fromMs + 86_400_011 };
  });
  const parts = months
    .slice(1)
    .map((toMs, index) => computeUptime(changes, downtimes, { fromMs: months[index] ?? 0, toMs }));
  const whole = computeUptime(changes, downtimes, year);
  for (const key of ['upMs', 'downMs', 'unknownMs', 'excludedMs'] as const) {
    t.true(whole[key] > 0);
    t.is(
      parts.reduce((sum, part) => sum + part[key], 0),
      whole[key],
    );
  }
  t.is(whole.upMs + whole.downMs + whole.unknownMs + whole.excludedMs, year.toMs - year.fromMs);
});
