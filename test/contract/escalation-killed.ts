/** Incidents, pages and mails with kill -9 at each stage: the result equals that of an undisturbed run. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { openMail } from '../../api/mail/queue.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { escalationActions, escalations } from '../../schemas/resources/escalation.ts';
import { EscalationPolicyFields, escalationPolicies } from '../../schemas/resources/escalation-policy.ts';
import { incidents } from '../../schemas/resources/incident.ts';
import { notificationChannels } from '../../schemas/resources/notification-channel.ts';
import { pendingDeliveries } from '../../schemas/resources/notification-delivery.ts';
import { outgoingMails, outgoingMailsTenant } from '../../schemas/resources/outgoing-mail.ts';
import { ProjectNotifications, projects } from '../../schemas/resources/project.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import type { EscalationMemberOptions } from './escalation-member.ts';

const groups = 3;
const openedMs = Date.parse('2026-11-25T10:00:00.000Z');
const secret = 'k'.repeat(40);

/** Other collections need no index here. */
const used = [incidents, escalations, escalationActions, pendingDeliveries, outgoingMails, memberships, users];

/** An organization with an escalation policy of two steps, each with a user and a PagerDuty channel as targets. */
const prepare = async (documents: Documents, tenantId: string): Promise<void> => {
  const own = documents.forTenant(tenantId);
  const person = { email: `${tenantId}@acme.example`, name: 'Ann', passwordHash: null, disabled: false };
  await documents
    .forTenant(usersTenant)
    .collection(users)
    .insert({ id: `ann-${tenantId}`, ...person });
  await own.collection(memberships).insert({ id: `ann-${tenantId}`, role: 'editor', disabled: false });
  await own.collection(notificationChannels).insert({
    id: 'pager',
    name: 'pager',
    description: '',
    enabled: true,
    maxPerMinute: 60,
    settings: { type: 'pagerduty', routingKey: 'x' },
    templates: { title: '', text: '' },
  });
  const targets = [
    { kind: 'person', id: `ann-${tenantId}` },
    { kind: 'channel', id: 'pager' },
  ];
  const steps = [{ targets }, { targets, afterMinutes: 5 }];
  await own
    .collection(escalationPolicies)
    .insert({ id: 'policy', ...EscalationPolicyFields.parse({ name: 'Shop', steps }) });
  const notifications = ProjectNotifications.parse({ recipients: [`${tenantId}@acme.example`] });
  await own.collection(projects).insert({ id: 'shop', name: 'shop', description: '', notifications } as never);
};

/** Everything that opening and escalating wrote, without values that differ between organizations and runs. */
const writtenFor = async (documents: Documents, tenantId: string) => {
  const own = documents.forTenant(tenantId);
  const all = { limit: 1000, sort: { id: 1 } } as const;
  const [opened, actions, pages, states, mails] = await Promise.all([
    own.collection(incidents).list(all),
    own.collection(escalationActions).list(all),
    own.collection(pendingDeliveries).list(all),
    own.collection(escalations).list(all),
    documents.forTenant(outgoingMailsTenant).collection(outgoingMails).list({ limit: 1000 }),
  ]);
  const box = createSecretBox(secret);
  const tenantMails = mails.items
    .map((entry) => openMail(box, entry))
    .filter((mail) => mail?.to.startsWith(`${tenantId}@`));
  return {
    incidents: opened.items.map(({ id, status, title }) => `${id} ${status} ${title}`),
    actions: actions.items.map(({ at, kind, round, step, to }) => `${at} ${kind} ${round} ${step} ${to?.kind}`).sort(),
    // Without times: a resumed run starts with the first clock again, and finds the writes of the previous run.
    pages: pages.items.map(({ notification }) => `${notification?.reason} ${notification?.channelId}`).sort(),
    states: states.items.map(({ id, state, openings }) => `${id} ${state.status} ${state.step} ${openings?.length}`),
    mails: tenantMails.map((mail) => mail?.subject).sort(),
  };
};

const run = async (options: Pick<EscalationMemberOptions, 'store' | 'tenantId' | 'killAt'>) => {
  const script = fileURLToPath(new URL('escalation-member.ts', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify({ ...options, groups, openedMs, secret })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  const [code, signal] = await once(child, 'close');
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`a member ended with ${code ?? signal}`);
  return { isKilled: signal === 'SIGKILL', calls: Number(output) };
};

export interface EscalationContract {
  readonly name: string;
  store(): Promise<EscalationMemberOptions['store']>;
  open(store: EscalationMemberOptions['store']): Promise<Documents>;
  /** Number of concurrent processes after a kill. */
  readonly members: number;
  /** With as many rounds as calls, each stage is hit; otherwise stages at equal distances, different in each run. */
  readonly rounds: number;
}

export const escalationContract = ({ name, store: storeOf, open, members, rounds }: EscalationContract): void => {
  test.serial(`${name}: through kill -9 at each stage, incidents, pages and mails are created once`, async (t) => {
    const store = await storeOf();
    /** A file can be open in one process at a time. */
    const within = async <Result>(work: (documents: Documents) => Promise<Result>): Promise<Result> => {
      const documents = await open(store);
      try {
        return await work(documents);
      } finally {
        await documents.close();
      }
    };
    await within(async (documents) => {
      await documents.ensureCollections(used);
      await prepare(documents, 'whole');
    });
    const { calls } = await run({ store, tenantId: 'whole', killAt: 0 });
    const expected = await within((documents) => writtenFor(documents, 'whole'));
    t.is(expected.incidents.length, groups);
    // Two steps of two targets, but that the acknowledged one had its second step before; what was opened is acknowledged and closed.
    t.is(expected.actions.length, groups * 4);
    t.is(expected.pages.length, groups * 4 + 2);
    t.is(expected.mails.length, groups + 1);
    const distance = Math.max(1, calls / rounds);
    const first = 1 + Math.floor(Math.random() * Math.floor(distance));
    let kills = 0;
    for (let at = first; at <= calls; at += distance) {
      const [tenantId, killAt] = [`killed-${kills}`, Math.floor(at)];
      await within((documents) => prepare(documents, tenantId));
      const { isKilled } = await run({ store, tenantId, killAt });
      t.true(isKilled, `it went on after call ${killAt}`);
      kills++;
      await Promise.all(Array.from({ length: members }, () => run({ store, tenantId, killAt: 0 })));
      const written = await within((documents) => writtenFor(documents, tenantId));
      t.deepEqual(written, expected, `killed at call ${killAt} of ${calls}`);
    }
    t.log(
      `${kills} kills at ${calls} calls, ${expected.incidents.length} incidents, ${expected.pages.length} pages each`,
    );
  });
};
