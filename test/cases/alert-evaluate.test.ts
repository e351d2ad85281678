/** The evaluator of alert rules: a table of rules, query results and expected notifications. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import type { AlertRule } from '../../subjects/alerts/rule.ts';
import type { RuleQueryResult } from '../../subjects/alerts/rule-query-result.ts';
import { findStaleSinceMs } from '../../subjects/alerts/staleness.ts';
import { errorsByService, evaluations, ruleOf, transitionLines, type Values } from './alert-evaluation.ts';

type Case = readonly [
  behaviour: string,
  rule: AlertRule,
  answers: readonly (readonly [minute: number, answer: Values | RuleQueryResult])[],
  expectedTransitions: readonly string[],
];

const failed: RuleQueryResult = { kind: 'error', message: 'ClickHouse is away' };
const none: Values = {};
const ungrouped = { query: { ...errorsByService, groupBy: [] } };
const bothSeverities = [
  { severity: 'warning', operator: 'above', value: 10 },
  { severity: 'critical', operator: 'above', value: 100 },
];
const present = {
  query: { kind: 'promql', expression: 'up == 0' },
  thresholds: [{ severity: 'error', operator: 'any' }],
};
const absence = { kind: 'absence', query: errorsByService, window: '10m', severity: 'error' };
const composite = {
  kind: 'composite',
  severity: 'error',
  expression: 'a && !b',
  rules: { a: '1', b: '2' },
  groupBy: ['service'],
};
const cases: readonly Case[] = [
  ['fires at once without `for`', ruleOf(), [[0, { cart: 11 }]], ['0 cart: inactive → firing critical']],
  [
    'ends if the value no longer exceeds the threshold',
    ruleOf(),
    [
      [0, { cart: 11 }],
      [1, { cart: 10 }],
    ],
    ['0 cart: inactive → firing critical', '1 cart: firing → inactive'],
  ],
  [
    'emits transitions for each group separately',
    ruleOf(),
    [
      [0, { cart: 11, mail: 3 }],
      [1, { cart: 12, mail: 30 }],
      [2, { cart: 1, mail: 30 }],
    ],
    ['0 cart: inactive → firing critical', '1 mail: inactive → firing critical', '2 cart: firing → inactive'],
  ],
  [
    'is pending until `for` has passed',
    ruleOf({ for: '2m' }),
    [
      [0, { cart: 11 }],
      [1, { cart: 11 }],
      [2, { cart: 11 }],
    ],
    ['0 cart: inactive → pending critical', '2 cart: pending → firing critical'],
  ],
  [
    'restarts `for` after the condition did not hold',
    ruleOf({ for: '2m' }),
    [
      [0, { cart: 11 }],
      [1, { cart: 1 }],
      [2, { cart: 11 }],
      [3, { cart: 11 }],
      [4, { cart: 11 }],
    ],
    [
      '0 cart: inactive → pending critical',
      '1 cart: pending → inactive',
      '2 cart: inactive → pending critical',
      '4 cart: pending → firing critical',
    ],
  ],
  [
    'continues to fire for `keepFiringFor`, and then ends',
    ruleOf({ keepFiringFor: '3m' }),
    [
      [0, { cart: 11 }],
      [1, { cart: 1 }],
      [3, { cart: 1 }],
      [4, { cart: 1 }],
    ],
    ['0 cart: inactive → firing critical', '1 cart: firing → recovering critical', '4 cart: recovering → inactive'],
  ],
  [
    'continues to fire and restarts `keepFiringFor` if the condition holds again in the meantime',
    ruleOf({ keepFiringFor: '3m', for: '1m' }),
    [
      [0, { cart: 11 }],
      [1, { cart: 11 }],
      [2, { cart: 1 }],
      [3, { cart: 11 }],
      [4, { cart: 1 }],
      [6, { cart: 1 }],
      [7, { cart: 1 }],
    ],
    [
      '0 cart: inactive → pending critical',
      '1 cart: pending → firing critical',
      '2 cart: firing → recovering critical',
      '3 cart: recovering → firing critical',
      '4 cart: firing → recovering critical',
      '7 cart: recovering → inactive',
    ],
  ],
  [
    'has the severity of the highest crossed threshold, and emits its changes',
    ruleOf({ condition: { thresholds: bothSeverities } }),
    [
      [0, { cart: 11 }],
      [1, { cart: 101 }],
      [2, { cart: 50 }],
      [3, { cart: 1 }],
    ],
    [
      '0 cart: inactive → firing warning',
      '1 cart: firing → firing critical',
      '2 cart: firing → firing warning',
      '3 cart: firing → inactive',
    ],
  ],
  [
    'ends only beyond the recovery threshold',
    ruleOf({ condition: { thresholds: [{ severity: 'error', operator: 'above', value: 10, recovery: 5 }] } }),
    [
      [0, { cart: 8 }],
      [1, { cart: 11 }],
      [2, { cart: 8 }],
      [3, { cart: 5 }],
      [4, { cart: 8 }],
    ],
    ['1 cart: inactive → firing error', '3 cart: firing → inactive'],
  ],
  [
    'with the operator below, ends only above the recovery threshold',
    ruleOf({ condition: { thresholds: [{ severity: 'error', operator: 'below', value: 10, recovery: 20 }] } }),
    [
      [0, { cart: 15 }],
      [1, { cart: 9 }],
      [2, { cart: 15 }],
      [3, { cart: 20 }],
    ],
    ['1 cart: inactive → firing error', '3 cart: firing → inactive'],
  ],
  [
    'ends a count above a threshold if no record is left, because the count is 0',
    ruleOf(),
    [
      [0, { cart: 11, mail: 1 }],
      [1, { mail: 1 }],
      [2, none],
    ],
    ['0 cart: inactive → firing critical', '1 cart: firing → inactive'],
  ],
  [
    'fires for a count below a threshold if no record is left, until the group is forgotten',
    ruleOf({ condition: { thresholds: [{ severity: 'error', operator: 'below', value: 1 }] }, forgetAfter: '5m' }),
    [
      [0, { cart: 2, mail: 3 }],
      [1, { mail: 3 }],
      [2, { cart: 1, mail: 3 }],
      [3, { mail: 3 }],
      [7, { mail: 3 }],
    ],
    [
      '1 cart: inactive → firing error',
      '2 cart: firing → inactive',
      '3 cart: inactive → firing error',
      '7 cart: firing → inactive',
    ],
  ],
  [
    'does not evaluate a count without records if it requires more events',
    ruleOf({ minimumEvents: 1 }),
    [
      [0, { cart: 11 }],
      [1, none],
    ],
    ['0 cart: inactive → firing critical'],
  ],
  [
    'does not treat an aggregate without records as 0',
    ruleOf({
      condition: {
        query: { ...errorsByService, measures: [{ function: 'percentile', field: 'took', percentile: 95 }] },
      },
    }),
    [
      [0, { cart: 11 }],
      [1, none],
    ],
    ['0 cart: inactive → firing critical'],
  ],
  [
    'does not resolve a group without data if the rule keeps its state',
    ruleOf({ noData: 'keep' }),
    [
      [0, { cart: 11, mail: 1 }],
      [1, { mail: 1 }],
      [2, none],
      [3, { cart: 11, mail: 1 }],
      [4, { cart: null, mail: 1 }],
    ],
    ['0 cart: inactive → firing critical'],
  ],
  [
    'ends a group that had no data for a long time',
    ruleOf({ noData: 'keep', forgetAfter: '5m' }),
    [
      [0, { cart: 11 }],
      [1, none],
      [4, none],
      [5, none],
    ],
    ['0 cart: inactive → firing critical', '5 cart: firing → inactive'],
  ],
  [
    'never forgets what a rule without groups is about',
    ruleOf({ condition: ungrouped, forgetAfter: '5m' }),
    [
      [0, { '': 11 }],
      [1, none],
      [50, none],
      [51, { '': 1 }],
    ],
    ['0 -: inactive → firing critical', '51 -: firing → inactive'],
  ],
  [
    'ends a group without data if the rule resolves missing data',
    ruleOf({ noData: 'resolve' }),
    [
      [0, { cart: 11 }],
      [1, none],
    ],
    ['0 cart: inactive → firing critical', '1 cart: firing → inactive'],
  ],
  [
    'fires for a group without data after `for` if the rule alerts on missing data',
    ruleOf({ noData: 'alert', for: '1m' }),
    [
      [0, { cart: 1 }],
      [1, none],
      [2, none],
      [3, { cart: 1 }],
    ],
    ['1 cart: inactive → pending critical', '2 cart: pending → firing critical', '3 cart: firing → inactive'],
  ],
  [
    'reports a group without data as unknown if the rule declares it, and then continues from its former state',
    ruleOf({ noData: 'unknown', for: '5m' }),
    [
      [0, { cart: 11 }],
      [5, { cart: 11 }],
      [6, none],
      [7, { cart: 11 }],
      [8, none],
      [9, { cart: 1 }],
    ],
    [
      '0 cart: inactive → pending critical',
      '5 cart: pending → firing critical',
      '6 cart: firing → unknown critical',
      '7 cart: unknown → firing critical',
      '8 cart: firing → unknown critical',
      '9 cart: unknown → inactive',
    ],
  ],
  [
    'emits an alert for the rule itself if no group is known',
    ruleOf({ noData: 'alert' }),
    [
      [0, none],
      [1, none],
      [2, { cart: 1 }],
    ],
    ['0 no-data: inactive → firing critical', '2 no-data: firing → inactive'],
  ],
  [
    'emits nothing for missing data if the rule keeps the state',
    ruleOf({ condition: ungrouped }),
    [
      [0, none],
      [1, { '': null }],
    ],
    [],
  ],
  [
    'never ends an alert because of an error, and reports the error as unknown',
    ruleOf(),
    [
      [0, { cart: 11 }],
      [1, failed],
      [2, failed],
      [3, { cart: 11 }],
      [4, { cart: 1 }],
    ],
    [
      '0 cart: inactive → firing critical',
      '1 evaluation-failed: inactive → unknown critical',
      '3 evaluation-failed: unknown → inactive',
      '4 cart: firing → inactive',
    ],
  ],
  [
    'never ends an alert because of an error, and emits nothing if the rule keeps the state',
    ruleOf({ onError: 'keep', keepFiringFor: '5m' }),
    [
      [0, { cart: 11 }],
      [1, { cart: 1 }],
      [2, failed],
      [9, failed],
      [10, { cart: 1 }],
    ],
    ['0 cart: inactive → firing critical', '1 cart: firing → recovering critical', '10 cart: recovering → inactive'],
  ],
  [
    'fires for errors after `for` if the rule alerts on errors',
    ruleOf({ onError: 'alert', for: '2m' }),
    [
      [0, failed],
      [1, failed],
      [2, failed],
      [3, { cart: 1 }],
    ],
    [
      '0 evaluation-failed: inactive → pending critical',
      '2 evaluation-failed: pending → firing critical',
      '3 evaluation-failed: firing → inactive',
    ],
  ],
  [
    'does not forget groups while evaluations fail',
    ruleOf({ forgetAfter: '5m', onError: 'keep' }),
    [
      [0, { cart: 11 }],
      [9, failed],
      [10, { cart: 11 }],
    ],
    ['0 cart: inactive → firing critical'],
  ],
  [
    'does not change groups that are missing from a truncated result',
    ruleOf({ noData: 'resolve' }),
    [
      [0, { cart: 11 }],
      [1, { kind: 'groups', unit: '', groups: [], isTruncated: true }],
    ],
    ['0 cart: inactive → firing critical'],
  ],
  [
    'of the PromQL kind, fires for returned groups, and ends for groups that are no longer returned',
    ruleOf({ condition: present, keepFiringFor: '2m' }),
    [
      [0, { cart: 0 }],
      [1, none],
      [2, none],
      [3, none],
    ],
    ['0 cart: inactive → firing error', '1 cart: firing → recovering error', '3 cart: recovering → inactive'],
  ],
  [
    'of absence, fires for a known group without data',
    ruleOf({ condition: absence }),
    [
      [0, { cart: 3, mail: 1 }],
      [1, { mail: 1 }],
      [2, { cart: 1, mail: 1 }],
    ],
    ['1 cart: inactive → firing error', '2 cart: firing → inactive'],
  ],
  [
    'of absence, fires if there is no data at all',
    ruleOf({ condition: { ...absence, query: ungrouped.query } }),
    [
      [0, { '': 0 }],
      [1, { '': null }],
      [2, none],
      [3, { '': 1 }],
    ],
    ['1 -: inactive → firing error', '3 -: firing → inactive'],
  ],
  [
    'of absence, ends once the group is forgotten',
    ruleOf({ condition: absence, forgetAfter: '30m' }),
    [
      [0, { cart: 3, mail: 1 }],
      [1, { mail: 1 }],
      [30, { mail: 1 }],
    ],
    ['1 cart: inactive → firing error', '30 cart: firing → inactive'],
  ],
  [
    'of a composite, fires while its expression is true, and ends if it is false or has no result',
    ruleOf({ condition: composite }),
    [
      [0, { cart: 1, mail: 0 }],
      [1, { cart: 0, mail: 1 }],
      [2, none],
    ],
    [
      '0 cart: inactive → firing error',
      '1 cart: firing → inactive',
      '1 mail: inactive → firing error',
      '2 mail: firing → inactive',
    ],
  ],
  [
    'ends firing alerts when it is disabled',
    ruleOf(),
    [
      [0, { cart: 11 }],
      [1, { kind: 'over', reason: 'the rule was disabled' }],
    ],
    ['0 cart: inactive → firing critical', '1 cart: firing → inactive'],
  ],
  [
    'emits nothing for too few events',
    ruleOf({ minimumEvents: 5 }),
    [
      [0, { kind: 'groups', unit: '', groups: [{ labels: { service: 'cart' }, points: [99], eventCount: 4 }] }],
      [1, { kind: 'groups', unit: '', groups: [{ labels: { service: 'cart' }, points: [99], eventCount: 5 }] }],
      [2, { kind: 'groups', unit: '', groups: [{ labels: { service: 'cart' }, points: [1], eventCount: 4 }] }],
    ],
    ['1 cart: inactive → firing critical'],
  ],
];

for (const [behaviour, rule, answers, expected] of cases)
  test(`a rule ${behaviour}`, (t) => {
    t.deepEqual(transitionLines(evaluations(rule, answers)), [...expected]);
  });

type Point = number | null;
const sides: Readonly<Record<string, readonly [threshold: object, crossed: number, not: number]>> = {
  above: [{ operator: 'above', value: 10 }, 11, 10],
  'at-least': [{ operator: 'at-least', value: 10 }, 10, 9],
  below: [{ operator: 'below', value: 10 }, 9, 10],
  equal: [{ operator: 'equal', value: 10 }, 10, 11],
  'not-equal': [{ operator: 'not-equal', value: 10 }, 11, 10],
  outside: [{ operator: 'outside', value: 5, upper: 10 }, 11, 10],
};
const windows: readonly (readonly [
  match: string,
  points: (crossed: number, not: number) => Point[],
  fires: boolean,
])[] = [
  ['at-least-once', (crossed, not) => [not, crossed, not], true],
  ['at-least-once', (_, not) => [not, null, not], false],
  ['all-the-time', (crossed) => [crossed, null, crossed], true],
  ['all-the-time', (crossed, not) => [crossed, not, crossed], false],
  ['last', (crossed, not) => [not, not, crossed], true],
  ['last', (crossed, not) => [crossed, crossed, not], false],
  ['last', (crossed, not) => [not, crossed, null], true],
  ['on-average', (crossed) => [crossed, crossed], true],
  ['on-average', (_, not) => [not, not], false],
];
for (const [side, [threshold, crossed, not]] of Object.entries(sides))
  for (const [match, points, fires] of windows)
    test(`${side} ${match} of ${JSON.stringify(points(crossed, not))} ${fires ? 'fires' : 'does not fire'}`, (t) => {
      const condition = { step: '1m', window: '3m', match, thresholds: [{ severity: 'error', ...threshold }] };
      const [evaluation] = evaluations(ruleOf({ condition }), [[0, { cart: points(crossed, not) }]]);
      t.is(evaluation?.ruleState, fires ? 'firing' : 'inactive');
    });

const sums: readonly (readonly [match: string, points: readonly number[], fires: boolean])[] = [
  ['in-total', [4, 4, 4], true],
  ['in-total', [3, 3, 3], false],
  ['on-average', [2, 2, 30], true],
  ['on-average', [2, 2, 20], false],
];
for (const [match, points, fires] of sums)
  test(`above 10 ${match} of ${points} ${fires ? 'fires' : 'does not fire'}`, (t) => {
    const [evaluation] = evaluations(ruleOf({ condition: { step: '1m', window: '3m', match } }), [
      [0, { cart: points }],
    ]);
    t.is(evaluation?.ruleState, fires ? 'firing' : 'inactive');
  });

const conversions: readonly (readonly [threshold: string, limit: number, query: string, fires: number, not: number])[] =
  [
    ['ms', 10, 'ns', 10_000_001, 10_000_000],
    ['s', 1, 'ms', 1001, 1000],
    ['MiBy', 1, 'By', 1_048_577, 1_048_576],
    ['%', 50, '1', 0.51, 0.5],
    ['By/min', 60, 'By/s', 1.1, 1],
    ['kbit/s', 8, 'By/s', 1001, 1000],
  ];
for (const [unit, value, query, fires, not] of conversions)
  test(`a threshold of ${value} ${unit} is compared with values in ${query}`, (t) => {
    const rule = ruleOf({ condition: { thresholds: [{ severity: 'error', operator: 'above', value, unit }] } });
    t.is(evaluations(rule, [[0, { cart: fires }]], query)[0]?.ruleState, 'firing');
    t.is(evaluations(rule, [[0, { cart: not }]], query)[0]?.ruleState, 'inactive');
  });

const readable: readonly (readonly [unit: string, value: number, text: string, threshold: string])[] = [
  ['ns', 2_500_000_000, '2.5 s', 'above 10 ns'],
  ['ms', 90_000, '90 s', 'above 10 ms'],
  ['s', 7_200, '2 h', 'above 10 s'],
  ['s', 90, '90 s', 'above 10 s'],
  ['By', 3_000_000_000, '3 GB', 'above 10 B'],
  ['KiBy', 1_536, '1.57 MB', 'above 10.24 kB'],
  ['%', 12.5, '12.5 %', 'above 10 %'],
  ['{record}', 25_000, '25000', 'above 10'],
];
for (const [unit, value, text, threshold] of readable)
  test(`${value} ${unit} is formatted as ${text} if the threshold has no unit of its own`, (t) => {
    const rule = ruleOf({ condition: { thresholds: [{ severity: 'error', operator: 'above', value: 10 }] } });
    const [transition] = evaluations(rule, [[0, { cart: value }]], unit)[0]?.transitions ?? [];
    t.is(transition?.held?.text, text);
    t.is(transition?.held?.threshold, threshold);
  });

const p95 = { function: 'percentile', percentile: 95, field: 'took' };
const measured: readonly (readonly [query: object, named: string | undefined, measure: string | undefined])[] = [
  [{ ...errorsByService, measures: [p95] }, undefined, 'p95'],
  [{ ...errorsByService, measures: [{ function: 'count' }, p95] }, 'p95_took', 'p95'],
  [{ ...errorsByService, measures: [p95, { function: 'avg', field: 'took', as: 'mean' }] }, 'mean', 'average'],
  [{ ...errorsByService, measures: [{ function: 'count' }, p95] }, undefined, undefined],
  [{ kind: 'metric', metric: 'took', overTime: 'quantile', quantile: 0.999 }, undefined, 'p99.9'],
  [{ kind: 'metric', metric: 'queue', overTime: 'last' }, undefined, undefined],
  [{ kind: 'promql', expression: 'queue' }, undefined, undefined],
];
for (const [index, [query, named, measure]] of measured.entries())
  test(`the data of an alert names the measure of its value: ${measure ?? 'nothing'} (${index + 1})`, (t) => {
    const rule = ruleOf({ condition: { query, ...(named !== undefined && { measure: named }) } });
    t.is(evaluations(rule, [[0, { cart: 1_000 }]])[0]?.transitions[0]?.held?.measure, measure);
  });

test('values with a unit incompatible with the threshold are an error, not a result', (t) => {
  const rule = ruleOf({ condition: { thresholds: [{ severity: 'error', operator: 'above', value: 1, unit: 'ms' }] } });
  const [evaluation] = evaluations(rule, [[0, { cart: 11 }]], 'By');
  t.is(evaluation?.error, 'the threshold is in ms, and the values of the query in By: they cannot be compared');
  t.is(evaluation?.ruleState, 'unknown');
});

test('a changed rule ends alerts of groups that it no longer has, and preserves the others', (t) => {
  const before = ruleOf({ noData: 'keep' });
  const after = ruleOf({ condition: { query: { ...errorsByService, search: 'severity:warn' } } });
  t.deepEqual(
    transitionLines(
      evaluations(
        (minute) => (minute === 0 ? before : after),
        [
          [0, { cart: 11, mail: 11 }],
          [1, { cart: 11 }],
        ],
      ),
    ),
    ['0 cart: inactive → firing critical', '0 mail: inactive → firing critical', '1 mail: firing → inactive'],
  );
  const renamed = { ...before, name: 'Other' };
  t.deepEqual(
    transitionLines(
      evaluations(
        (minute) => (minute === 0 ? before : renamed),
        [
          [0, { cart: 11 }],
          [1, none],
        ],
      ),
    ),
    ['0 cart: inactive → firing critical'],
  );
});

test('a transition includes its subject, start time, reason, labels and annotations', (t) => {
  const rule = ruleOf({
    for: '2m',
    labels: { team: 'shop', severity: 'page', where: '{{ $labels.service | toUpper }}' },
    annotations: { summary: '{{ $labels.service }} has {{ $value | humanize }} errors' },
    projectId: 'shop',
  });
  const [, , firing, , ended] = evaluations(rule, [
    [0, { cart: 1100 }],
    [1, { cart: 1200 }],
    [2, { cart: 1300 }],
    [3, { cart: 1300 }],
    [4, { cart: 2 }],
  ]);
  const ms = (minute: number): number => Date.UTC(2026, 2, 1, 0, minute);
  const { id, alertId, ...transition } = firing?.transitions[0] ?? {};
  t.deepEqual(transition as object, {
    tenantId: 'tenant',
    projectId: 'shop',
    ruleId: 'rule-1',
    ruleVersion: 3,
    ruleName: 'Errors',
    labels: { alertname: 'Errors', severity: 'page', service: 'cart', team: 'shop', where: 'CART' },
    annotations: { summary: 'cart has 1.3k errors' },
    severity: 'critical',
    from: 'pending',
    to: 'firing',
    atMs: ms(2),
    startedAtMs: ms(2),
    value: 1300,
    held: { value: 1300, text: '1300', threshold: 'above 10' },
    reason: '1300 is above 10 over 5m, for 2m',
  });
  const [end] = ended?.transitions ?? [];
  t.is(end?.alertId, alertId as unknown as string);
  t.not(end?.id, id as unknown as string);
  t.is(end?.startedAtMs, ms(2));
  t.is(end?.endedAtMs, ms(4));
  t.is(end?.reason, '2 is not above 10 over 5m');
  t.is(end?.value, 2);
  t.deepEqual(end?.held, firing?.transitions[0]?.held);
  t.deepEqual(end?.annotations, { summary: 'cart has 1.3k errors' });
});

test('the resolved alert has the text of its last firing, whatever ends it', (t) => {
  const annotations = { text: '{{ $value | humanize }} of {{ printf "%.0f" $value }}, at most {{ $threshold }}' };
  const noGroups: RuleQueryResult = { kind: 'groups', unit: '', groups: [] };
  const over: RuleQueryResult = { kind: 'over', reason: 'the rule was disabled' };
  const ways: readonly (readonly [given: Parameters<typeof ruleOf>[0], ends: Values | RuleQueryResult, at: string])[] =
    [
      [{ condition: present }, noGroups, '1.3k of 1300, at most <no value>'],
      [{ condition: present, keepFiringFor: '1m' }, noGroups, '1.3k of 1300, at most <no value>'],
      [{}, over, '1.3k of 1300, at most 10'],
      [{}, { cart: 0 }, '1.3k of 1300, at most 10'],
      [{ noData: 'resolve' }, { cart: null }, '1.3k of 1300, at most 10'],
      [{ noData: 'unknown' }, { cart: null }, '1.3k of 1300, at most 10'],
    ];
  for (const [given, ends, text] of ways) {
    const all = evaluations(ruleOf({ ...given, annotations }), [
      [0, { cart: 1100 }],
      [1, { cart: 1300 }],
      [2, ends],
      [3, ends],
      [4, given?.['noData'] === 'unknown' ? { cart: 1 } : ends],
    ]);
    const later = all.slice(1).flatMap(({ transitions }) => transitions);
    t.is(later.at(-1)?.to, 'inactive');
    for (const transition of later) t.is(transition.annotations['text'], text);
  }
});

test('a threshold in a template has the unit of the value, and is displayed with its own unit', (t) => {
  const condition = { thresholds: [{ severity: 'error', operator: 'above', value: 1, unit: 's' }] };
  const annotations = { text: '{{ $value }} > {{ $threshold }}' };
  const [evaluation] = evaluations(ruleOf({ condition, annotations }), [[0, { cart: 2_500_000_000 }]], 'ns');
  t.is(evaluation?.transitions[0]?.annotations['text'], '2.5 s > 1 s');
  t.deepEqual(evaluation?.transitions[0]?.held, { value: 2_500_000_000, text: '2.5 s', threshold: 'above 1 s' });
});

const promql = { kind: 'promql', expression: 'x' };
const texts: readonly (readonly [template: string, text: string, condition?: object])[] = [
  ['{{ $value }}', '2.5 s'],
  ['{{ .Value }} and {{ $.Value }}', '2.5 s and 2.5 s'],
  ['p95 is {{ $value }}, above {{ $threshold }}.', 'p95 is 2.5 s, above 1 s.'],
  ['{{ $value }} ns', '2.5e+09 ns'],
  ['{{ $value }}%', '2.5e+09%'],
  ['{{ $value | humanize }}', '2.5G'],
  ['{{ printf "%.0f" $value }}', '2500000000'],
  ['{{ if gt $value $threshold }}{{ $value }}{{ end }}', '2.5 s'],
  ['{{ with $value }}{{ . }}{{ end }}', '2.5e+09'],
  ['{{ $value := 3 }}{{ $value }}', '3'],
  ['{{ $value = 3 }}{{ $value }}', '3'],
  ['{{ $value }}', '2.5e+09', { query: promql }],
  ['{{ $value }}', '2.5 s', { query: promql, queryUnit: 'ns' }],
];
for (const [template, text, condition = {}] of texts)
  test(`the annotation ${template} of 2.5 s${JSON.stringify(condition)} is ${text}; the label is the number`, (t) => {
    const unit = 'query' in condition ? '' : 'ns';
    const thresholds = [{ severity: 'critical', operator: 'above', value: 1e9 }];
    const rule = ruleOf({
      condition: { thresholds, ...condition },
      annotations: { text: template },
      labels: { size: '{{ $value }}' },
    });
    const [evaluation] = evaluations(rule, [[0, { cart: 2.5e9 }]], unit);
    t.is(evaluation?.transitions[0]?.annotations['text'], text);
    t.is(evaluation?.transitions[0]?.labels['size'], '2.5e+09');
  });

test('an annotation of a rule without a value shows `<no value>`', (t) => {
  const annotations = { text: '{{ $value | humanize }}' };
  const [evaluation] = evaluations(ruleOf({ condition: absence, annotations }), [[0, {}]]);
  t.is(evaluation?.transitions[0]?.annotations['text'], '<no value>');
});

test('an evaluation gives the reason for the state of every group', (t) => {
  const rule = ruleOf({ for: '5m', condition: { thresholds: [{ severity: 'error', operator: 'above', value: 10 }] } });
  const [evaluation] = evaluations(rule, [[0, { cart: 11, mail: 3, search: null }]]);
  t.deepEqual(
    evaluation?.groups.map(({ labels, state, value, reason }) => [labels['service'], state, value, reason]),
    [
      ['cart', 'pending', 11, '11 is above 10 over 5m; it fires if this lasts until 2026-03-01T00:05:00.000Z'],
      ['mail', 'inactive', 3, '3 is not above 10 over 5m'],
      ['search', 'inactive', null, 'there was no data for 5m'],
    ],
  );
});

for (const [operator, reason] of Object.entries({
  above: '9 is not above 10 over 5m',
  equal: '9 is not equal to 10 over 5m',
  'not-equal': '10 is equal to 10 over 5m',
}))
  test(`an evaluation whose condition does not hold states the reason plainly: ${operator}`, (t) => {
    const rule = ruleOf({ condition: { thresholds: [{ severity: 'error', operator, value: 10 }] } });
    const [evaluation] = evaluations(rule, [[0, { cart: operator === 'not-equal' ? 10 : 9 }]]);
    t.is(evaluation?.groups[0]?.reason, reason);
  });

test('future times recorded by a fast clock do not delay an alert', (t) => {
  const rule = ruleOf({ for: '2m', keepFiringFor: '2m' });
  const minutes = (all: readonly [number, number][]) =>
    transitionLines(
      evaluations(
        rule,
        all.map(([minute, value]) => [minute, { cart: value }]),
      ),
    );
  t.deepEqual(
    minutes([
      [60, 11],
      [1, 11],
      [3, 11],
    ]),
    ['60 cart: inactive → pending critical', '3 cart: pending → firing critical'],
  );
  t.deepEqual(
    minutes([
      [58, 11],
      [60, 11],
      [61, 1],
      [1, 1],
      [3, 1],
    ]).at(-1),
    '3 cart: recovering → inactive',
  );
});

test('a rule without an evaluation for more than three intervals is stale, unless it is disabled or was just changed', (t) => {
  const nowMs = Date.UTC(2026, 2, 1);
  const rule = { ...ruleOf({ interval: '1m' }), updatedAt: new Date(nowMs - 600_000).toISOString() };
  t.is(findStaleSinceMs(rule, nowMs - 180_000, nowMs), undefined);
  t.is(findStaleSinceMs(rule, nowMs - 180_001, nowMs), nowMs - 180_001);
  t.is(findStaleSinceMs({ ...rule, enabled: false }, nowMs - 500_000, nowMs), undefined);
  t.is(findStaleSinceMs({ ...rule, updatedAt: new Date(nowMs).toISOString() }, nowMs - 500_000, nowMs), undefined);
});

test('the state contains nothing for healthy groups', (t) => {
  const [evaluation] = evaluations(ruleOf(), [
    [0, Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`s${at}`, 1]))],
  ]);
  t.deepEqual(evaluation?.state.alerts, {});
});

test('values that JSON cannot represent are compared, and reported as null', (t) => {
  const [evaluation] = evaluations(ruleOf(), [[0, { cart: Number.POSITIVE_INFINITY, mail: Number.NaN }]]);
  t.deepEqual(transitionLines([evaluation as never]), ['0 cart: inactive → firing critical']);
  t.is(evaluation?.transitions[0]?.value, null);
});
