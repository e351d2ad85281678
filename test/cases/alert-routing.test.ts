/**
 * Routing of alerts as pure functions: trees, time intervals across clock changes, inhibition, and Alertmanager files.
 */
import test from 'ava';
import { AlertRouting, defaultRouting } from '../../schemas/resources/alert-routing.ts';
import {
  AlertmanagerFileError,
  importAlertmanager,
  parseMatchers,
} from '../../subjects/alerts/routing/alertmanager.ts';
import { Inhibition } from '../../subjects/alerts/routing/inhibition.ts';
import { mergeRouting } from '../../subjects/alerts/routing/merge-routing.ts';
import { findRoutingProblems } from '../../subjects/alerts/routing/problems.ts';
import { findTimeMuteReason, intervalContains } from '../../subjects/alerts/routing/times.ts';
import {
  compileRoutes,
  createGroupKey,
  explainRoutes,
  findRoutes,
  selectGroupLabels,
} from '../../subjects/alerts/routing/tree.ts';

const file = `
global: { resolve_timeout: 5m }
route:
  receiver: everyone
  group_by: [alertname]
  routes:
    - match: { severity: critical }
      receiver: pager
      group_wait: 10s
      continue: true
    - matchers: ['team=~"db|cache"', 'env!=test']
      receiver: storage
      group_by: ['...']
      active_time_intervals: [office]
      routes:
        - matchers: ['service="replica"']
          repeat_interval: 1h30m
    - match_re: { team: 'd.*' }
      receiver: others
receivers:
  - name: everyone
  - name: pager
    pagerduty_configs: [{ routing_key: secret }]
  - name: storage
    slack_configs: [{ channel: '#db', send_resolved: false }]
  - name: others
inhibit_rules:
  - source_matchers: ['severity="critical"']
    target_matchers: ['severity=~"warning|info"']
    equal: [service]
time_intervals:
  - name: office
    time_intervals:
      - times: [{ start_time: '09:00', end_time: '17:00' }]
        weekdays: ['monday:friday']
        location: Europe/Zurich
`;
const { routing, notes } = importAlertmanager(file);

const reached: readonly (readonly [labels: Record<string, string>, receivers: string])[] = [
  [{}, 'everyone'],
  [{ severity: 'critical' }, 'pager'],
  [{ severity: 'critical', team: 'db' }, 'pager,storage'],
  [{ team: 'db', env: 'test' }, 'others'],
  [{ team: 'dbx' }, 'others'],
  [{ team: 'cache', service: 'replica' }, 'storage'],
];
for (const [labels, receivers] of reached)
  test(`${JSON.stringify(labels)} reaches ${receivers}`, (t) => {
    const found = findRoutes(compileRoutes(routing), labels);
    t.is(found.map(({ receiver }) => receiver).join(), receivers);
    const steps = explainRoutes(compileRoutes(routing), labels);
    t.deepEqual(
      steps.filter(({ outcome }) => outcome === 'reached').map(({ id }) => id),
      found.map(({ id }) => id),
    );
    t.true(steps.every(({ reason }) => reason.length > 0));
  });

const atTheEnd: readonly (readonly [integrations: string, notifies: boolean])[] = [
  ['slack_configs: [{ channel: x }]', false],
  ['email_configs: [{ to: a@example.com }]', false],
  ['wechat_configs: [{ corp_id: x }]', false],
  ['rocketchat_configs: [{ channel: x }]', false],
  ['pagerduty_configs: [{ routing_key: x }]', true],
  ['webhook_configs: [{ url: http://example.com }]', true],
  ['slack_configs: [{ channel: x, send_resolved: true }]', true],
  ['webhook_configs: [{ url: http://example.com, send_resolved: false }]', false],
  ['slack_configs: [{ channel: x }], pagerduty_configs: [{ routing_key: x }]', true],
];
for (const [integrations, sendsResolved] of atTheEnd)
  test(`a receiver with ${integrations} is ${sendsResolved ? '' : 'not '}notified of resolved alerts, as in Alertmanager`, (t) => {
    const imported = importAlertmanager(`{ route: { receiver: a }, receivers: [{ name: a, ${integrations} }] }`);
    t.is(imported.routing.receivers[0]?.sendResolved, sendsResolved);
  });

