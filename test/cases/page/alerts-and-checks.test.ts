/** Texts and decisions of the page about alerts, incidents, shifts and synthetic checks */
import test from 'ava';
import { phases } from '../../../subjects/synthetics/assertions.ts';
import { checkTypes } from '../../../subjects/synthetics/registry.ts';
import { BrowserStep } from '../../../subjects/synthetics/types/browser-steps.ts';
import { isSeriesOfAlert, toEvaluatedValues } from '../../../web/areas/alerts/alert-format.ts';
import { emptyBrowserSteps } from '../../../web/areas/checks/browser-kinds.ts';
import {
  assertionSourcesByType,
  defaultSettingsByType,
  formatAssertion,
  sourceProperties,
  sourceTitles,
} from '../../../web/areas/checks/setting-kinds.ts';
import { findHandover, mergeSamePeople, type ShiftOrGap } from '../../../web/areas/incidents/shifts.ts';
import { getEntryText, getEntryTitle } from '../../../web/areas/incidents/timeline-texts.ts';

test('an assertion of a run is a sentence with the titles of its parts', (t) => {
  const cases = [
    [{ source: 'status', operator: 'is', value: '200' }, 'Status code is 200'],
    [{ source: 'header', name: 'etag', operator: 'exists' }, 'Header etag exists'],
    [{ source: 'certificate', name: 'daysLeft', operator: 'gte', value: '14' }, 'Certificate days left is at least 14'],
    [{ source: 'phase', name: 'wait', operator: 'lt', value: '500' }, 'Phase (ms) first byte is below 500'],
    [{ source: 'later', operator: 'resembles', value: 'x' }, 'later resembles x'],
  ] as const;
  for (const [assertion, text] of cases) t.is(formatAssertion(assertion), text);
});

test('each type of a check has a form, and each of its assertion sources a title', (t) => {
  t.deepEqual(Object.keys(defaultSettingsByType).toSorted(), checkTypes.map(({ type }) => type).toSorted());
  for (const sources of Object.values(assertionSourcesByType))
    for (const source of sources ?? []) t.not(sourceTitles[source], undefined, source);
  t.deepEqual(sourceProperties.phase, [...phases]);
});

test('each action of a browser step has a form', (t) => {
  const actions = BrowserStep.options.map(({ shape }) => shape.action.value);
  t.deepEqual(Object.keys(emptyBrowserSteps).toSorted(), [...actions].toSorted());
});

test('the series of an alert is the one without other values of its labels', (t) => {
  const alert = { service: 'cart', severity: 'critical', team: 'shop' };
  t.true(isSeriesOfAlert({ service: 'cart' }, alert));
  t.true(isSeriesOfAlert({}, alert));
  t.true(isSeriesOfAlert({ service: 'cart', host: 'a' }, alert));
  t.false(isSeriesOfAlert({ service: 'mail' }, alert));
});

const shift = (from: string, to: string, ...userIds: string[]): ShiftOrGap => ({
  from: `2026-03-23T${from}:00Z`,
  to: `2026-03-23T${to}:00Z`,
  userIds,
  layer: 'a',
  overrideId: null,
  reason: null,
});

test('consecutive shifts of the same people are one, except overrides and after a pause', (t) => {
  const shifts = [
    shift('00:00', '08:00', 'ann'),
    { ...shift('08:00', '12:00', 'ann'), layer: 'b' },
    { ...shift('12:00', '13:00', 'ann'), overrideId: 'o1' },
    shift('14:00', '15:00', 'ann', 'bob'),
    shift('15:00', '16:00', 'ann', 'bob'),
    shift('17:00', '18:00', 'ann', 'bob'),
  ];
  t.deepEqual(
    mergeSamePeople(shifts).map(
      ({ from, to, userIds }) => `${from.slice(11, 16)}-${to.slice(11, 16)} ${userIds.join()}`,
    ),
    ['00:00-12:00 ann', '12:00-13:00 ann', '14:00-16:00 ann,bob', '17:00-18:00 ann,bob'],
  );
});

test('a handover is where other people take over, or no one', (t) => {
  const shifts = [
    shift('00:00', '08:00', 'ann'),
    shift('08:00', '12:00', 'ann'),
    shift('12:00', '13:00'),
    shift('13:00', '20:00', 'bob'),
  ];
  const handoverAt = (time: string) => {
    const { current, next } = findHandover(shifts, Date.parse(`2026-03-23T${time}:00Z`));
    return [current, next].map((part) =>
      part === undefined ? '' : `${part.userIds.join()} ${part.from.slice(11, 16)}-${part.to.slice(11, 16)}`,
    );
  };
  t.deepEqual(handoverAt('07:00'), ['ann 00:00-12:00', ' 12:00-13:00']);
  t.deepEqual(handoverAt('10:00'), ['ann 00:00-12:00', ' 12:00-13:00']);
  t.deepEqual(handoverAt('12:30'), [' 12:00-13:00', 'bob 13:00-20:00']);
  t.deepEqual(handoverAt('19:00'), ['bob 13:00-20:00', '']);
  t.deepEqual(handoverAt('20:00'), ['', '']);
});

test('changes of an incident are in words, without empty fields and what the entry states elsewhere', (t) => {
  const cases = [
    ['change', 'incident.create', 'title: Slow\nstatus: open', 'Incident declared', ''],
    [
      'change',
      'incident.update',
      'severity: critical\nresolvedAt: null\ntags: []',
      'Incident changed',
      'severity: critical',
    ],
    ['acknowledgement', 'incident.acknowledge', 'status: acknowledged\nacknowledgedBy: u1', '', ''],
    ['change', 'incident.later', 'roles: ["a"]', 'incident.later', 'roles: ["a"]'],
    ['note', 'note', 'tags: []', '', 'tags: []'],
    ['config', 'dashboard.create Shop', '', 'Dashboard created: Shop', ''],
    ['config', 'alert-rule.run-test', '', 'Alert rule run test', ''],
    ['alert', 'Latency: pending to firing', 'p95 is above 1 s', 'Latency: pending to firing', 'p95 is above 1 s'],
  ] as const;
  for (const [kind, title, text, shownTitle, shownText] of cases) {
    t.is(getEntryTitle({ kind, title, text }), shownTitle);
    t.is(getEntryText({ kind, title, text }), shownText);
  }
});

test('stored evaluations of an alert are a series in the unit of its reasons, with the thresholds of its rule', (t) => {
  const rule = {
    condition: { kind: 'threshold', thresholds: [{ severity: 'critical', operator: 'above', value: 500, unit: 'ms' }] },
  } as unknown as Parameters<typeof toEvaluatedValues>[1];
  const evaluations = [
    { at: '2026-03-01T10:01:00.000Z', value: 2_464_440_000, reason: '2464.44 ms is above 500 ms' },
    { at: '2026-03-01T10:00:00.000Z', value: 120_000_000, reason: '120 ms is not above 500 ms' },
  ];
  t.like(toEvaluatedValues(evaluations, rule, { service: 'cart' }), {
    from: '2026-03-01T10:00:00.000Z',
    to: '2026-03-01T10:01:00.000Z',
    limits: [{ severity: 'critical', operator: 'above', value: 500, upper: null }],
  });
  t.deepEqual(toEvaluatedValues(evaluations, rule, {})?.series[0]?.points, [
    [Date.parse('2026-03-01T10:00:00.000Z'), 120],
    [Date.parse('2026-03-01T10:01:00.000Z'), 2464.44],
  ]);
  t.is(toEvaluatedValues(evaluations.slice(1), rule, {}), undefined);
});
