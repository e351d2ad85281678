/** The verdicts on a check for alert rules and the event feed, in words. */
import test from 'ava';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { createStateEvent } from '../../../subjects/synthetics/events.ts';
import { judgeChanges, type KnownStates } from '../../../subjects/synthetics/location-votes.ts';
import type { Outcome } from '../../../subjects/synthetics/state.ts';
import type { CheckResult } from '../../../subjects/synthetics/stored-results.ts';
import { createVerdict, type FailedAlone } from '../../../subjects/synthetics/verdict.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const names = new Map([
  ['f', 'Frankfurt'],
  ['z', 'Zurich'],
]);
const check = {
  id: 'c',
  name: 'Shop',
  enabled: true,
  every: '10s',
  labels: { service: 'cart' },
  projectId: null,
  locations: ['f', 'z', 'local'],
  consensus: { down: null },
};
const outcomes: Readonly<Record<string, Outcome>> = { p: 'passed', d: 'degraded', f: 'failed', u: 'unknown' };

/** Results as letters, in the order of the locations of the check. */
const latestOf = (outcomeCodes: string, startedAtMs: number): CheckResult[] =>
  [...outcomeCodes].map((outcomeCode, index) => ({
    checkId: 'c',
    location: check.locations[index] ?? '',
    startedAtMs,
    outcome: outcomes[outcomeCode] ?? 'unknown',
    message: outcomeCode === 'f' ? 'status is 500, expected: lt 400' : outcomeCode === 'd' ? 'took 2 s' : '',
  }));

/** Evaluated every ten seconds, with results from a second before. */
const judged = (
  rounds: readonly string[],
  { suspects = [] as string[], downtime = undefined as object | undefined } = {},
) => {
  let states: KnownStates = {};
  let lastAloneMs: FailedAlone = {};
  return rounds.map((outcomeCodes, round) => {
    const atMs = nowMs + round * 10_000;
    const input = { latest: latestOf(outcomeCodes, atMs - 1000), suspects: new Set(suspects), nowMs: atMs };
    states = judgeChanges(check, states, input).known;
    const span = downtime && { fromMs: nowMs, toMs: nowMs + 3_600_000 };
    const found = createVerdict(check, { ...input, states, lastAloneMs, names, downtime: span });
    lastAloneMs = found.alone;
    return found.verdict;
  });
};
const last = (...parameters: Parameters<typeof judged>) => judged(...parameters).at(-1);

const { heartbeat: heartbeatOf } = CheckFields.parse({ name: 'job', type: 'heartbeat', heartbeat: {} });
const job = { ...check, every: '5m', locations: [], heartbeat: heartbeatOf };
for (const [title, latest, state, expectedMessage] of [
  ['passed', { outcome: 'passed', message: '' }, 'up', 'its job reported success'],
  [
    'failed',
    { outcome: 'failed', message: 'it ended with exit code 3' },
    'down',
    'its job failed – it ended with exit code 3',
  ],
  ['is unknown', undefined, 'unknown', 'its job sent no heartbeat, possibly because OIQ was unavailable'],
] as const)
  test(`a verdict states that a job ${title}`, (t) => {
    const found = latest && [{ checkId: 'c', location: 'heartbeat', startedAtMs: nowMs - 1000, ...latest }];
    const input = { latest: found ?? [], suspects: new Set<string>(), nowMs };
    const states = judgeChanges(job, {}, input).known;
    const { verdict } = createVerdict(job, { ...input, states, lastAloneMs: {}, names, downtime: undefined });
    t.is(verdict.state, state);
    t.true(verdict.says.endsWith(`: ${expectedMessage}`), verdict.says);
    t.deepEqual(verdict.locations, []);
  });

test('a verdict states what failed, where and since when', (t) => {
  const since = '2026-03-01 11:59:59 UTC';
  const table = [
    ['ppp', 'up', `it has been up since ${since}: 3 of 3 locations pass`],
    ['ppf', 'up', `it has been up since ${since}: 2 of 3 locations pass`],
    ['ppu', 'up', `it has been up since ${since}: 2 of 2 locations pass`],
    [
      'ffp',
      'down',
      `it has been down since ${since}: 2 of 3 locations fail – Frankfurt: status is 500, expected: lt 400; Zurich: status is 500, expected: lt 400`,
    ],
    [
      'pdd',
      'degraded',
      `it has been degraded since ${since}: it is slow, or near a limit – Zurich: took 2 s; local: took 2 s`,
    ],
    [
      'uuu',
      'unknown',
      'it has been unknown since 2026-03-01 12:00:00 UTC: no voting location has a result of the last three intervals',
    ],
  ] as const;
  for (const [outcomeCodes, state, expectedSummary] of table)
    t.like(last([outcomeCodes]), { state, says: expectedSummary, isMaintenance: false }, outcomeCodes);
  t.is(
    last(['fpp'], { suspects: ['f'] })?.says,
    `it has been up since ${since}: 2 of 2 locations pass; Frankfurt is suspect and cannot vote`,
  );
});

