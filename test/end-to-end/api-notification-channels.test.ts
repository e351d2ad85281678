/** Channels, the routing document and silences through the API; the test provides the receiving services. */
import test from 'ava';
import { removeOldSilences } from '../../api/groups/alerts/remove-old-silences.ts';
import { openOutbound } from '../../runtime/outbound.ts';
import { notificationChannels } from '../../schemas/resources/notification-channel.ts';
import { services, startChannelReceiver } from '../cases/channel-receiver.ts';
import { startHarness } from './api-harness.ts';

const harness = await startHarness({
  outbound: openOutbound({ allowedNetworks: ['127.0.0.0/8'] }),
});
test.after.always(() => harness.close());
const channels = '/api/notification-channels';
const mask = '********';

let createdItem = 0;
const create = async (settings: object, fields: object = {}) => {
  const response = await harness.request('POST', channels, {
    body: { name: `channel ${createdItem++}`, settings, ...fields },
  });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body as { id: string; name: string; settings: Record<string, string> };
};

test.serial('types describe the settings and secrets of each', async (t) => {
  const { body } = await harness.request('GET', `${channels}/types`, { as: 'viewer' });
  t.deepEqual(body.items.map(({ type }: { type: string }) => type).sort(), ['email', ...Object.keys(services)].sort());
  const webhook = body.items.find(({ type }: { type: string }) => type === 'webhook');
  t.deepEqual(webhook.secrets, ['url', 'signingSecret', 'authorization']);
  t.deepEqual(webhook.settings.required, ['type', 'url']);
});

for (const [type, { settings, accepted }] of Object.entries(services))
  test.serial(`a ${type} channel hides its secrets, and reports a test as delivered only when it was`, async (t) => {
    const service = await startChannelReceiver(accepted);
    t.teardown(() => service.close());
    const input = { type, ...settings(service.url) } as Record<string, string>;
    const channel = await create(input);
    const { body: types } = await harness.request('GET', `${channels}/types`);
    const { secrets } = types.items.find((one: { type: string }) => one.type === type);
    const stored = JSON.stringify(
      await harness.documents.forTenant('a').collection(notificationChannels).find(channel.id),
    );
    for (const secret of secrets) {
      if (input[secret] === undefined) continue;
      t.is(channel.settings[secret], mask);
      t.false(stored.includes(input[secret]));
    }
    const delivery = await harness.request('POST', `${channels}/${channel.id}/test`);
    t.true(delivery.body.delivered, JSON.stringify(delivery.body));
    t.regex(JSON.stringify(service.received[0]?.body), /\[TEST\]|"isTest":true/);
    for (const reply of [
      { status: 500, body: 'no' },
      { status: 302, headers: { location: service.url } },
    ]) {
      service.reply = () => reply;
      const response = await harness.request('POST', `${channels}/${channel.id}/test`);
      t.is(response.status, 200);
      t.false(response.body.delivered);
      t.is(response.body.statusCode, reply.status);
    }
  });

for (const [type, close] of [
  ['pagerduty', 'resolve'],
  ['opsgenie', 'close'],
] as const)
  test.serial(`a test of a ${type} channel leaves nothing open on the other side`, async (t) => {
    const { settings, accepted } = services[type] as (typeof services)[string];
    const service = await startChannelReceiver(accepted);
    t.teardown(() => service.close());
    const channel = await create({ type, ...settings(service.url) });
    const delivery = await harness.request('POST', `${channels}/${channel.id}/test`);
    t.true(delivery.body.delivered, JSON.stringify(delivery.body));
    t.is(service.received.length, 2);
    const [opened, closed] = service.received;
    t.regex(`${closed?.path} ${closed?.text}`, new RegExp(close));
    t.is(opened?.body.dedup_key, closed?.body.dedup_key);
    service.reply = ({ path, text }) => (`${path} ${text}`.includes(close) ? { status: 500, body: 'no' } : accepted);
    const open = await harness.request('POST', `${channels}/${channel.id}/test`);
    t.false(open.body.delivered);
    t.regex(open.body.answer, /its resolution was not/);
  });

test.serial('a test states that messages have no links without a public address', async (t) => {
  const service = await startChannelReceiver();
  t.teardown(() => service.close());
  const channel = await create({ type: 'webhook', url: service.url });
  const delivery = await harness.request('POST', `${channels}/${channel.id}/test`);
  t.regex(delivery.body.notes.join(), /OIQ_PUBLIC_URL is not set/);
  t.regex(service.received[0]?.body.externalURL, /^http:\/\/.+:\d+$/);
  t.is(service.received.length, 1);
});

