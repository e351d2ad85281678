/** Who is paged for open incidents, once, and when paging stops. */
import { hash } from 'node:crypto';
import test from 'ava';
import { createSecretBox } from '../../../runtime/secret-box.ts';
import { incidents } from '../../../schemas/resources/incident.ts';
import { oneTimeTokens, oneTimeTokensTenant } from '../../../schemas/resources/one-time-token.ts';
import { eventually } from '../../waiting.ts';
import { type ChannelReceiver, type Received, services, startChannelReceiver } from '../channel-receiver.ts';
import { openPaging, startSending } from './paging.ts';

const person = (id: string) => ({ kind: 'person', id });
const channelTarget = (id: string) => ({ kind: 'channel', id });

test('each step pages its targets once when it is due, however often it is polled', async (t) => {
  const paging = await openPaging();
  const [ann, ben] = [await paging.person('ann'), await paging.person('ben')];
  await paging.incident(
    await paging.policy({ steps: [{ targets: [person(ann)] }, { targets: [person(ben)], afterMinutes: 5 }] }),
  );
  await paging.escalate();
  await paging.escalate();
  t.deepEqual(await paging.actions(), ['page ann']);
  paging.pass(5);
  await Promise.all([paging.escalate(), paging.escalate()]);
  t.deepEqual(await paging.actions(), ['page ann', 'page ben']);
  paging.pass(600);
  await paging.escalate();
  t.is((await paging.waiting()).length, 2);
});

test('a step that reaches nobody is skipped at once and recorded, and the owners are paged if no step reaches anybody', async (t) => {
  const paging = await openPaging();
  const [removedPerson, ben] = [await paging.person('gone', 'editor', true), await paging.person('ben')];
  await paging.person('olga', 'owner');
  await paging.incident(
    await paging.policy({
      steps: [{ targets: [person(removedPerson)] }, { targets: [person(ben)], afterMinutes: 30 }],
    }),
  );
  await paging.escalate();
  t.deepEqual((await paging.actions()).sort(), ['page ben', 'step-skipped 0 nobody-on-call']);
  paging.pass(1);
  await paging.incident(await paging.policy({ steps: [{ targets: [person(removedPerson)] }] }));
  await paging.escalate();
  t.deepEqual((await paging.actions()).slice(2).sort(), ['owners-paged', 'page olga', 'step-skipped 0 nobody-on-call']);
});

test('the owners are paged if the policy of an incident was deleted', async (t) => {
  const paging = await openPaging();
  await paging.person('olga', 'owner');
  await paging.incident('no-policy');
  await paging.escalate();
  t.deepEqual((await paging.actions()).sort(), ['owners-paged', 'page olga']);
});

test('an acknowledgement stops escalation until it expires; then the incident is open again and the next step pages', async (t) => {
  const paging = await openPaging();
  const [ann, ben] = [await paging.person('ann'), await paging.person('ben')];
  const steps = [{ targets: [person(ann)] }, { targets: [person(ben)], afterMinutes: 5 }];
  const id = await paging.incident(await paging.policy({ steps, acknowledgeTimeoutMinutes: 60 }));
  await paging.escalate();
  paging.pass(1);
  await paging.move(id, 'acknowledged');
  for (const minutes of [0, 10, 49]) {
    paging.pass(minutes);
    await paging.escalate();
  }
  t.deepEqual(await paging.actions(), ['page ann']);
  paging.pass(1);
  await paging.escalate();
  t.deepEqual((await paging.actions()).sort(), ['acknowledgement-timed-out', 'page ann', 'page ben']);
  const { status, acknowledgedAt, firstAcknowledgedAt } = await paging.find(id);
  t.is(status, 'open');
  t.is(acknowledgedAt, null);
  t.not(firstAcknowledgedAt, null);
});

test('a resolved incident pages nobody, and pages again after it is reopened', async (t) => {
  const paging = await openPaging();
  const ann = await paging.person('ann');
  const id = await paging.incident(await paging.policy({ steps: [{ targets: [person(ann)] }], repeat: 1 }));
  await paging.escalate();
  await paging.move(id, 'resolved');
  paging.pass(60);
  await paging.escalate();
  t.deepEqual(await paging.actions(), ['page ann']);
  await paging.move(id, 'open');
  await paging.escalate();
  t.deepEqual(await paging.actions(), ['page ann', 'page ann']);
});

