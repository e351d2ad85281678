/** Which suggestions are made from which evidence. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { AlertRuleFields } from '../../subjects/alerts/rule.ts';
import { createAlertId, toGroupKey } from '../../subjects/alerts/state.ts';
import { suggestDetectors } from '../../subjects/suggestions/detectors.ts';
import { type PastValues, suggestThreshold } from '../../subjects/suggestions/noisy-rules.ts';
import { type ServiceActivity, suggestForServices } from '../../subjects/suggestions/services.ts';
import {
  createSuggestionId,
  isEvidenceUnchanged,
  isSuggestionId,
  type Suggestion,
} from '../../subjects/suggestions/suggestion.ts';
import {
  findLargeAttributes,
  suggestAttributeRemoval,
  suggestMetricRemoval,
  suggestPatternReduction,
} from '../../subjects/suggestions/unused-telemetry.ts';

const minuteMs = 60_000;
const labels = { service: 'cart' };
const rule = (more: object = {}) => ({
  ...AlertRuleFields.parse({
    name: 'Errors of cart',
    condition: {
      kind: 'threshold',
      query: { kind: 'aggregate', signal: 'logs', groupBy: ['service'], measures: [{ function: 'count' }] },
      thresholds: [{ severity: 'error', operator: 'above', value: 10, ...more }],
    },
  }),
  id: 'r1',
  version: 3,
});

/** One evaluation per minute: 40 peaks slightly above the threshold and one far above it, 20 minutes apart. */
const noisy = (sign = 1): PastValues[] =>
  Array.from({ length: 41 * 20 }, (_, minute) => {
    const peak = minute % 20 === 0 ? (minute === 200 ? 900 : 11 + (minute % 7)) : 2;
    return { atMs: minute * minuteMs, groups: [{ labels, value: sign * peak }] };
  });
const alertId = createAlertId('r1', toGroupKey(labels));
const history = (more: object = {}) => ({
  rule: rule(),
  tenantId: 'a',
  evaluations: noisy(),
  acknowledged: [],
  ...more,
});

test('a rule that fires too often gets the nearest threshold that the evaluator rates better', (t) => {
  const suggestion = suggestThreshold(history(), 7);
  t.regex(suggestion?.evidence ?? '', /fired 41 times in the last 7 days with the threshold above 10/);
  t.regex(suggestion?.effect ?? '', /^41 → \d+ alerts in 7 days, nobody acknowledged one$/);
  const { path, headers, body } = suggestion?.request ?? {};
  t.is(path, '/api/v2/alerts/rules/r1');
  t.deepEqual(headers, { 'if-match': '"3"' });
  const after = body as ReturnType<typeof rule>;
  t.true(after.condition.kind === 'threshold' && (after.condition.thresholds[0]?.value ?? 0) > 10);
  t.false('id' in after || 'version' in after);
});

test('no acknowledged alert is lost', (t) => {
  const far = { alertId, startedAtMs: 200 * minuteMs };
  t.regex(
    suggestThreshold(history({ acknowledged: [far] }), 7)?.effect ?? '',
    /none of the 1 acknowledged alerts would be lost/,
  );
  // The lowest peak: every effective threshold would lose it.
  const low = { alertId, startedAtMs: 140 * minuteMs };
  t.is(suggestThreshold(history({ acknowledged: [far, low] }), 7), undefined);
});

test('a threshold with the operator below is moved down', (t) => {
  const below = history({ rule: rule({ operator: 'below', value: -10 }), evaluations: noisy(-1) });
  const { body } = suggestThreshold(below, 7)?.request ?? {};
  const { condition } = body as ReturnType<typeof rule>;
  t.true(condition.kind === 'threshold' && (condition.thresholds[0]?.value ?? 0) < -10);
});

const quiet: Readonly<Record<string, object>> = {
  'that fires seldom': { evaluations: noisy().slice(0, 5 * 20) },
  'with a threshold in another unit': { rule: rule({ unit: 'ms' }) },
  'that fires for any value': { rule: rule({ operator: 'any', value: undefined }) },
  'with only equal alerts': {
    evaluations: noisy().map(({ atMs }) => ({
      atMs,
      groups: [{ labels, value: atMs % (20 * minuteMs) === 0 ? 11 : 2 }],
    })),
    acknowledged: [{ alertId, startedAtMs: 0 }],
  },
};
for (const [title, more] of Object.entries(quiet))
  test(`no suggestion is made for a rule ${title}`, (t) => {
    t.is(suggestThreshold(history(more), 7), undefined);
  });

const seen = (more: Partial<ServiceActivity>): ServiceActivity => ({
  name: 'cart',
  requests: 0,
  failed: 0,
  errorLogs: 0,
  ...more,
});
const nothing = { objectives: [], rules: [] };

test('a service without an objective and an alert gets an objective that it meets', (t) => {
  const [suggestion] = suggestForServices([seen({ requests: 10_000, failed: 30 })], nothing);
  t.is(suggestion?.kind, 'slo');
  t.like(suggestion?.request?.body, { service: 'cart', targetPct: 99.5, type: 'availability' });
  t.regex(suggestion?.evidence ?? '', /10000 requests in the last day, 99.7 % of them/);
});