test.serial('a masked secret keeps its value as long as the destination is unchanged', async (t) => {
  const service = await startChannelReceiver();
  t.teardown(() => service.close());
  const channel = await create({ type: 'webhook', url: service.url, authorization: 'Bearer abc' });
  const path = `${channels}/${channel.id}`;
  const fields = { name: channel.name, settings: channel.settings };
  const renamed = await harness.request('PUT', path, { body: { ...fields, name: `${channel.name} again` } });
  t.is(renamed.status, 200, JSON.stringify(renamed.body));
  await harness.request('POST', `${path}/test`);
  t.is(service.received[0]?.headers.authorization, 'Bearer abc');
  const moved = await harness.request('PUT', path, {
    body: { ...fields, settings: { ...channel.settings, url: 'https://evil.example.com/' } },
  });
  t.is(moved.status, 400);
  t.regex(JSON.stringify(moved.body), /must be specified again/);
  const other = await harness.request('PUT', path, {
    body: { ...fields, settings: { type: 'slack', webhookUrl: mask } },
  });
  t.is(other.status, 400);
});

const refused: readonly (readonly [what: string, fields: object])[] = [
  ['a type that there is not', { settings: { type: 'pigeon' } }],
  ['settings of another type', { settings: { type: 'slack', url: 'https://example.com' } }],
  ['an address that is none', { settings: { type: 'webhook', url: 'ftp://example.com' } }],
  ['a user name in the address', { settings: { type: 'webhook', url: 'https://me:it@example.com' } }],
  [
    'a template that is none',
    { settings: { type: 'webhook', url: 'https://example.com' }, templates: { title: '{{#a}}', text: '' } },
  ],
  ['a mask without a secret', { settings: { type: 'webhook', url: 'https://example.com', authorization: mask } }],
];
for (const [what, fields] of refused)
  test.serial(`a channel with ${what} is refused`, async (t) => {
    const response = await harness.request('POST', channels, { body: { name: what, ...fields } });
    t.is(response.status, 400, JSON.stringify(response.body));
  });

test.serial('templates are rendered with a sample, which is marked as a test', async (t) => {
  const body = { title: '{{status}}: {{name}}', text: '{{#alerts}}{{labels.instance}} {{/alerts}}' };
  const response = await harness.request('POST', `${channels}/preview`, { body });
  t.is(response.body.title, '[TEST] firing: NotificationTest');
  t.is(response.body.text, 'This is a test.\n\na b');
});

const routing = '/api/v2/alerts/routing';

test.serial(
  'the routing document is replaced with If-Match, and prevents the deletion of the channels it references',
  async (t) => {
    const channel = await create({ type: 'webhook', url: 'https://example.com/' });
    const first = await harness.request('GET', routing, { as: 'viewer' });
    t.is(first.headers.get('etag'), '"0"');
    const document = {
      route: {
        receiver: 'default',
        groupBy: ['alertname'],
        routes: [{ receiver: 'pager', matchers: [{ name: 'severity', value: 'critical' }], groupWait: '10s' }],
      },
      receivers: [{ name: 'default' }, { name: 'pager', channelIds: [channel.id] }],
    };
    t.is((await harness.request('PUT', routing, { body: document })).status, 428);
    t.is(
      (await harness.request('PUT', routing, { body: document, as: 'viewer', headers: { 'if-match': '"0"' } })).status,
      403,
    );
    const put = await harness.request('PUT', routing, { body: document, headers: { 'if-match': '"0"' } });
    t.is(put.status, 200, JSON.stringify(put.body));
    t.is(put.headers.get('etag'), '"1"');
    t.is((await harness.request('PUT', routing, { body: document, headers: { 'if-match': '"0"' } })).status, 412);
    const again = await harness.request('PUT', routing, { body: put.body, headers: { 'if-match': '"1"' } });
    t.is(again.headers.get('etag'), '"1"');
    const refusal = await harness.request('DELETE', `${channels}/${channel.id}`);
    t.is(refusal.status, 409);
    t.regex(refusal.body.message, /“pager”/);
    const unknown = { ...document, receivers: [{ name: 'default', channelIds: ['nothing'] }, { name: 'pager' }] };
    const dangling = await harness.request('PUT', routing, { body: unknown, headers: { 'if-match': '"1"' } });
    t.is(dangling.status, 400);
    t.regex(JSON.stringify(dangling.body), /not a notification channel/);

    const tried = await harness.request('POST', `${routing}/test`, {
      body: { labels: { severity: 'critical', alertname: 'X' } },
    });
    t.is(tried.status, 200, JSON.stringify(tried.body));
    t.is(tried.body.receivers[0].name, 'pager');
    t.is(tried.body.receivers[0].groupWaitSeconds, 10);
    t.deepEqual(tried.body.receivers[0].channels, [{ id: channel.id, name: channel.name, enabled: true }]);
    t.is(tried.body.receivers[0].groupKey, '{}/{severity="critical"}:{alertname="X"}');
    t.is(tried.body.routes[1].outcome, 'reached');

    const free = { ...document, receivers: [{ name: 'default' }, { name: 'pager' }] };
    t.is((await harness.request('PUT', routing, { body: free, headers: { 'if-match': '"1"' } })).status, 200);
    t.is((await harness.request('DELETE', `${channels}/${channel.id}`)).status, 200);
    const { body: records } = await harness.request('GET', '/api/audit');
    const actions = records.items.map(({ action }: { action: string }) => action);
    for (const action of ['alert-routing.update', 'notification-channel.delete', 'notification-channel.test'])
      t.true(actions.includes(action), action);
  },
);

