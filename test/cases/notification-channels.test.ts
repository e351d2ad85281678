/** Every channel type with a test service: what it sends, and how it evaluates responses. */
import { createHmac } from 'node:crypto';
import { hostname } from 'node:os';
import test from 'ava';
import { openOutbound } from '../../runtime/outbound.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import type { Mail, Mailer } from '../../schemas/ports/mail.ts';
import { attemptDelivery } from '../../subjects/notification-channels/deliver.ts';
import { escapeMarkdown, formatDuration, formatTime } from '../../subjects/notification-channels/format-text.ts';
import { renderMessage } from '../../subjects/notification-channels/message.ts';
import { computeFingerprint } from '../../subjects/notification-channels/payload.ts';
import { channelTypes, findChannelType } from '../../subjects/notification-channels/registry.ts';
import { parseTemplate, TemplateError } from '../../subjects/notification-channels/template.ts';
import { type Reply, services, startChannelReceiver } from './channel-receiver.ts';

const clock = { now: () => Date.now() };
const outbound = openOutbound({ allowedNetworks: ['127.0.0.0/8'], timeoutMs: 60_000 });
const impatient = openOutbound({ allowedNetworks: ['127.0.0.0/8'], timeoutMs: 500 });

const mailer = (send: (mail: Mail) => Promise<void>, isDelivering = true): Mailer => ({
  isDelivering,
  send,
  close: async () => {},
});
const noMail = mailer(async () => {
  throw new Error('no mail is expected');
});

const notification: Notification = {
  tenantId: 'acme',
  id: 'n-1',
  channelId: 'c',
  receiver: 'on-call',
  groupKey: '{}:{alertname="Slow"}',
  groupLabels: { alertname: 'Slow' },
  commonLabels: { alertname: 'Slow', severity: 'critical' },
  commonAnnotations: { summary: 'Slow & <b>bad</b>' },
  status: 'firing',
  reason: 'first',
  firing: 2,
  resolved: 0,
  truncatedAlerts: 0,
  atMs: Date.UTC(2026, 0, 1),
  alerts: ['a', 'b'].map((instance) => ({
    alertId: `id-${instance}`,
    ruleId: 'r',
    status: 'firing' as const,
    value: 1.5,
    startsAtMs: Date.UTC(2026, 0, 1),
    labels: { alertname: 'Slow', severity: 'critical', instance },
    annotations: { summary: 'Slow & <b>bad</b>' },
  })),
};
const resolved: Notification = {
  ...notification,
  id: 'n-2',
  status: 'resolved',
  reason: 'resolved',
  firing: 0,
  resolved: 2,
  alerts: notification.alerts.map((alert) => ({ ...alert, status: 'resolved', endsAtMs: Date.UTC(2026, 0, 2) })),
};
const message = (of: Notification) => renderMessage(of, { publicUrl: 'https://oiq.example.com/' });

const refusals: readonly (readonly [what: string, reply: Reply, outcome: string])[] = [
  ['500', { status: 500, body: 'broken' }, 'retry'],
  ['503 and Retry-After', { status: 503, headers: { 'retry-after': '7' } }, 'retry'],
  ['429', { status: 429 }, 'retry'],
  ['400', { status: 400, body: 'no such thing' }, 'failed'],
  ['403', { status: 403 }, 'failed'],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'failed'],
  ['nothing', 'hang', 'retry'],
];

const typed = (type: string, url: string) => ({
  ...findChannelType(type).settings.parse({ type, ...services[type]?.settings(url) }),
});

test('every channel type that uses HTTP has a test service', (t) => {
  t.deepEqual(
    channelTypes
      .filter((type) => 'requests' in type)
      .map(({ type }) => type)
      .sort(),
    Object.keys(services).sort(),
  );
});