const indented = file.replaceAll('\n', '\n    ');
const secrets = {
  stringData: `kind: Secret\nstringData:\n  alertmanager.yaml: |-\n    ${indented}`,
  data: `kind: Secret\ndata: { alertmanager.yml: ${Buffer.from(file).toString('base64')} }`,
};
for (const [field, secret] of Object.entries(secrets))
  test(`a file in a Secret of Kubernetes (${field}) is imported like the file`, (t) => {
    t.deepEqual(importAlertmanager(secret), importAlertmanager(file));
  });

test('an import preserves the channels of receivers of the same name, and lists what saving it would remove', (t) => {
  const imported = importAlertmanager(file);
  const current = AlertRouting.parse({
    route: { receiver: 'pager' },
    receivers: [{ name: 'pager', channelIds: ['phone'], escalationPolicyId: 'night' }, { name: 'mine' }],
    timeIntervals: [{ name: 'lunch', timeIntervals: [{}] }],
  });
  const merged = mergeRouting(imported, current);
  t.deepEqual(
    merged.routing.receivers.map(({ name, channelIds, escalationPolicyId }) => [name, channelIds, escalationPolicyId]),
    [
      ['everyone', [], undefined],
      ['pager', ['phone'], 'night'],
      ['storage', [], undefined],
      ['others', [], undefined],
    ],
  );
  t.deepEqual(merged.notes, [
    'receiver pager keeps its channels and escalation policy',
    'receiver storage had 1 × slack: create channels for them and name them in its channelIds',
    'global is omitted: channels have their own settings and templates',
    'receivers mine of the current routing: not in the file, so saving the document removes them',
    'time intervals lunch of the current routing: not in the file, so saving the document removes them',
  ]);
  t.deepEqual(mergeRouting(imported, merged.routing).routing, merged.routing);
});

test('routes inherit unset fields from the parent route', (t) => {
  const [replica] = findRoutes(compileRoutes(routing), { team: 'db', service: 'replica' });
  t.is(replica?.groupWaitMs, 30_000);
  t.is(replica?.repeatIntervalMs, 5_400_000);
  t.is(replica?.groupBy, undefined);
  // Time intervals are not inherited.
  t.deepEqual(replica?.activeTimeIntervals, []);
});

test('alerts are grouped by the labels of their route, or by all labels', (t) => {
  const [root] = findRoutes(compileRoutes(routing), { alertname: 'Slow', service: 'cart' });
  const labels = { alertname: 'Slow', service: 'cart' };
  t.deepEqual(root && selectGroupLabels(root, labels), { alertname: 'Slow' });
  t.is(root && createGroupKey(root, { alertname: 'Slow' }), '{}:{alertname="Slow"}');
  t.deepEqual(selectGroupLabels({ groupBy: undefined }, labels), labels);
});

test('an Alertmanager import reports the parts of the file that it omits', (t) => {
  t.deepEqual(
    routing.receivers.map(({ name, sendResolved }) => [name, sendResolved]),
    [
      ['everyone', true],
      ['pager', true],
      ['storage', false],
      ['others', true],
    ],
  );
  const merged = mergeRouting(importAlertmanager(file), defaultRouting);
  t.true(merged.notes[0]?.includes('1 × pagerduty'));
  t.deepEqual(notes, ['global is omitted: channels have their own settings and templates']);
});