const endings = {
  'the incident is resolved': 'withdrawn',
  'an alert fires again': 'delivered',
} as const;
for (const [event, state] of Object.entries(endings))
  test(`a page of an incident whose alerts have ended waits, and is ${state} if ${event}`, async (t) => {
    const paging = await openPaging();
    const ann = await paging.person('ann');
    const policy = await paging.policy({ steps: [{ targets: [person(ann)] }] });
    const id = await paging.incident(policy, 'Slow', { alertIds: ['one', 'two'] });
    const stored = paging.documents.forTenant('acme').collection(incidents);
    await stored.update(id, { groupId: 'group' });
    await paging.escalate();
    const world = { alertState: 'inactive', reads: 0 };
    const sending = await startSending(paging, undefined, () => {
      world.reads++;
      return [
        { alert: 'one', state: 'inactive', ms: String(paging.clock.now()) },
        { alert: 'two', state: world.alertState, ms: String(paging.clock.now()) },
      ];
    });
    t.teardown(() => sending.stop());
    for (const reads of [1, 2]) {
      await sending.until(() => world.reads >= reads);
      await eventually('the page waits', async () =>
        (await paging.waiting()).every(({ dueAt }) => Date.parse(dueAt) > paging.clock.now()),
      );
      t.deepEqual(sending.mails, []);
      paging.clock.ms += 10_000;
    }
    if (state === 'withdrawn') await paging.move(id, 'resolved');
    else world.alertState = 'firing';
    paging.clock.ms += 10_000;
    await sending.until(() => sending.steps.some((step) => step.state === state));
    t.is(sending.mails.length, state === 'delivered' ? 1 : 0);
  });

test('pages that wait use nothing of the rate limit of a channel, and check again less often the longer they wait', async (t) => {
  const paging = await openPaging();
  const channel = await paging.channel('team', mailTo('team@acme.example'), 6);
  const policy = await paging.policy({ steps: [{ targets: [channelTarget(channel)] }] });
  const stored = paging.documents.forTenant('acme').collection(incidents);
  for (let count = 0; count < 3; count++)
    await stored.update(await paging.incident(policy, `Ended ${count}`, { alertIds: ['one'] }), { groupId: 'group' });
  await paging.escalate();
  const row = { alert: 'one', state: 'inactive', ms: String(paging.clock.now()) };
  paging.clock.ms += 1;
  for (let count = 0; count < 2; count++) await paging.incident(policy, `Current ${count}`);
  await paging.escalate();
  const sending = await startSending(paging, undefined, () => [row]);
  t.teardown(() => sending.stop());
  await sending.until(() => sending.mails.length === 1);
  paging.clock.ms += 10_000;
  await sending.until(() => sending.steps.filter(({ state }) => state === 'delivered').length === 2);
  t.true(sending.mails.every(({ subject }) => subject.includes('Current')));
  t.deepEqual(sending.steps.map(({ state }) => state).sort(), ['delivered', 'delivered', 'queued', 'queued']);
  for (const [minutes, nextCheckSeconds] of [
    [5, 31],
    [60, 60],
  ] as const) {
    paging.pass(minutes);
    await eventually('the pages wait', async () => {
      const waiting = (await paging.waiting()).filter(({ endedAt }) => endedAt === null);
      return (
        waiting.length === 3 &&
        waiting.every(({ dueAt }) => Math.floor((Date.parse(dueAt) - paging.clock.now()) / 1000) === nextCheckSeconds)
      );
    });
  }
});

test('an alert that ended before its incident was opened does not delay the page', async (t) => {
  const paging = await openPaging();
  const policy = await paging.policy({ steps: [{ targets: [person(await paging.person('ann'))] }] });
  const id = await paging.incident(policy, 'Slow', { alertIds: ['one'] });
  await paging.documents.forTenant('acme').collection(incidents).update(id, { groupId: 'group' });
  await paging.escalate();
  const row = { alert: 'one', state: 'inactive', ms: String(paging.clock.now() - 1000) };
  const sending = await startSending(paging, undefined, () => [row]);
  t.teardown(() => sending.stop());
  await sending.until(() => sending.mails.length === 1);
  t.pass();
});

test('a page is sent if the states of alerts cannot be read', async (t) => {
  const paging = await openPaging();
  const policy = await paging.policy({ steps: [{ targets: [person(await paging.person('ann'))] }] });
  const id = await paging.incident(policy, 'Slow', { alertIds: ['one'] });
  await paging.documents.forTenant('acme').collection(incidents).update(id, { groupId: 'group' });
  await paging.escalate();
  const sending = await startSending(paging, undefined, () => {
    throw new Error('the tables are away');
  });
  t.teardown(() => sending.stop());
  await sending.until(() => sending.mails.length === 1);
  t.pass();
});

