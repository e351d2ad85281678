/**
 * Subscribers of projects get a mail when a check fails and when it recovers: once each, and not during planned
 * downtime.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createMemoryCounters } from '../../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../../adapters/documents-sqlite/documents-sqlite.ts';
import { getPendingNotification, notifyCheckChanges } from '../../../api/groups/synthetics/check-mails.ts';
import type { MailDraft } from '../../../api/mail/mail-text.ts';
import type { Columns } from '../../../schemas/ports/columns.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import { ProjectNotifications, projects } from '../../../schemas/resources/project.ts';
import { syntheticChecks } from '../../../schemas/resources/synthetic-check.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';

test('the notification depends on the state and the last notification', (t) => {
  const table = [
    ['up', undefined, undefined],
    ['down', undefined, 'failing'],
    ['down', 'failing', undefined],
    ['degraded', 'failing', 'recovered'],
    ['up', 'failing', 'recovered'],
    ['up', 'recovered', undefined],
    ['down', 'recovered', 'failing'],
    ['unknown', 'failing', undefined],
  ] as const;
  for (const [state, known, expectedStatus] of table) {
    t.is(getPendingNotification({ state, isMaintenance: false }, known), expectedStatus, `${state} ${known}`);
    t.is(getPendingNotification({ state, isMaintenance: true }, known), undefined, 'planned');
  }
});

test('each subscribed receiver of a project gets one mail per change', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'check-mails-'));
  const clock = { now: () => Date.now() };
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.db'), clock });
  t.teardown(async () => {
    await documents.close();
    rmSync(directory, { recursive: true });
  });
  const own = documents.forTenant('acme');
  const project = (name: string, of: object) =>
    own.collection(projects).insert({ name, description: '', notifications: ProjectNotifications.parse(of) });
  const both = ['check-failing', 'check-recovered'];
  const { id: projectId } = await project('shop', { recipients: ['ann@a.example', 'bob@a.example'], events: both });
  await project('failing only', { recipients: ['eve@a.example'], events: ['check-failing'] });
  await project('off', { enabled: false, recipients: ['off@a.example'], events: both });
  await project('critical', { recipients: ['top@a.example'], events: both, minimumSeverity: 'critical' });
  const check = (name: string, of: object) =>
    own
      .collection(syntheticChecks)
      .insert(CheckFields.parse({ name, type: 'tcp', tcp: { host: 'a.example', port: 1 }, ...of }));
  const ofShop = await check('Shop', { projectId });
  const ofAll = await check('All', { alerting: { severity: 'error' } });
  const state = new Map<string, string>();
  const sent: MailDraft[] = [];
  const columns = {
    forTenant: () => ({
      query: async () =>
        [...state].map(([id, now]) => ({
          id,
          state: now,
          planned: 0,
          details: `it is ${now} since noon`,
          locations: '[]',
        })),
    }),
  } as unknown as Columns;
  const sendMails = async (): Promise<string[]> => {
    sent.length = 0;
    await notifyCheckChanges(
      {
        documents,
        columns,
        clock,
        log: silentLog,
        counters: createMemoryCounters({ clock }),
        settings: { PUBLIC_URL: 'https://oiq.example', HTTP_ADDRESS: '127.0.0.1:8080' },
        mail: {
          isConfigured: true,
          readDeliveryState: async () => 'queued',
          enqueue: async (_, mail) => {
            if (mail !== undefined) sent.push(mail);
            return 'id';
          },
        },
      },
      new AbortController().signal,
    );
    return sent.map(({ to, subject }) => `${to} ${subject}`).toSorted();
  };
  state.set(ofShop.id, 'up').set(ofAll.id, 'up');
  t.deepEqual(await sendMails(), []);
  state.set(ofShop.id, 'down');
  t.deepEqual(await sendMails(), ['ann@a.example Check failing: Shop', 'bob@a.example Check failing: Shop']);
  t.is(sent[0]?.paragraphs[0], 'The synthetic check “Shop” fails: it is down since noon.');
  t.is(sent[0]?.link?.url, `https://oiq.example/checks?open=${ofShop.id}`);
  t.deepEqual(await sendMails(), [], 'once');
  state.set(ofAll.id, 'down').set(ofShop.id, 'up');
  t.deepEqual(await sendMails(), [
    ...['ann@a.example Check failing: All', 'ann@a.example Check recovered: Shop'],
    ...['bob@a.example Check failing: All', 'bob@a.example Check recovered: Shop', 'eve@a.example Check failing: All'],
  ]);
  state.set(ofAll.id, 'up');
  t.deepEqual(await sendMails(), ['ann@a.example Check recovered: All', 'bob@a.example Check recovered: All']);
});