for (const [type, { accepted }] of Object.entries(services)) {
  test(`${type} is delivered when the service confirms it`, async (t) => {
    const service = await startChannelReceiver(accepted);
    t.teardown(() => service.close());
    const settings = typed(type, service.url);
    for (const sentNotification of [notification, resolved]) {
      const attempted = await attemptDelivery(
        findChannelType(type),
        { message: message(sentNotification), settings },
        { outbound, mailer: noMail, clock },
      );
      t.is(attempted.outcome, 'delivered', attempted.answer);
    }
    t.is(service.received.length, 2);
    t.true(service.received.every(({ method, body }) => method === 'POST' && body !== undefined));
  });

  for (const [what, reply, outcome] of refusals)
    test(`${type}: the service returns ${what}, so the attempt ends as ${outcome}`, async (t) => {
      const service = await startChannelReceiver(reply);
      t.teardown(() => service.close());
      const settings = typed(type, service.url);
      const attempted = await attemptDelivery(
        findChannelType(type),
        { message: message(notification), settings },
        { outbound: reply === 'hang' ? impatient : outbound, mailer: noMail, clock },
      );
      t.is(attempted.outcome, outcome as typeof attempted.outcome, attempted.answer);
      // A request without a response may not have arrived.
      if (reply !== 'hang') t.is(service.received.length, 1);
      if (what.includes('Retry-After')) t.is(attempted.retryAfterMs, 7000);
    });

  test(`${type}: a test firing is marked in the payload`, async (t) => {
    const service = await startChannelReceiver(accepted);
    t.teardown(() => service.close());
    const testMessage = message({ ...notification, isTest: true });
    await attemptDelivery(
      findChannelType(type),
      { message: testMessage, settings: typed(type, service.url) },
      { outbound, mailer: noMail, clock },
    );
    t.regex(JSON.stringify(service.received[0]?.body), /\[TEST\]|"isTest":true/);
    t.notRegex(JSON.stringify(message(notification)), /\[TEST\]|"isTest":true/);
  });

  test(`${type}: a private network that is not allowed is rejected permanently`, async (t) => {
    const attempted = await attemptDelivery(
      findChannelType(type),
      { message: message(notification), settings: typed(type, 'http://127.0.0.1:9') },
      { outbound: openOutbound(), mailer: noMail, clock },
    );
    t.is(attempted.outcome, 'failed');
    t.regex(attempted.answer, /private network/);
  });
}

const unexpectedAnswers: readonly (readonly [type: string, body: string])[] = [
  ['slack', '<html>welcome</html>'],
  ['discord', ''],
  ['pagerduty', '{"status":"invalid event"}'],
  ['opsgenie', '{}'],
  ['telegram', '{"ok":false,"description":"chat not found"}'],
  ['ntfy', 'welcome'],
  ['sms', '{"code":21211,"message":"Invalid To"}'],
  ['voice', ''],
];
for (const [type, body] of unexpectedAnswers)
  test(`${type}: 200 with ${JSON.stringify(body)} is not delivered`, async (t) => {
    const service = await startChannelReceiver({ status: 200, body });
    t.teardown(() => service.close());
    const attempted = await attemptDelivery(
      findChannelType(type),
      { message: message(notification), settings: typed(type, service.url) },
      { outbound, mailer: noMail, clock },
    );
    t.is(attempted.outcome, 'failed');
  });

const waits: readonly (readonly [type: string, body: string])[] = [
  ['discord', '{"retry_after": 1.5}'],
  ['telegram', '{"ok":false,"parameters":{"retry_after":1.5}}'],
];
for (const [type, body] of waits)
  test(`${type} uses the retry delay from the response`, async (t) => {
    const service = await startChannelReceiver({ status: 429, body });
    t.teardown(() => service.close());
    const delivery = { message: message(notification), settings: typed(type, service.url) };
    const attempted = await attemptDelivery(findChannelType(type), delivery, { outbound, mailer: noMail, clock });
    t.is(attempted.retryAfterMs, 1500);
  });

test('a webhook gets Alertmanager’s payload, signed as Standard Webhooks specifies', async (t) => {
  const service = await startChannelReceiver();
  t.teardown(() => service.close());
  await attemptDelivery(
    findChannelType('webhook'),
    { message: message(resolved), settings: typed('webhook', service.url) },
    { outbound, mailer: noMail, clock },
  );
  const [{ headers, body, text } = t.fail() as never] = service.received;
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  t.is(headers['webhook-signature'], `v1,${createHmac('sha256', Buffer.alloc(32, 7)).update(signed).digest('base64')}`);
  t.is(headers['webhook-id'], 'n-2');
  t.is(body.version, '4');
  t.is(body.status, 'resolved');
  t.deepEqual(body.groupLabels, { alertname: 'Slow' });
  t.is(body.alerts[0].startsAt, '2026-01-01T00:00:00.000Z');
  t.is(body.alerts[0].endsAt, '2026-01-02T00:00:00.000Z');
  t.deepEqual([...Object.keys(body).filter((name) => !['isTest', 'notificationReason'].includes(name))].sort(), [
    ...['alerts', 'commonAnnotations', 'commonLabels', 'externalURL', 'groupKey', 'groupLabels', 'receiver'],
    ...['status', 'truncatedAlerts', 'version'],
  ]);
});

