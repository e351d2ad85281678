/** A project’s recipients get one mail for each burn of an SLO’s error budget. */
import '../../../subjects/query-kinds.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createMemoryCounters } from '../../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../../adapters/documents-sqlite/documents-sqlite.ts';
import { notifyBurns } from '../../../api/groups/slos/burn-mails.ts';
import type { MailDraft } from '../../../api/mail/mail-text.ts';
import type { Columns } from '../../../schemas/ports/columns.ts';
import type { CollectionDefinition } from '../../../schemas/ports/documents.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import { alertRules } from '../../../schemas/resources/alert-rule.ts';
import { ProjectNotifications, projects } from '../../../schemas/resources/project.ts';

test('each subscribed recipient of a project is notified once per burn, and again when a new burn starts', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'burn-mails-'));
  const clock = { now: () => Date.now() };
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.db'), clock });
  t.teardown(async () => {
    await documents.close();
    rmSync(directory, { recursive: true });
  });
  const tenantDocuments = documents.forTenant('acme');
  const insertProject = (name: string, notifications: object) =>
    tenantDocuments
      .collection(projects)
      .insert({ name, description: '', notifications: ProjectNotifications.parse(notifications) });
  await insertProject('shop', { recipients: ['ann@a.example', 'bob@a.example'], events: ['slo-burning'] });
  await insertProject('same', { recipients: ['ann@a.example'], events: ['slo-burning'] });
  await insertProject('other events', { recipients: ['eve@a.example'] });
  await insertProject('critical', {
    recipients: ['top@a.example'],
    events: ['slo-burning'],
    minimumSeverity: 'critical',
  });
  const insertRule = (id: string, fields: object) =>
    tenantDocuments.collection(alertRules as CollectionDefinition<object>).insert({ id, ...fields });
  await insertRule('fast', { managedBy: { sloId: 's1' }, labels: { slo: 'Checkout', burn: 'fast' } });
  await insertRule('alone', { managedBy: null, labels: { burn: 'fast' } });
  const firingSeverities = new Map<string, string>();
  const columns = {
    forTenant: () => ({
      query: async () =>
        [...firingSeverities].map(([rule, severity]) => ({
          rule_id: rule,
          alert_id: `${rule} a`,
          project: '',
          labels: {},
          state: 'firing',
          severity,
          value: 14.4,
          reason: '14.4 is above 14 in 1h and 5m',
          error: '',
          evaluated: String(Date.now()),
          since: '1',
          started: '1',
          duration_ms: 1,
          late_ms: 0,
          groups: 1,
          firing: 1,
        })),
    }),
  } as unknown as Columns;
  const sentMails: MailDraft[] = [];
  const sendMails = async (): Promise<string[]> => {
    sentMails.length = 0;
    const settings = { PUBLIC_URL: 'https://oiq.example', HTTP_ADDRESS: '127.0.0.1:8080' };
    const enqueue = async (_: unknown, mail: MailDraft | undefined) => {
      if (mail !== undefined) sentMails.push(mail);
      return 'id';
    };
    await notifyBurns(
      {
        documents,
        columns,
        clock,
        log: silentLog,
        counters: createMemoryCounters({ clock }),
        settings,
        mail: { isConfigured: true, readDeliveryState: async () => 'queued', enqueue },
      },
      new AbortController().signal,
    );
    return sentMails.map(({ to }) => to).toSorted();
  };
  t.deepEqual(await sendMails(), []);
  firingSeverities.set('fast', 'error').set('alone', 'critical');
  t.deepEqual(await sendMails(), ['ann@a.example', 'bob@a.example']);
  t.is(sentMails[0]?.subject, 'SLO burns its error budget: Checkout');
  t.true(sentMails[0]?.paragraphs[0]?.includes('14.4 is above 14 in 1h and 5m'));
  t.is(sentMails[0]?.link?.url, 'https://oiq.example/slos?open=s1');
  t.deepEqual(await sendMails(), [], 'once');
  firingSeverities.clear();
  t.deepEqual(await sendMails(), []);
  firingSeverities.set('fast', 'critical');
  t.deepEqual(await sendMails(), ['ann@a.example', 'bob@a.example', 'top@a.example']);
});