const wrong: readonly (readonly [text: string, message: RegExp])[] = [
  ['a: [', /not valid YAML/],
  ['hello', /not an Alertmanager configuration file/],
  ['groups: []', /not an Alertmanager configuration file: it has no route and receivers/],
  ['kind: Secret\nstringData: { a: b }', /not an Alertmanager configuration file/],
  ['route: {receiver: a}\nreceivers: [{name: b}]', /names a, which is not a defined receiver/],
  ['route: {receiver: a, matchers: ["b"]}\nreceivers: [{name: a}]', /b is not a matcher/],
  ['route: {receiver: a, routes: [{match_re: {b: "("}}]}\nreceivers: [{name: a}]', /is not a valid expression/],
  ['route: {receiver: a, group_wait: soon}\nreceivers: [{name: a}]', /must be a duration/],
  ['route: {receiver: a}\nreceivers: [{name: a}, {name: a}]', /holds a twice/],
];
for (const [text, expected] of wrong)
  test(`rejects ${JSON.stringify(text)}`, (t) => {
    t.regex(t.throws(() => importAlertmanager(text), { instanceOf: AlertmanagerFileError })?.message ?? '', expected);
  });

test('matchers are parsed in each of their forms', (t) => {
  const both = [
    { name: 'a', operator: '=', value: 'b' },
    { name: 'c', operator: '!~', value: 'd,e' },
  ];
  for (const text of ['a=b, c!~"d,e"', '{a="b",c!~"d,e"}', '"a" = "b",c !~ "d,e"'])
    t.deepEqual(parseMatchers(text) as unknown, both, text);
  t.is(parseMatchers(''), undefined);
  t.is(parseMatchers('a'), undefined);
});

test('the default routing has no problems', (t) => {
  t.deepEqual(findRoutingProblems(defaultRouting), []);
});

const interval = (fields: object) =>
  AlertRouting.parse({
    ...defaultRouting,
    timeIntervals: [{ name: 'one', timeIntervals: [fields] }],
  }).timeIntervals[0]?.timeIntervals[0] as Parameters<typeof intervalContains>[0];

const night = { times: [{ startTime: '02:00', endTime: '03:00' }], location: 'Europe/Zurich' };
const weekend = { weekdays: ['saturday', 'sunday'], location: 'America/New_York' };
const weekendRange = { weekdays: ['saturday:sunday'] };
const longWeekend = { weekdays: ['friday:monday'] };
const lastDay = { daysOfMonth: ['-1'], location: 'Asia/Tokyo' };
const times: readonly (readonly [what: string, fields: object, at: string, isInside: boolean])[] = [
  ['a night', night, '2026-03-28T01:30:00Z', true],
  // On 29 March 2026 the clocks in Zurich go from 01:59 to 03:00.
  ['the last minute before the skipped hour', night, '2026-03-29T00:59:00Z', false],
  ['the skipped hour', night, '2026-03-29T01:00:00Z', false],
  ['the night after', night, '2026-03-30T00:30:00Z', true],
  // On 25 October 2026 the hour from 02:00 to 02:59 occurs twice.
  ['the first of two equal hours', night, '2026-10-25T00:30:00Z', true],
  ['the second of two equal hours', night, '2026-10-25T01:30:00Z', true],
  ['the hour after them', night, '2026-10-25T02:00:00Z', false],
  // On 8 March 2026 the day in New York has 23 hours, on 1 November 25.
  ['the end of a short Sunday', weekend, '2026-03-09T03:59:00Z', true],
  ['the Monday after a short Sunday', weekend, '2026-03-09T04:00:00Z', false],
  ['the start of a Saturday', weekend, '2026-10-31T04:00:00Z', true],
  ['the Friday before', weekend, '2026-10-31T03:59:00Z', false],
  ['the end of a long Sunday', weekend, '2026-11-02T04:59:00Z', true],
  ['the Monday after a long Sunday', weekend, '2026-11-02T05:00:00Z', false],
  ['a Saturday in a range across the end of the week', weekendRange, '2026-11-28T00:00:00Z', true],
  ['a Sunday in a range across the end of the week', weekendRange, '2026-11-29T23:59:59Z', true],
  ['the Friday before a range over the end of the week', weekendRange, '2026-11-27T23:59:59Z', false],
  ['the Monday after a range over the end of the week', weekendRange, '2026-11-30T00:00:00Z', false],
  ['a Monday in a range over the end of the week', longWeekend, '2026-11-30T12:00:00Z', true],
  ['a Tuesday after a range over the end of the week', longWeekend, '2026-12-01T00:00:00Z', false],
  ['the last day of February', lastDay, '2026-02-27T15:00:00Z', true],
  ['the day before it', lastDay, '2026-02-27T14:59:00Z', false],
  ['the last day of a leap year’s February', lastDay, '2028-02-28T15:00:00Z', true],
  ['a day that the month lacks', { daysOfMonth: ['31'] }, '2026-04-30T12:00:00Z', false],
  ['a range that ends after the month', { daysOfMonth: ['30:31'] }, '2026-04-30T12:00:00Z', true],
  ['months and years', { months: ['june:august', '12'], years: ['2026'] }, '2026-12-01T00:00:00Z', true],
  ['another year', { months: ['12'], years: ['2027:2030'] }, '2026-12-01T00:00:00Z', false],
  ['the end of a day', { times: [{ startTime: '23:00', endTime: '24:00' }] }, '2026-12-01T23:59:59Z', true],
  ['no ranges', {}, '2026-12-01T00:00:00Z', true],
];
for (const [what, fields, at, isInside] of times)
  test(`${JSON.stringify(fields)} ${isInside ? 'contains' : 'does not contain'} ${at}: ${what}`, (t) => {
    t.is(intervalContains(interval(fields), Date.parse(at)), isInside);
  });