test('an alert that resolved before its first notification is opened and closed on services that deduplicate by group', async (t) => {
  const brief = message({ ...resolved, reason: 'first' });
  for (const type of ['pagerduty', 'opsgenie']) {
    const service = await startChannelReceiver(services[type]?.accepted);
    t.teardown(() => service.close());
    await attemptDelivery(
      findChannelType(type),
      { message: brief, settings: typed(type, service.url) },
      { outbound, mailer: noMail, clock },
    );
    t.is(service.received.length, 2, type);
    const [first, second] = service.received;
    t.regex(`${first?.body.event_action ?? first?.path}`, /trigger|alerts$/);
    t.regex(`${second?.body.event_action ?? second?.path}`, /resolve|close/);
  }
});

test('each address gets one mail, and alert text contains no markup', async (t) => {
  const mails: Mail[] = [];
  const settings = { type: 'email', to: ['a@example.com', 'b@example.com', 'a@example.com'] };
  const ports = { outbound, clock, mailer: mailer(async (mail) => void mails.push(mail)) };
  const attempted = await attemptDelivery(
    findChannelType('email'),
    { message: message(notification), settings },
    ports,
  );
  t.is(attempted.outcome, 'delivered');
  t.deepEqual(
    mails.map(({ to }) => to),
    ['a@example.com', 'b@example.com'],
  );
  t.false(mails[0]?.html.includes('<b>bad'));
  t.true(mails[0]?.text.includes('<b>bad'));
});

const mailCases: readonly (readonly [what: string, mailer: Mailer, outcome: string])[] = [
  [
    'a server that refuses for good',
    mailer(() => Promise.reject(new PermanentError('mail', 'no such user'))),
    'failed',
  ],
  ['an unavailable server', mailer(() => Promise.reject(new Error('connection refused'))), 'retry'],
  ['no server', mailer(async () => {}, false), 'failed'],
];
for (const [what, given, outcome] of mailCases)
  test(`mail with ${what} ends as ${outcome}`, async (t) => {
    const delivery = { message: message(notification), settings: { type: 'email', to: ['a@example.com'] } };
    const attempted = await attemptDelivery(findChannelType('email'), delivery, { outbound, clock, mailer: given });
    t.is(attempted.outcome, outcome as typeof attempted.outcome);
  });

const rendered: readonly (readonly [template: string, text: string, first?: Partial<NotifiedAlert>])[] = [
  ['{{status}}', 'firing'],
  ['{{commonLabels.alertname}}', 'Slow'],
  ['{{#alerts}}{{labels.instance}};{{/alerts}}', 'a;b;'],
  ['{{#alerts}}{{status}} {{receiver}};{{/alerts}}', 'firing on-call;firing on-call;'],
  ['{{^truncatedAlerts}}all{{/truncatedAlerts}}{{#truncatedAlerts}}some{{/truncatedAlerts}}', 'all'],
  ['{{nothing}}{{alerts.nothing.more}}{{constructor}}{{__proto__.x}}', ''],
  ['{{groupLabels}}', 'alertname=Slow'],
  ['{{#alerts}}{{#value}}{{value}};{{/value}}{{/alerts}}', '0;1.5;', { value: 0 }],
  ['{{#alerts}}{{#value}}{{value}};{{/value}}{{/alerts}}', '1.5;', { value: null }],
];
for (const [template, text, first] of rendered)
  test(`the template ${template} renders ${JSON.stringify(text)}`, (t) => {
    const [one, ...others] = notification.alerts as [NotifiedAlert, ...NotifiedAlert[]];
    const variant = { ...notification, alerts: [{ ...one, ...first }, ...others] };
    t.is(renderMessage(variant, { templates: { title: 'x', text: template }, publicUrl: '' }).text, text);
  });

