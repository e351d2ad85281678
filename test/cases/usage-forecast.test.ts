/** The forecast usage and cost of a month, and what a change of plan would lose. */
import test from 'ava';
import { computeCost } from '../../api/groups/usage/billing.ts';
import { findLosses, limitRetention } from '../../api/groups/usage/change-plan.ts';
import { toKnownNumber, toUnknownNumber } from '../../queries/unknown-numbers.ts';
import { defaultPlans, type Plan, type Price } from '../../schemas/resources/plan.ts';
import { Quota } from '../../schemas/resources/quota.ts';
import { forecastTotal } from '../../subjects/usage/forecast.ts';
import { toQuotaStates, type UsedBytes } from '../../subjects/usage/quota-states.ts';

const march = { fromMs: Date.UTC(2026, 2, 1), endMs: Date.UTC(2026, 3, 1) };
const days = (entries: Record<string, number>) => new Map(Object.entries(entries));

/** Five weeks in which working days have 100, and other days 20. */
const workdays = Object.fromEntries(
  Array.from({ length: 35 }, (_, index) => {
    const date = new Date(Date.UTC(2026, 1, 10 + index));
    return [date.toISOString().slice(0, 10), [0, 6].includes(date.getUTCDay()) ? 20 : 100];
  }),
);

const forecasts: readonly [
  title: string,
  byDay: Record<string, number>,
  now: string,
  first: string,
  expected: unknown,
][] = [
  [
    'nothing was ever counted',
    {},
    '2026-03-10T12:00:00Z',
    '',
    toUnknownNumber('complete days of history: 0; a forecast needs 3'),
  ],
  [
    'it began yesterday',
    { '2026-03-09': 5 },
    '2026-03-10T12:00:00Z',
    '2026-03-09',
    toUnknownNumber('complete days of history: 0; a forecast needs 3'),
  ],
  [
    'one complete day',
    { '2026-03-08': 5, '2026-03-09': 5 },
    '2026-03-10T12:00:00Z',
    '2026-03-08',
    toUnknownNumber('complete days of history: 1; a forecast needs 3'),
  ],
  [
    'two complete days',
    { '2026-03-07': 5, '2026-03-08': 10, '2026-03-09': 20 },
    '2026-03-10T12:00:00Z',
    '2026-03-07',
    toUnknownNumber('complete days of history: 2; a forecast needs 3'),
  ],
  // The rest of today, and 21 days.
  [
    'each day has as much',
    { '2026-03-06': 10, '2026-03-07': 10, '2026-03-08': 10, '2026-03-09': 10, '2026-03-10': 4 },
    '2026-03-10T12:00:00Z',
    '2026-03-05',
    toKnownNumber(40 + 10 + 10 * 21),
  ],
  [
    'today has more than was foreseen',
    { '2026-03-06': 10, '2026-03-07': 10, '2026-03-08': 10, '2026-03-09': 10, '2026-03-10': 50 },
    '2026-03-10T12:00:00Z',
    '2026-03-05',
    toKnownNumber(90 + 10 * 21),
  ],
  // 22 working days in March, and 9 other days.
  ['days of the week differ', workdays, '2026-03-17T12:00:00Z', '2026-01-01', toKnownNumber(22 * 100 + 9 * 20)],
  [
    'it is over',
    { '2026-03-08': 10, '2026-03-09': 10 },
    '2026-04-01T00:00:00Z',
    '2026-01-01',
    toUnknownNumber('the period is over'),
  ],
];
for (const [title, byDay, now, first, expected] of forecasts) {
  test(`a forecast when ${title}`, (t) => {
    const input = {
      byDay: days(byDay),
      period: march,
      nowMs: Date.parse(now),
      firstDay: first === '' ? undefined : first,
    };
    t.deepEqual(forecastTotal(input), expected as never);
  });
}

const price: Price = {
  currency: 'EUR',
  perMonth: 20,
  perGigabyte: { logs: 0.5, metrics: 0.1, traces: null },
  includedGigabytes: { logs: 10, metrics: 0, traces: 5 },
};
const gigabytes = (logs: number, metrics: number, traces: number) => ({
  logs: toKnownNumber(logs * 1e9),
  metrics: toKnownNumber(metrics * 1e9),
  traces: toKnownNumber(traces * 1e9),
});

test('volume above the included volume is charged, and a charge without a price is unknown', (t) => {
  t.deepEqual(computeCost(price, gigabytes(12, 3, 5)), {
    signals: { logs: toKnownNumber(1), metrics: toKnownNumber(0.3), traces: toKnownNumber(0) },
    total: toKnownNumber(21.3),
  });
  const unpriced = toUnknownNumber('traces have no price on this plan');
  t.deepEqual(computeCost(price, gigabytes(1, 0, 5.1)), {
    signals: { logs: toKnownNumber(0), metrics: toKnownNumber(0), traces: unpriced },
    total: unpriced,
  });
  t.deepEqual(computeCost(null, gigabytes(0, 0, 0)).total, toUnknownNumber('the plan has no price'));
  const late = toUnknownNumber('too little history');
  t.deepEqual(computeCost(price, { ...gigabytes(0, 0, 0), metrics: late }).total, late);
});

const planOf = (id: string): Plan => defaultPlans[id] as Plan;

test('the comparison with a smaller plan lists the retention, entitlements and volume that would be lost', (t) => {
  const losses = findLosses({ retentionDays: { logs: 20, metrics: 5 } }, planOf('pro'), planOf('free'), 2 * 1024 ** 3);
  t.deepEqual(
    losses.map(({ path }) => path),
    ['retentionDays.logs', 'retentionDays.traces', 'entitlements.traces', 'limits.bytesPerDay'],
  );
  t.regex(losses[0]?.message ?? '', /stored for 20 days \(the organization’s retention\); the plan stores 3/);
  t.deepEqual(findLosses({ retentionDays: { logs: 20 } }, planOf('free'), planOf('enterprise'), 0), []);
  t.deepEqual(limitRetention({ logs: 20, metrics: 5 }, planOf('free')), { metrics: 5 });
});

test('quotas warn from their warning level, and reject from their threshold', (t) => {
  const none = { total: 0, logs: 0, metrics: 0, traces: 0 };
  const used: UsedBytes = { day: { ...none, total: 100, logs: 100 }, month: { ...none, total: 500 } };
  const quota = Quota.parse({
    day: { total: { warnBytes: 101 }, logs: { warnBytes: 100, rejectBytes: 101 } },
    month: { total: { rejectBytes: 500 } },
  });
  const limits = { ...planOf('free').limits, bytesPerDay: 1_000 };
  const states = toQuotaStates(quota, limits, used, Date.UTC(2026, 11, 31, 12));
  t.deepEqual(
    states.map(({ window, scope, state, setBy, rejectBytes, resetsAt }) => [
      window,
      scope,
      state,
      setBy,
      rejectBytes,
      resetsAt,
    ]),
    [
      ['day', 'total', 'ok', 'plan', 1_000, '2027-01-01T00:00:00.000Z'],
      ['day', 'logs', 'warning', 'quota', 101, '2027-01-01T00:00:00.000Z'],
      ['month', 'total', 'rejecting', 'quota', 500, '2027-01-01T00:00:00.000Z'],
    ],
  );
});