test('a location that keeps failing below the consensus is reported, and so is its recovery', (t) => {
  const failingLocations = (rounds: readonly string[], more = {}) =>
    judged(rounds, more).map(({ locations }) => locations.map(({ location, fails }) => `${location} ${fails}`).join());
  t.deepEqual(failingLocations(['ppf', 'ppf', 'ppp']), ['', '', ''], 'once is too short');
  t.deepEqual(failingLocations(['ppp', 'ppf', 'ppf', 'ppf', 'ppp', 'ppp']), [
    '',
    '',
    '',
    'local true',
    'local false',
    'local false',
  ]);
  // If the others fail too, the check is down and reports it.
  t.deepEqual(failingLocations(['ppf', 'ppf', 'ppf', 'pff', 'ppf']), [
    '',
    '',
    'local true',
    'local false',
    'local true',
  ]);
  t.deepEqual(
    failingLocations(['ppf', 'ppf', 'ppf', 'ppf'], { suspects: ['local'] }),
    ['', '', '', ''],
    'it has no vote',
  );
  const [failing] = last(['ppf', 'ppf', 'ppf'])?.locations ?? [];
  t.is(
    failing?.says,
    'it fails at local: status is 500, expected: lt 400, since 2026-03-01 11:59:59 UTC; 1 of 3 fail, and 2 are required',
  );
  const quiet = ['ppf', 'ppf', 'ppf', ...Array.from({ length: 62 }, () => 'ppp')];
  t.is(failingLocations(quiet).at(-1), '', 'after ten minutes it is forgotten');
});

test('after an outage, a location fails alone from when the others passed', (t) => {
  const rounds = ['fff', 'fff', 'fff', 'ppf', 'ppf', 'ppf', 'ppp'];
  const failing = judged(rounds).map(({ locations }) => locations.map(({ location, fails }) => [location, fails]));
  t.deepEqual(failing, [[], [], [], [], [], [['local', true]], [['local', false]]]);
});

test('a planned downtime is reported in addition to the state of the check', (t) => {
  const verdict = last(['fff'], { downtime: {} });
  t.like(verdict, { state: 'down', isMaintenance: true });
  t.regex(verdict?.says ?? '', /it has been down since .*; in planned downtime until 2026-03-01 13:00:00 UTC$/);
});

test('the event feed reports state changes, except those in planned downtime and the first one', (t) => {
  const states = ['up', 'degraded', 'down', 'unknown'] as const;
  const reportedChanges = (of: object = {}, isMaintenance = false) =>
    states.flatMap((before) =>
      states.flatMap((state) =>
        before !== state &&
        createStateEvent(
          { ...check, ...of },
          { tenantId: 'a', atMs: nowMs, before, verdict: { state, says: 'x', isMaintenance } },
        )
          ? [`${before} ${state}`]
          : [],
      ),
    );
  t.deepEqual(reportedChanges(), [
    ...['up degraded', 'up down', 'up unknown', 'degraded up', 'degraded down', 'degraded unknown'],
    ...['down up', 'down degraded', 'down unknown', 'unknown degraded', 'unknown down'],
  ]);
  t.deepEqual(reportedChanges({}, true), []);
  t.false(reportedChanges({ enabled: false }).some((change) => change.endsWith('unknown')));
  const verdict = { state: 'down', says: 'it is down', isMaintenance: false } as const;
  t.like(createStateEvent(check, { tenantId: 'a', atMs: nowMs, before: 'up', verdict }), {
    kind: 'check',
    title: 'Shop is down',
    severity: 'error',
    service: 'cart',
    at: '2026-03-01T12:00:00.000Z',
    details: { checkId: 'c', from: 'up', to: 'down' },
  });
});