test('a service that only writes errors gets an alert far above its normal level', (t) => {
  const [suggestion] = suggestForServices([seen({ errorLogs: 2_880 })], nothing);
  t.is(suggestion?.kind, 'alert');
  const fields = AlertRuleFields.parse(suggestion?.request?.body);
  t.true(fields.condition.kind === 'threshold' && fields.condition.thresholds[0]?.value === 100);
});

const watching: Readonly<Record<string, Parameters<typeof suggestForServices>[1]>> = {
  'has an objective': { ...nothing, objectives: [{ service: 'cart', query: {} }] },
  'is named by a rule': { ...nothing, rules: [{ query: { kind: 'aggregate', search: 'service:cart' } }] },
  'is a group of a rule': { ...nothing, rules: [{ query: { kind: 'aggregate', groupBy: ['service'] } }] },
  'is a group of a rule in PromQL': {
    ...nothing,
    rules: [{ query: { expression: 'sum by (service) (rate(x[5m]))' } }],
  },
};
for (const [title, present] of Object.entries(watching))
  test(`no suggestion is made for a service that ${title}`, (t) => {
    t.deepEqual(suggestForServices([seen({ requests: 10_000 })], present), []);
  });

const catalogue = {
  logs: { services: ['cart'], fields: [] },
  traces: { services: [], fields: [] },
  metrics: [{ name: 'system.cpu.utilization', kind: 'gauge' as const, unit: '1', labels: [], services: [] }],
};

test('detectors are suggested for landed telemetry, and not again once one exists', (t) => {
  const first = suggestDetectors(catalogue, []);
  t.deepEqual(
    first.map(({ subject }) => subject),
    ['Error logs of services', 'Warnings and errors by log pattern', 'CPU of hosts'],
  );
  const present = first.map(({ request }) => request?.body as Parameters<typeof suggestDetectors>[1][number]);
  t.deepEqual(suggestDetectors(catalogue, present), []);
});

test('unused metrics with many series are reported, and used metrics are not', (t) => {
  const searchedIn = [{ what: 'dashboards', documents: 4 }];
  const uses = new Map([
    ['read', { uses: [{ what: 'dashboards', id: 'd', name: 'D' }], searchedIn }],
    ['unread', { uses: [], searchedIn }],
    ['unknown', { uses: { value: null, reason: 'nothing is kept' }, searchedIn }],
  ]);
  const costs = ['read', 'unread', 'unknown', 'small'].map((metric) => ({
    metric,
    series: metric === 'small' ? 9 : 500,
  }));
  const found = suggestMetricRemoval(costs, uses);
  t.deepEqual(
    found.map(({ subject, request }) => [subject, request]),
    [['unread', null]],
  );
  t.regex(found[0]?.evidence ?? '', /500 series of the last day, and none of 4 dashboards uses it/);
});

test('a log pattern is reported if it is a large part of all records', (t) => {
  const pattern = { id: 'p', service: 'cart', template: 'polled <number>', records: 40_000 };
  t.is(suggestPatternReduction([pattern], 100_000).length, 1);
  t.is(suggestPatternReduction([pattern], 1_000_000).length, 0);
});

test('an id is derived from organization, subject and request, and is recognized for its organization', (t) => {
  const [suggestion] = suggestForServices([seen({ requests: 10_000 })], nothing) as [Suggestion];
  const id = createSuggestionId('a', suggestion);
  t.is(id, createSuggestionId('a', { ...suggestion, evidence: 'other words', weight: 1 }));
  t.not(id, createSuggestionId('a', { ...suggestion, request: null }));
  t.not(id, createSuggestionId('b', suggestion));
  t.true(isSuggestionId('a', id));
  t.false(isSuggestionId('b', id));
  t.false(isSuggestionId('a', 'x'.repeat(32)));
});

test('evidence counts as changed if it halves or doubles', (t) => {
  t.true(isEvidenceUnchanged(100, 150));
  t.false(isEvidenceUnchanged(100, 201));
  t.false(isEvidenceUnchanged(100, 49));
});

test('large custom attributes that no document names are reported', (t) => {
  const costs = [
    { key: 'cart.dump', share: 0.6, recordShare: 0.5 },
    { key: 'http.route', share: 0.2, recordShare: 1 },
    { key: 'cart.read', share: 0.1, recordShare: 1 },
    { key: 'cart.small', share: 0.01, recordShare: 1 },
  ];
  t.deepEqual(
    findLargeAttributes(50_000, costs).map(({ key }) => key),
    ['cart.dump', 'cart.read'],
  );
  t.deepEqual(findLargeAttributes(500, costs), []);
  const unnamed = { keys: ['cart.dump', 'cart.small'], scannedText: '4 dashboards' };
  const [suggestion, ...others] = suggestAttributeRemoval('logs', 50_000, costs, unnamed);
  t.deepEqual(others, []);
  t.like(suggestion, { kind: 'unread-attribute', subject: 'logs cart.dump', request: null });
  t.regex(suggestion?.evidence ?? '', /^cart.dump is 60 % of .* 50000 log records .* none of 4 dashboards uses it/);
  t.regex(suggestion?.effect ?? '', /delete_key\(attributes, "cart.dump"\)/);
});