for (const template of ['{{#a}}', '{{/a}}', '{{#a}}{{#b}}{{/a}}{{/b}}', '{{', 'a }} b', '{{a b}}'])
  test(`${template} is not a valid template`, (t) => {
    t.throws(() => parseTemplate(template), { instanceOf: TemplateError });
  });

test('a webhook names this host if the installation has no public address, and messages have no link', (t) => {
  const { payload, link, text } = renderMessage(notification, { publicUrl: '', address: '0.0.0.0:8080' });
  t.is(payload.externalURL, `http://${hostname()}:8080`);
  t.is(payload.alerts[0]?.generatorURL, `http://${hostname()}:8080/alerts/rules/r`);
  t.is(link, '');
  t.notRegex(text, /http/);
});

test('the fingerprint of labels equals the one that Alertmanager computes', (t) => {
  t.is(computeFingerprint({}), 'cbf29ce484222325');
  t.is(computeFingerprint({ b: '2', a: '1' }), computeFingerprint({ a: '1', b: '2' }));
  t.not(computeFingerprint({ a: '1b' }), computeFingerprint({ a: '1', b: '' }));
  // The response of Alertmanager 0.34 for this alert.
  t.is(computeFingerprint({ alertname: 'Slow', instance: 'a', café: 'ü' }), '187565edc65d68f0');
});

const markdown: readonly (readonly [text: string, escaped: string])[] = [
  ['[click](http://evil.example)', '\\[click\\]\\(http://evil.example\\)'],
  ['*b* _i_ `c` ~~s~~ ||x||', '\\*b\\* \\_i\\_ \\`c\\` \\~\\~s\\~\\~ \\|\\|x\\|\\|'],
  ['&lt;b>', '\\&lt;b\\>'],
  ['- a\n12. b\n2.5 s', '\\- a\n12\\. b\n2.5 s'],
  ['\\[a](b)', '\\\\\\[a\\]\\(b\\)'],
  ['https://runbooks.example.com/a_b*c', 'https://runbooks.example.com/a%5Fb%2Ac'],
];
for (const [text, escaped] of markdown)
  test(`${JSON.stringify(text)} is plain text in Markdown`, (t) => {
    t.is(escapeMarkdown(text), escaped);
  });

test('a text with many empty lines is escaped in a single pass, which takes no minutes', (t) => {
  const lines = '\n'.repeat(300_000);
  t.is(escapeMarkdown(`${lines}x`), `${lines}x`);
  t.is(escapeMarkdown(`${lines}- x\n${lines}1. y`), `${lines}\\- x\n${lines}1\\. y`);
});

test('Markdown of a template is preserved, and telemetry values in it are escaped', (t) => {
  const templates = { title: '**{{name}}**', text: '**{{#alerts}}{{labels.instance}}{{/alerts}}**' };
  const variant = {
    ...notification,
    alerts: [{ ...notification.alerts[0], labels: { instance: '*x*' } }],
  } as Notification;
  t.is(renderMessage(variant, { templates, publicUrl: '' }).markdown.text, '**\\*x\\***');
});

test('durations and times are formatted for people', (t) => {
  const hour = 3_600_000;
  t.deepEqual([0, 400, 40_000, 12 * 60_000 + 5000, hour, 3 * hour + 5 * 60_000, 50 * hour, -5].map(formatDuration), [
    '0 s',
    '0 s',
    '40 s',
    '12 min',
    '1 h',
    '3 h 5 min',
    '2 d 2 h',
    '0 s',
  ]);
  const winter = Date.UTC(2026, 10, 24, 23, 50, 50, 701);
  t.is(formatTime(winter, 'UTC'), '2026-11-24 23:50:50 UTC');
  t.is(formatTime(winter, 'Europe/Berlin'), '2026-11-25 00:50:50 UTC+1');
  t.is(formatTime(winter, 'Asia/Kolkata'), '2026-11-25 05:20:50 UTC+5:30');
});

test('a template cannot grow without limit', (t) => {
  const list = { a: Array.from({ length: 1000 }, () => 'x'.repeat(100)) };
  const nested = parseTemplate('{{#a}}{{#a}}{{#a}}{{#a}}{{.}}{{/a}}{{/a}}{{/a}}{{/a}}');
  t.is(nested.render(list, 5000).length, 5000);
});
