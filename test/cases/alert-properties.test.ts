/** Properties of every evaluation of alert rules, for any query results. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import fc from 'fast-check';
import { type Evaluation, evaluate } from '../../subjects/alerts/evaluate.ts';
import type { AlertRule } from '../../subjects/alerts/rule.ts';
import type { RuleQueryResult } from '../../subjects/alerts/rule-query-result.ts';
import { emptyState, type RuleState } from '../../subjects/alerts/state.ts';
import { answerOfValues, errorsByService, ruleOf } from './alert-evaluation.ts';

const minuteMs = 60_000;
const services = ['cart', 'mail', 'search'];

const responses = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record(Object.fromEntries(services.map((name) => [name, fc.constantFrom(0, 5, 11, 101, null)])), {
        requiredKeys: [],
      })
      .map((values) => answerOfValues(values as Record<string, number | null>)),
  },
  { weight: 1, arbitrary: fc.constant<RuleQueryResult>({ kind: 'error', message: 'away' }) },
  { weight: 1, arbitrary: fc.constant<RuleQueryResult>({ kind: 'groups', unit: '', groups: [], isTruncated: true }) },
);

const minutes = fc.integer({ min: 0, max: 4 }).map((count) => `${count}m`);
const rules = fc
  .record({
    for: minutes,
    keepFiringFor: minutes,
    noData: fc.constantFrom('keep', 'resolve', 'alert', 'unknown'),
    onError: fc.constantFrom('keep', 'alert', 'unknown'),
    forgetAfter: fc.constantFrom('3m', '1d'),
    recovery: fc.constantFrom(undefined, 5),
    isAbsence: fc.boolean(),
  })
  .map(({ recovery, isAbsence, ...given }) =>
    ruleOf({
      ...given,
      condition: isAbsence
        ? { kind: 'absence', query: errorsByService }
        : {
            thresholds: [
              { severity: 'warning', operator: 'above', value: 10, recovery },
              { severity: 'critical', operator: 'above', value: 100 },
            ],
          },
    }),
  );

interface Step {
  readonly result: RuleQueryResult;
  readonly before: RuleState;
  readonly after: Evaluation;
}

const stepsOf = (rule: AlertRule, input: readonly RuleQueryResult[]): Step[] => {
  let before = emptyState();
  return input.map((result, minute) => {
    const after = evaluate({ tenantId: 'tenant', rule, prior: before, result, nowMs: minute * minuteMs });
    const step = { result, before, after };
    before = JSON.parse(JSON.stringify(after.state));
    return step;
  });
};

const always = (t: { pass(): void }, check: (steps: readonly Step[], rule: AlertRule) => void): void => {
  fc.assert(
    fc.property(rules, fc.array(responses, { minLength: 1, maxLength: 20 }), (rule, input) =>
      check(stepsOf(rule, input), rule),
    ),
    { numRuns: 500 },
  );
  t.pass();
};

test('a repeated evaluation emits identical output, bit by bit', (t) => {
  always(t, (steps, rule) => {
    for (const [minute, { result, before, after }] of steps.entries())
      t.deepEqual(evaluate({ tenantId: 'tenant', rule, prior: before, result, nowMs: minute * minuteMs }), after);
  });
});

test('every change is emitted, and only changes: transitions lead from each state to the next', (t) => {
  always(t, (steps) => {
    const states = new Map<string, string>();
    for (const { after } of steps) {
      for (const { alertId, from, to } of after.transitions) {
        t.is(states.get(alertId) ?? 'inactive', from);
        states.set(alertId, to);
      }
      for (const { alertId, state } of after.groups) t.is(states.get(alertId) ?? 'inactive', state);
    }
  });
});

test('a failed evaluation ends no alert of a group', (t) => {
  always(t, (steps) => {
    for (const { result, after } of steps)
      if (result.kind === 'error')
        t.deepEqual(
          after.transitions.filter(({ to, labels }) => to === 'inactive' && labels['service'] !== undefined),
          [],
        );
  });
});

test('an alert fires only after its condition has held for the duration of the rule', (t) => {
  always(t, (steps, rule) => {
    const since = new Map<string, number>();
    for (const { alertId, from, to, atMs, startedAtMs } of steps.flatMap(({ after }) => after.transitions)) {
      if (from === 'inactive' || from === 'unknown') since.set(alertId, atMs);
      const lasted = atMs - (since.get(alertId) ?? 0);
      if (to === 'firing' && startedAtMs === atMs) t.true(lasted >= Number.parseInt(rule.for, 10) * minuteMs);
    }
  });
});

test('transition ids are unique, and a resolve transition includes the time since which the alert fired', (t) => {
  always(t, (steps) => {
    const transitions = steps.flatMap(({ after }) => after.transitions);
    t.is(new Set(transitions.map(({ id }) => id)).size, transitions.length);
    for (const { to, startedAtMs, endedAtMs } of transitions) {
      t.is(endedAtMs !== undefined, to === 'inactive' && startedAtMs !== undefined);
      if (endedAtMs !== undefined) t.true(endedAtMs >= (startedAtMs ?? 0));
    }
  });
});