test('a page is a mail to the account with the incident facts, and the ledger records its steps', async (t) => {
  const paging = await openPaging();
  const ann = await paging.person('ann');
  await paging.incident(await paging.policy({ name: 'Shop', steps: [{ targets: [person(ann)] }] }));
  await paging.escalate();
  const sending = await startSending(paging);
  t.teardown(() => sending.stop());
  await sending.until(() => sending.steps.length === 2);
  const [mail] = sending.mails;
  t.is(mail?.to, 'ann@acme.example');
  t.regex(mail?.subject ?? '', /Checkout is slow/);
  t.regex(mail?.text ?? '', /Step 1, round 1, escalation policy Shop/);
  const [, token = ''] = /Acknowledge: https:\/\/oiq\.example\/acknowledge#token=(\S+)/.exec(mail?.text ?? '') ?? [];
  const [storedToken] = (await paging.documents.forTenant(oneTimeTokensTenant).collection(oneTimeTokens).list()).items;
  t.is(storedToken?.id, hash('sha256', token));
  t.false(JSON.stringify(storedToken).includes(token));
  t.deepEqual(
    sending.steps.map(({ state, channelType, attempt }) => [state, channelType, attempt]),
    [
      ['queued', '', 0],
      ['delivered', 'email', 1],
    ],
  );
});

const mailTo = (address: string) => ({ type: 'email', to: [address] });

test('a person is paged by all usable contacts, and by mail to the account if there are none', async (t) => {
  const paging = await openPaging();
  const [ann, ben] = [await paging.person('ann'), await paging.person('ben')];
  await paging.contact(ann, 'home', mailTo('home@ann.example'));
  await paging.contact(ann, 'work', mailTo('work@ann.example'));
  await paging.contact(ann, 'old', mailTo('old@ann.example'), false);
  await paging.contact(ben, 'old', mailTo('old@ben.example'), false);
  await paging.incident(await paging.policy({ steps: [{ targets: [person(ann), person(ben)] }] }));
  await paging.escalate();
  await paging.escalate();
  t.deepEqual((await paging.actions()).sort(), ['page ann by home', 'page ann by work', 'page ben']);
  const sending = await startSending(paging);
  t.teardown(() => sending.stop());
  await sending.until(() => sending.mails.length === 3);
  t.deepEqual(sending.mails.map(({ to }) => to).sort(), ['ben@acme.example', 'home@ann.example', 'work@ann.example']);
});

test('contacts are notified in the order and with the delays of preferences, and stop once somebody handles the incident', async (t) => {
  const paging = await openPaging();
  const ann = await paging.person('ann');
  const [home, work, phone] = [
    await paging.contact(ann, 'home', mailTo('home@ann.example')),
    await paging.contact(ann, 'work', mailTo('work@ann.example')),
    await paging.contact(ann, 'phone', mailTo('phone@ann.example')),
  ];
  const after = (contactId: string, afterMinutes: number) => ({ contactId, afterMinutes });
  await paging.prefer(ann, { contacts: [after(work, 0), after(phone, 5), after(home, 20)] });
  const id = await paging.incident(await paging.policy({ steps: [{ targets: [person(ann)] }] }));
  await paging.escalate();
  const sending = await startSending(paging);
  t.teardown(() => sending.stop());
  await sending.until(() => sending.mails.length === 1);
  paging.pass(5);
  await sending.until(() => sending.mails.length === 2);
  await paging.move(id, 'acknowledged');
  paging.pass(15);
  await sending.until(() => sending.steps.some(({ state }) => state === 'withdrawn'));
  t.deepEqual(sending.to(), ['work', 'phone']);
});

