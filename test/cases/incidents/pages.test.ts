/** The content of a page: the alerts of the incident, links, and how to acknowledge it. */
import test from 'ava';
import type { Notification } from '../../../schemas/notifications.ts';
import type { Incident } from '../../../schemas/resources/incident.ts';
import { planIncidentChange } from '../../../subjects/incidents/from-alerts.ts';
import { type ChannelMessage, renderMessage } from '../../../subjects/notification-channels/message.ts';
import { channelTypes } from '../../../subjects/notification-channels/registry.ts';
import { createPageDelivery } from '../../../subjects/on-call/page.ts';

const openedMs = Date.parse('2026-11-25T10:00:00.000Z');
const stored = { version: 1, createdAt: '', updatedAt: '' };

const createNotification = (alertCount: number): Notification => ({
  tenantId: 'acme',
  id: 'n',
  channelId: '',
  escalationPolicyId: 'policy',
  receiver: 'team',
  groupKey: '{}:{alertname="Slow"}',
  groupLabels: {},
  commonLabels: { alertname: 'Slow' },
  commonAnnotations: {},
  status: 'firing',
  reason: 'first',
  truncatedAlerts: 0,
  atMs: openedMs,
  firing: alertCount,
  resolved: 0,
  alerts: Array.from({ length: alertCount }, (_, index) => ({
    alertId: `a${index}`,
    ruleId: 'rule',
    status: 'firing',
    labels: { alertname: 'Slow', severity: 'critical', service: `shop-${index}` },
    annotations: { summary: 'p95 is too high', runbook_url: 'https://runbooks.example/slow', other: 'not sent' },
    value: 2_500_000_000,
    held: { value: 2_500_000_000, text: '2.5 s', threshold: 'above 1 s', measure: 'p95' },
    reason: '2.5 s is above 1 s on average over 5m',
    startsAtMs: openedMs - 60_000,
  })),
});

const openIncident = (alertCount: number): Incident & { readonly id: string } => {
  const change = planIncidentChange(undefined, createNotification(alertCount), { reopenWithinMinutes: 0 });
  if (change === undefined || !('opens' in change)) throw new Error('no incident was opened');
  return change.opens;
};

const createPage = (incident: Incident & { readonly id: string }): Notification => {
  const { notification } = createPageDelivery(
    { ...incident, ...stored },
    { id: 'page', round: 0, step: 0, to: { kind: 'person', id: 'user' } },
    { tenantId: 'acme', policyName: 'nights', nowMs: openedMs + 60_000 },
  );
  if (notification === undefined) throw new Error('the page has no notification');
  return notification;
};

const publicUrl = 'https://oiq.example';
const acknowledge = {
  pageUrl: `${publicUrl}/acknowledge#token=secret`,
  postUrl: `${publicUrl}/auth/acknowledge-incident`,
  token: 'secret',
};
const render = (page: Notification): ChannelMessage => renderMessage(page, { publicUrl, acknowledge });

test('a page has the value, threshold, summary, reason and runbook of its alerts, and links to the incident', (t) => {
  const incident = openIncident(1);
  const { text, link, title } = render(createPage(incident));
  t.is(link, `${publicUrl}/incidents?incident=${incident.id}`);
  t.is(title, '[FIRING:1] critical: Slow – shop-0');
  t.deepEqual(
    text.split('\n').filter((line) => line !== ''),
    [
      'Firing: Slow – p95 is too high',
      'p95 2.5 s, above 1 s, for 2 min',
      '2.5 s is above 1 s on average over 5m',
      'Step 1, round 1, escalation policy nights',
      'since 2026-11-25 09:59:00 UTC',
      'severity=critical, service=shop-0',
      'Runbook: https://runbooks.example/slow',
      link,
      `Acknowledge: ${acknowledge.pageUrl}`,
    ],
  );
});

test('a page of many alerts has the first ones and the number of the others', (t) => {
  const { text, payload } = render(createPage(openIncident(12)));
  t.is(payload.alerts.length, 5);
  t.true(text.includes('and 7 more alerts'));
  t.is(text.split('escalation policy nights').length, 2);
});

test('a page of an incident without alerts has its title and summary', (t) => {
  const { notifiedAlerts: _, ...declared } = openIncident(1);
  const { text, payload } = render(createPage({ ...declared, summary: 'checkout fails', alertIds: [] }));
  t.true(text.startsWith('Firing: Slow – checkout fails\n'));
  t.is(payload.alerts[0]?.generatorURL, `${publicUrl}/incidents?incident=${declared.id}`);
});

test('a webhook gets the incident of a page, and the link to acknowledge it', (t) => {
  const incident = openIncident(1);
  const { payload } = render(createPage(incident));
  t.deepEqual(payload.incident, {
    id: incident.id,
    url: `${publicUrl}/incidents?incident=${incident.id}`,
    acknowledgeUrl: acknowledge.pageUrl,
  });
  t.is(payload.alerts[0]?.value, 2_500_000_000);
  t.is(renderMessage(createNotification(1), { publicUrl }).payload.incident, undefined);
});

test('services in which others see the page declare so, so that no personal link is sent there', (t) => {
  t.deepEqual(
    channelTypes.filter(({ opens }) => opens !== undefined).map(({ type }) => type),
    ['pagerduty', 'opsgenie'],
  );
});
