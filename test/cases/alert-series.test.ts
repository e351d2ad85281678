/** Alerts as metric series. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { evaluate } from '../../subjects/alerts/evaluate.ts';
import { createAlertSeries, type RuleAlerts } from '../../subjects/alerts/recording/alert-series.ts';
import type { AlertRule } from '../../subjects/alerts/rule.ts';
import { emptyState } from '../../subjects/alerts/state.ts';
import { ruleOf } from './alert-evaluation.ts';

const rule: AlertRule = ruleOf({
  name: 'Full',
  for: '1m',
  keepFiringFor: '1m',
  labels: { team: 'shop', size: '{{ $value }}' },
  condition: {
    query: { kind: 'promql', expression: 'disk > 80' },
    thresholds: [{ severity: 'warning', operator: 'any' }],
  },
});
const groups = (...values: readonly (readonly [disk: string, value: number])[]) =>
  values.map(([disk, value]) => ({ labels: { disk, empty: '' }, points: [value] }));

/** Evaluates once a minute, and returns what the last evaluation writes. */
const writtenAt = (own: AlertRule, ...responses: readonly ReturnType<typeof groups>[]) => {
  let before: RuleAlerts | undefined;
  let written: ReturnType<typeof createAlertSeries> = [];
  for (const [minute, answer] of responses.entries()) {
    const nowMs = minute * 60_000;
    const { state } = evaluate({
      tenantId: 'a',
      rule: own,
      nowMs,
      prior: before === undefined ? emptyState() : (before.state as never),
      result: { kind: 'groups', unit: '', groups: answer },
    });
    written = createAlertSeries(before, { rule: own, state }, nowMs);
    before = { rule: own, state };
  }
  return Object.fromEntries(written.map(({ labels, value }) => [JSON.stringify(labels), value]));
};
const labelled = (name: string, more: object = {}): string =>
  JSON.stringify({
    severity: 'warning',
    disk: 'a',
    team: 'shop',
    size: '90',
    alertname: 'Full',
    ...more,
    __name__: name,
  });

test('an alert is pending, then firing, and the series of its former state ends', (t) => {
  t.deepEqual(writtenAt(rule, groups(['a', 90])), {
    [labelled('ALERTS', { alertstate: 'pending' })]: 1,
    [labelled('ALERTS_FOR_STATE')]: 0,
  });
  t.deepEqual(writtenAt(rule, [], groups(['a', 90]), groups(['a', 90])), {
    [labelled('ALERTS', { alertstate: 'firing' })]: 1,
    [labelled('ALERTS_FOR_STATE')]: 60,
    [labelled('ALERTS', { alertstate: 'pending' })]: 'stale',
  });
});

test('the series of a firing alert is written continuously, and its end is marked once', (t) => {
  const fires = [groups(['a', 90]), groups(['a', 90])] as const;
  t.deepEqual(Object.values(writtenAt(rule, ...fires, [])), [1, 0]);
  t.deepEqual(Object.values(writtenAt(rule, ...fires, [], [])), ['stale', 'stale']);
  t.deepEqual(Object.values(writtenAt(rule, ...fires, [], [], [])), []);
});

test('a label that changes with the value creates another series', (t) => {
  const written = writtenAt(rule, groups(['a', 90]), groups(['a', 91]));
  t.deepEqual(Object.values(written), [1, 0, 'stale', 'stale']);
});