test('a page is sent by ntfy with an acknowledge button, and by SMS with the link', async (t) => {
  const paging = await openPaging();
  const ann = await paging.person('ann');
  const receivers = await Promise.all(['ntfy', 'sms'].map((type) => startChannelReceiver(services[type]?.accepted)));
  t.teardown(() => Promise.all(receivers.map((receiver) => receiver.close())));
  const [ntfy, sms] = receivers as [ChannelReceiver, ChannelReceiver];
  await paging.contact(ann, 'app', { type: 'ntfy', topic: 'ann', url: ntfy.url });
  const box = createSecretBox('k'.repeat(40));
  const settings = services['sms']?.settings(sms.url) as { readonly authToken: string };
  await paging.contact(ann, 'phone', { type: 'sms', ...settings, authToken: box.seal('contact', settings.authToken) });
  await paging.incident(await paging.policy({ steps: [{ targets: [person(ann)] }] }));
  await paging.escalate();
  const sending = await startSending(paging);
  t.teardown(() => sending.stop());
  await sending.until(() => ntfy.received.length === 1 && sms.received.length === 1);
  const action = ntfy.received[0]?.body.actions[0];
  t.is(action.url, 'https://oiq.example/auth/acknowledge-incident');
  const { items } = await paging.documents.forTenant(oneTimeTokensTenant).collection(oneTimeTokens).list();
  const hashes = items.map(({ id }) => id);
  t.true(hashes.includes(hash('sha256', JSON.parse(action.body).token)));
  const [, token = ''] = /acknowledge#token=(\S+)$/.exec(sms.received[0]?.body.Body) ?? [];
  t.true(hashes.includes(hash('sha256', token)));
  t.is(
    sms.received[0]?.headers.authorization,
    `Basic ${Buffer.from(`AC1234:${settings.authToken}`).toString('base64')}`,
  );
});

test('a pending page is withdrawn once the incident is acknowledged', async (t) => {
  const paging = await openPaging();
  const ann = await paging.person('ann');
  const id = await paging.incident(await paging.policy({ steps: [{ targets: [person(ann)] }] }));
  await paging.escalate();
  await paging.move(id, 'acknowledged');
  const sending = await startSending(paging);
  t.teardown(() => sending.stop());
  await sending.until(() => sending.steps.length > 0);
  t.deepEqual(
    sending.steps.map(({ state, answer }) => [state, answer]),
    [['withdrawn', 'the incident is acknowledged']],
  );
  t.is(sending.mails.length, 0);
  await eventually('the page to end', async () => (await paging.waiting())[0]?.endedAt !== null);
});

test('a person gets ten pages in five minutes, and then one page that counts the rest', async (t) => {
  const paging = await openPaging();
  const [ann, ben] = [await paging.person('ann'), await paging.person('ben')];
  const policyId = await paging.policy({ steps: [{ targets: [person(ann)] }] });
  for (let count = 0; count < 25; count++) await paging.incident(policyId, `incident ${count}`);
  paging.pass(1);
  await paging.incident(await paging.policy({ steps: [{ targets: [person(ben)] }] }), 'of another person');
  await paging.escalate();
  const sending = await startSending(paging);
  t.teardown(() => sending.stop());
  await sending.until(() => sending.steps.filter(({ state }) => state === 'withdrawn').length === 14);
  const toAnn = () => sending.to().filter((name) => name === 'ann').length;
  t.is(toAnn(), 10);
  t.deepEqual(
    sending.to().filter((name) => name !== 'ann'),
    ['ben'],
  );
  paging.pass(5);
  await sending.until(() => toAnn() === 11);
  t.regex(sending.mails.at(-1)?.subject ?? '', /and 14 more/);
  await sending.until(() => sending.steps.filter(({ state }) => state === 'delivered').length === 12);
  t.is(toAnn(), 11);
});

test('the limit counts pages and not contacts, and the page that counts the rest reaches every contact', async (t) => {
  const paging = await openPaging();
  const ann = await paging.person('ann');
  for (const name of ['work', 'home']) await paging.contact(ann, name, mailTo(`${name}@ann.example`));
  const policyId = await paging.policy({ steps: [{ targets: [person(ann)] }] });
  for (let count = 0; count < 12; count++) await paging.incident(policyId, `incident ${count}`);
  await paging.escalate();
  const sending = await startSending(paging);
  t.teardown(() => sending.stop());
  await sending.until(() => sending.steps.filter(({ state }) => state === 'withdrawn').length === 2);
  await sending.until(() => sending.steps.filter(({ state }) => state === 'delivered').length === 20);
  const sentTo = (name: string) => sending.mails.filter(({ to }) => to === `${name}@ann.example`);
  t.deepEqual([sentTo('work').length, sentTo('home').length], [10, 10]);
  paging.pass(5);
  await sending.until(() => sending.mails.length === 22);
  for (const name of ['work', 'home']) {
    const last = sentTo(name).at(-1);
    t.regex(last?.subject ?? '', /and 1 more/);
    t.regex(last?.text ?? '', /and 1 more incident: incident \d+$/m);
  }
});

