/** How often and for how long the alerts of a backtest would have fired. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { summarizeGroups } from '../../api/groups/alerts/backtests.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';

type Change = readonly [atMs: number, from: AlertTransition['from'], to: AlertTransition['to'], startedAtMs?: number];

const transitionsOf = (alertId: string, ...changes: readonly Change[]): AlertTransition[] =>
  changes.map(([atMs, from, to, startedAtMs]) => ({
    tenantId: 'a',
    id: `${alertId}-${atMs}`,
    alertId,
    ruleId: 'rule',
    ruleVersion: 1,
    ruleName: 'Rule',
    labels: { host: alertId },
    annotations: {},
    severity: 'warning',
    from,
    to,
    atMs,
    ...(startedAtMs !== undefined && { startedAtMs }),
    value: null,
    reason: '',
  }));

test('an alert that fires again before it has recovered is one firing', (t) => {
  const transitions = transitionsOf(
    'one',
    [100, 'pending', 'firing', 100],
    [200, 'firing', 'recovering', 100],
    [300, 'recovering', 'firing', 100],
    [400, 'firing', 'inactive', 100],
  );
  t.deepEqual(summarizeGroups(transitions, 1_000), [
    { alertId: 'one', labels: { host: 'one' }, firings: 1, firingMs: 300 },
  ]);
});

test('an alert that fires at the end fires until then, and one that never fired is omitted', (t) => {
  const transitions = [
    ...transitionsOf(
      'one',
      [100, 'inactive', 'firing', 100],
      [200, 'firing', 'inactive', 100],
      [700, 'pending', 'firing', 700],
    ),
    ...transitionsOf('other', [100, 'inactive', 'pending']),
  ];
  t.deepEqual(summarizeGroups(transitions, 1_000), [
    { alertId: 'one', labels: { host: 'one' }, firings: 2, firingMs: 400 },
  ]);
});
