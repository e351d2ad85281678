/** Which time ranges a preview displays. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { hasPastValues, splitIntoWindows } from '../../subjects/alerts/past-values.ts';
import { type AlertCondition, AlertRuleFields } from '../../subjects/alerts/rule.ts';
import { errorsByService } from './alert-evaluation.ts';

const conditionOf = (input: object): AlertCondition =>
  AlertRuleFields.parse({
    name: 'x',
    condition: {
      kind: 'threshold',
      query: errorsByService,
      thresholds: [{ severity: 'warning', operator: 'any' }],
      ...input,
    },
  }).condition;
const promql = { kind: 'promql', expression: 'up' };
const hour = 3_600_000;

const cases: readonly (readonly [title: string, given: object, spanMs: number, stepMs: number, count: number])[] = [
  ['a window for each value', { window: '5m' }, hour, 300_000, 12],
  ['a step for each value, where the condition has one', { window: '5m', step: '1m' }, hour, 60_000, 60],
  ['at least one window, longer than the range', { window: '1d' }, hour, 86_400_000, 1],
  ['the last 500 windows if there are more', { window: '1s' }, hour, 1_000, 500],
  ['of PromQL, steps that fit the range, whatever the window', { query: promql, window: '1d' }, hour, 8_000, 450],
];
for (const [title, given, spanMs, stepMs, count] of cases)
  test(`a preview draws ${title}`, (t) => {
    const condition = conditionOf(given);
    if (!hasPastValues(condition)) return t.fail();
    t.deepEqual(splitIntoWindows(condition, { fromMs: 0, toMs: spanMs }), { stepMs, count });
  });

test('objective, check and other rules have no values over time', (t) => {
  const slo = { kind: 'slo', sloId: 's', figure: 'budget-left' };
  t.false(hasPastValues(conditionOf({ query: slo })));
  t.false(hasPastValues(conditionOf({ query: { kind: 'check', checkId: 'c' } })));
  t.false(
    hasPastValues(
      AlertRuleFields.parse({ name: 'x', condition: { kind: 'composite', expression: 'a', rules: { a: 'r' } } })
        .condition,
    ),
  );
  t.true(hasPastValues(conditionOf({ query: promql })));
});