test.serial('an Alertmanager file is converted to a document, and errors in a document are reported', async (t) => {
  const yaml =
    'route: {receiver: a, routes: [{matchers: ["b=c"], receiver: a}]}\nreceivers: [{name: a, slack_configs: [{channel: x}]}]\n';
  const imported = await harness.request('POST', `${routing}/import`, { body: { yaml } });
  t.is(imported.status, 200, JSON.stringify(imported.body));
  t.deepEqual(imported.body.routing.route.routes[0].matchers, [{ name: 'b', operator: '=', value: 'c' }]);
  t.deepEqual(imported.body.notes, [
    'receiver a had 1 × slack: create channels for them and name them in its channelIds',
    'receivers default, pager of the current routing: not in the file, so saving the document removes them',
  ]);
  const wrong = await harness.request('POST', `${routing}/import`, {
    body: { yaml: 'route: {receiver: b}\nreceivers: []' },
  });
  t.is(wrong.status, 400);
});

test.serial('silences begin, change and end, and an ended silence stays unchanged', async (t) => {
  const path = '/api/alerts/silences';
  const matchers = [{ name: 'service', value: 'cart' }];
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const created = await harness.request('POST', path, { as: 'editor', body: { matchers, endsAt, comment: 'moves' } });
  t.is(created.status, 200, JSON.stringify(created.body));
  t.is(created.body.state, 'active');
  const own = `${path}/${created.body.id}`;
  const later = new Date(Date.now() + 1_800_000).toISOString();
  const changed = await harness.request('PUT', own, { body: { matchers, endsAt, startsAt: later } });
  t.is(changed.body.state, 'pending');
  t.is((await harness.request('GET', `${path}?state=pending`)).body.items.length, 1);
  t.is((await harness.request('DELETE', own)).status, 200);
  t.is((await harness.request('GET', own)).body.state, 'expired');
  t.is((await harness.request('PUT', own, { body: { matchers, endsAt } })).status, 409);
  t.is((await harness.request('GET', `${path}?state=active`)).body.items.length, 0);
  for (const body of [
    { matchers: [], endsAt },
    { matchers: [{ name: 'a', operator: '=~', value: '.*' }], endsAt },
    { matchers: [{ name: 'a', operator: '=~', value: '(' }], endsAt },
    { matchers, endsAt: '2020-01-01T00:00:00Z' },
    { matchers, startsAt: endsAt, endsAt },
  ])
    t.is((await harness.request('POST', path, { body })).status, 400, JSON.stringify(body));
  // As in Alertmanager, a negative matcher selects alerts.
  for (const input of [
    [{ name: 'env', operator: '!=', value: 'prod' }],
    [
      { name: 'team', operator: '=', value: '' },
      { name: 'env', operator: '!~', value: 'web' },
    ],
  ]) {
    const accepted = await harness.request('POST', path, { body: { matchers: input, endsAt } });
    t.is(accepted.status, 200, JSON.stringify(accepted.body));
    await harness.request('DELETE', `${path}/${accepted.body.id}`);
  }
  t.is((await harness.request('POST', path, { as: 'viewer', body: { matchers, endsAt } })).status, 403);

  const active = await harness.request('POST', path, { body: { matchers, endsAt: '2099-01-01T00:00:00Z' } });
  const removeAfter = (days: number) => {
    const clock = { now: () => Date.now() + days * 86_400_000 };
    return removeOldSilences({ documents: harness.documents, clock });
  };
  await removeAfter(29);
  t.is((await harness.request('GET', own)).status, 200);
  await removeAfter(31);
  t.is((await harness.request('GET', own)).status, 404);
  t.is((await harness.request('GET', `${path}/${active.body.id}`)).status, 200);
  const { items } = (await harness.request('GET', '/api/audit')).body;
  const removed = items.filter(({ action }: { action: string }) => action === 'silence.remove');
  t.is(removed.length, 3, JSON.stringify(items[0]));
  t.like(removed[0], { actor: { type: 'system' } });
});
