/**
 * The payloads of each channel type, as readable files: `notifications-golden/<type>.yaml`. After a change,
 * `OIQ_GOLDEN=write ava test/cases/notifications-golden.test.ts` rewrites the files.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { stringify } from 'yaml';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import { renderMessage } from '../../subjects/notification-channels/message.ts';
import { channelTypes } from '../../subjects/notification-channels/registry.ts';
import { services } from './channel-receiver.ts';

const directory = join(import.meta.dirname, 'notifications-golden');
const beganMs = Date.UTC(2026, 10, 24, 3, 50, 50, 701);
const minute = 60_000;

const alert = (labels: Record<string, string>, more: Partial<NotifiedAlert> = {}): NotifiedAlert => ({
  alertId: 'a',
  ruleId: 'rule-1',
  status: 'firing',
  startsAtMs: beganMs,
  value: 2_500_000_000,
  labels: { alertname: 'Checkout is slow', severity: 'critical', service: 'checkout', ...labels },
  annotations: {
    summary: 'p95 of checkout is too high',
    description: 'Customers wait. Look at the payment provider first.',
    runbook_url: 'https://runbooks.example.com/check_out_slow',
  },
  held: { value: 2_500_000_000, text: '2.5 s', threshold: 'above 1 s', measure: 'p95' },
  reason: '2.5 s is above 1 s on average over 5m',
  ...more,
});

const notification = (reason: Notification['reason'], afterMs: number, alerts: NotifiedAlert[]): Notification => {
  const firing = alerts.filter(({ status }) => status === 'firing').length;
  const [first] = alerts;
  return {
    tenantId: 'acme',
    id: 'n-1',
    channelId: 'c',
    receiver: 'on-call',
    groupKey: '{}:{alertname="Checkout is slow"}',
    groupLabels: { alertname: first?.labels['alertname'] ?? '' },
    commonLabels: first?.labels ?? {},
    commonAnnotations: first?.annotations ?? {},
    status: firing > 0 ? 'firing' : 'resolved',
    reason,
    alerts,
    firing,
    resolved: alerts.length - firing,
    truncatedAlerts: 0,
    atMs: beganMs + afterMs,
  };
};

const hostile = '[click](http://evil.example) *b* `code` <b>x</b> _i_ ~~s~~ &lt; @everyone';

const situations: Readonly<Record<string, Notification>> = {
  'an alert fires': notification('first', 12 * minute, [alert({})]),
  'its severity rises': notification('escalated', 12 * minute, [alert({})]),
  'it is told again': notification('repeated', 245 * minute, [alert({})]),
  'it ends': notification('resolved', 78 * minute, [
    alert(
      {},
      { status: 'resolved', endsAtMs: beganMs + 78 * minute, reason: '0.4 s is not above 1 s on average over 5m' },
    ),
  ]),
  'a value of 0': notification('first', 30_000, [
    alert(
      { alertname: 'No workers', severity: 'error', service: 'jobs' },
      {
        value: 0,
        held: { value: 0, text: '0', threshold: 'below 1' },
        annotations: {},
        reason: '0 is below 1 over 5m',
      },
    ),
  ]),
  'two services, without a value': notification('first', 30_000, [
    alert(
      { service: 'cart' },
      { value: null, held: { value: null, text: '', threshold: '' }, reason: 'there was no data for 5m' },
    ),
    alert(
      { service: 'mail' },
      { value: null, held: { value: null, text: '', threshold: '' }, reason: 'there was no data for 5m' },
    ),
  ]),
  'telemetry that says Markdown': notification('first', 30_000, [
    alert(
      { service: hostile },
      { annotations: { summary: `Slow: ${hostile}`, description: `- ${hostile}\n1. one\n# big` } },
    ),
  ]),
};

const ofPerson: Readonly<Record<string, Notification>> = {
  'a person is paged': {
    ...notification('first', 30_000, [
      alert({}, { value: null, held: undefined, reason: 'Step 1, round 1, escalation policy Shop' } as never),
    ]),
    page: { incidentId: 'i', userId: 'u', sinceMs: beganMs },
  },
};

/** Notifications for channel types that open an incident on the service. */
const ofOpening: Readonly<Record<string, Notification>> = {
  'a user acknowledges the incident of a page': {
    ...notification('acknowledged', 90_000, [
      alert({}, { value: null, held: undefined, reason: 'somebody sees to the incident' } as never),
    ]),
    page: { incidentId: 'i', userId: null, sinceMs: beganMs, isEnd: true },
  },
};

/** JSON, or the fields of a form. */
const readable = (body: string): unknown =>
  body.startsWith('{') ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));

/** The payload of a type, without values that differ each time. */
const sent = (type: (typeof channelTypes)[number], of: Notification): unknown => {
  const message = renderMessage(of, {
    publicUrl: 'https://oiq.example.com',
    timeZone: 'Europe/Berlin',
    acknowledge:
      of.page?.userId == null
        ? undefined
        : {
            pageUrl: 'https://oiq.example.com/acknowledge#token=t',
            postUrl: 'https://oiq.example.com/auth/acknowledge-incident',
            token: 't',
          },
  });
  if ('mails' in type) {
    const settings = type.settings.parse({ type: type.type, to: ['on-call@example.com'] });
    return type.mails(message, settings);
  }
  const settings = type.settings.parse({
    type: type.type,
    ...services[type.type]?.settings('https://service.example.com'),
  });
  return type.requests(message, settings).map(({ url, body }) => ({ url, body: readable(body) }));
};

for (const type of channelTypes)
  test(`${type.type} sends the payload of its golden file`, (t) => {
    const all = Object.fromEntries(
      Object.entries({ ...situations, ...ofPerson, ...(type.opens && ofOpening) }).map(([what, of]) => [
        what,
        sent(type, of),
      ]),
    );
    const text = stringify(all, { lineWidth: 0, aliasDuplicateObjects: false, blockQuote: 'literal' });
    const path = join(directory, `${type.type}.yaml`);
    if (process.env['OIQ_GOLDEN'] === 'write') {
      mkdirSync(directory, { recursive: true });
      writeFileSync(path, text);
    }
    t.is(text, readFileSync(path, 'utf8'));
  });