const openers: readonly (readonly [type: string, describe: (received: Received) => string])[] = [
  ['pagerduty', ({ body }) => `${body.event_action} ${body.dedup_key}`],
  ['opsgenie', ({ path, body }) => `${path.split(/[/?]/).at(-2)} ${body.alias ?? path.split('/')[3]}`],
];
for (const [type, requestText] of openers)
  for (const ofPerson of [false, true])
    test(`a page opened at ${type}, ${ofPerson ? 'by a contact' : 'as a channel'}, is acknowledged and closed with the incident, once each`, async (t) => {
      const paging = await openPaging();
      const ann = await paging.person('ann');
      const service = await startChannelReceiver(services[type]?.accepted);
      t.teardown(() => service.close());
      const box = createSecretBox('k'.repeat(40));
      const secret = type === 'pagerduty' ? 'routingKey' : 'apiKey';
      const purpose = ofPerson ? 'contact' : 'notification-channel';
      const input = services[type]?.settings(service.url) as Record<string, string>;
      const settings = { type, ...input, [secret]: box.seal(purpose, input[secret] ?? '') };
      const target = ofPerson ? person(ann) : channelTarget(await paging.channel('other', settings));
      if (ofPerson) await paging.contact(ann, 'other', settings);
      const steps = [{ targets: [target] }];
      const id = await paging.incident(await paging.policy({ steps, repeat: 1, acknowledgeTimeoutMinutes: 60 }));
      const sending = await startSending(paging);
      t.teardown(() => sending.stop());
      const until = async (count: number): Promise<void> => {
        await paging.escalate();
        await paging.escalate();
        await sending.until(() => service.received.length >= count);
      };
      await until(1);
      paging.pass(1);
      await paging.move(id, 'acknowledged');
      await until(2);
      // The acknowledgement expires: an alert that stays open on the service would hide the next page.
      paging.pass(60);
      await until(4);
      paging.pass(1);
      await paging.move(id, 'resolved');
      await until(5);
      const verbs = service.received.map((received) => requestText(received).split(' ')[0]);
      const [open, acknowledge, close] =
        type === 'pagerduty' ? ['trigger', 'acknowledge', 'resolve'] : ['v2', 'acknowledge', 'close'];
      t.deepEqual(verbs, [open, acknowledge, close, open, close]);
      t.is(new Set(service.received.map((received) => requestText(received).split(' ')[1])).size, 1);
    });

test('subscribed projects get one mail when an incident opens and one when it resolves, with or without a policy', async (t) => {
  const paging = await openPaging();
  const notificationSettings = { recipients: ['team@acme.example'], minimumSeverity: 'warning' };
  await paging.project('shop', notificationSettings);
  await paging.project('same receiver', notificationSettings);
  await paging.project('only critical', { recipients: ['night@acme.example'], minimumSeverity: 'critical' });
  await paging.project('only ends', { recipients: ['ends@acme.example'], events: ['incident-resolved'] });
  await paging.project('off', { ...notificationSettings, recipients: ['off@acme.example'], enabled: false });
  const id = await paging.incident(null, 'Checkout is slow', { severity: 'error' });
  await paging.incident(null, 'Only for your interest', { severity: 'info' });
  await paging.escalate();
  await paging.escalate();
  const opened = ['team@acme.example: Incident opened: Checkout is slow'];
  t.deepEqual(await paging.sentMails(), opened);
  paging.pass(1);
  await paging.move(id, 'acknowledged');
  await paging.escalate();
  t.deepEqual(await paging.sentMails(), opened);
  paging.pass(1);
  await paging.move(id, 'resolved');
  await paging.escalate();
  const ended = ['ends', 'team'].map((name) => `${name}@acme.example: Incident resolved: Checkout is slow`);
  t.deepEqual(await paging.sentMails(), [...opened, ...ended].sort());
  paging.pass(1);
  await paging.move(id, 'open');
  await paging.escalate();
  t.true((await paging.sentMails()).includes('team@acme.example: Incident opened again: Checkout is slow'));
  t.deepEqual(await paging.actions(), []);
});

test('an incident created from alerts notifies the projects of their rules', async (t) => {
  const paging = await openPaging();
  const to = (name: string) => ({ recipients: [`${name}@acme.example`] });
  const [shop] = [await paging.project('shop', to('shop')), await paging.project('other', to('other'))];
  await paging.incident(null, 'Of a rule', { severity: 'critical' }, [await paging.rule(shop)]);
  await paging.escalate();
  t.deepEqual(await paging.sentMails(), ['shop@acme.example: Incident opened: Of a rule']);
});

test('many simultaneous incidents do not cause a flood of mails', async (t) => {
  const paging = await openPaging();
  await paging.project('shop', { recipients: ['team@acme.example'] });
  for (let count = 0; count < 40; count++) await paging.incident(null, `incident ${count}`);
  await paging.escalate();
  t.is((await paging.sentMails()).length, 20);
});