test('a route is muted during its mute intervals and outside its active intervals', (t) => {
  const noon = Date.parse('2026-11-18T11:00:00Z');
  const sunday = Date.parse('2026-11-22T11:00:00Z');
  const none = { muteTimeIntervals: [], activeTimeIntervals: [] };
  t.is(findTimeMuteReason(routing, none, sunday), undefined);
  t.is(findTimeMuteReason(routing, { ...none, activeTimeIntervals: ['office'] }, noon), undefined);
  t.regex(findTimeMuteReason(routing, { ...none, activeTimeIntervals: ['office'] }, sunday) ?? '', /office/);
  t.regex(findTimeMuteReason(routing, { ...none, muteTimeIntervals: ['office'] }, noon) ?? '', /muted/);
  t.is(findTimeMuteReason(routing, { ...none, muteTimeIntervals: ['office'] }, sunday), undefined);
});

test('a firing alert mutes other alerts with equal labels', (t) => {
  const inhibition = new Inhibition(routing.inhibitRules);
  const critical = { severity: 'critical', service: 'cart' };
  t.is(inhibition.findMutingAlert({ severity: 'warning', service: 'cart' }), undefined);
  inhibition.add('a', critical);
  t.is(inhibition.findMutingAlert({ severity: 'warning', service: 'cart' }), 'a');
  t.is(inhibition.findMutingAlert({ severity: 'warning', service: 'mail' }), undefined);
  t.is(inhibition.findMutingAlert({ severity: 'warning' }), undefined);
  t.is(inhibition.findMutingAlert(critical), undefined);
  inhibition.remove('a', critical);
  t.is(inhibition.findMutingAlert({ severity: 'warning', service: 'cart' }), undefined);
});

test('a label that both alerts lack counts as equal', (t) => {
  const inhibition = new Inhibition(routing.inhibitRules);
  inhibition.add('a', { severity: 'critical' });
  t.is(inhibition.findMutingAlert({ severity: 'info' }), 'a');
});

test('two alerts that are both source and target do not mute each other, and another source mutes them', (t) => {
  const matcher = (name: string, value: string) => ({ name, operator: '=' as const, value });
  const inhibition = new Inhibition([
    { sourceMatchers: [matcher('s', '1')], targetMatchers: [matcher('t', '1')], equal: [] },
  ]);
  inhibition.add('a', { s: '1', t: '1' });
  t.is(inhibition.findMutingAlert({ s: '1', t: '1', other: 'x' }), undefined);
  t.is(inhibition.findMutingAlert({ t: '1' }), 'a');
  inhibition.add('b', { s: '1' });
  t.is(inhibition.findMutingAlert({ s: '1', t: '1', other: 'x' }), 'b');
});
