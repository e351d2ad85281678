/** After an erasure, no byte of what was erased is in the data directory. "Deleted" is judged by the disk, not by reading back. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createFileMailer } from '../../adapters/mail-file.ts';
import { collections } from '../../api/collections.ts';
import { deriveEvidenceKey } from '../../api/groups/audit/chain/evidence-key.ts';
import { eraseDueOrganizations } from '../../api/identity/accounts/erasing.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { projects } from '../../schemas/resources/project.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { defineTopic } from '../../schemas/topic.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { copyColumns } from '../services/columns-template.ts';
import { eventually } from '../waiting.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-erased-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

const canary = 'canary-4f1d';
const dayMs = 86_400_000;
let now = Date.parse('2026-03-20T15:30:00Z');
const clock = { now: () => now };

/** Files with the canary, relative to the directory. */
const findCanary = (): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(directory, name);
    try {
      return statSync(path).isFile() && readFileSync(path).includes(canary);
    } catch {
      // The engine removes files of its own.
      return false;
    }
  });

const topic = defineTopic({
  name: 'quiet',
  summary: 'A message now and then',
  key: 'any',
});

test('no byte of an erased organization remains in tables, documents, messages and mails', async (t) => {
  const columnsDirectory = join(directory, 'columns');
  copyColumns(columnsDirectory);
  const columns = await openChdbColumns({ directory: columnsDirectory });
  await migrate(columns, silentLog);
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite'), clock });
  const bus = await openSegmentsBus({ directory: join(directory, 'bus'), clock });
  await bus.ensureTopics([topic]);
  const mailer = createFileMailer({ path: join(directory, 'outbox.jsonl'), clock });
  const producer = await bus.producer();
  const publish = (text: string) =>
    producer.publish([{ topic: 'quiet', key: 'b', value: Buffer.from(text), headers: {} }]);

  // The engine would otherwise keep replaced files for eight minutes.
  for (const table of ['logs', 'spans'])
    await columns.execute(`ALTER TABLE ${table} MODIFY SETTING old_parts_lifetime = 1`);
  for (const [tenant, word] of [
    ['a', 'other'],
    ['b', canary],
  ] as const) {
    // Not compressed beyond recognition, because it repeats nothing.
    await columns.execute(
      `INSERT INTO logs (tenant_id, received_at, timestamp, body) VALUES ('${tenant}', now(), now(), '${word}')`,
    );
    await documents.forTenant(tenant).collection(projects).insert({ id: 'p', name: word, description: word });
    await documents
      .forTenant(usersTenant)
      .collection(users)
      .insert({ id: tenant, email: `${word}@example.com`, name: word } as never);
    await documents.forTenant(tenant).collection(memberships).insert({ id: tenant, role: 'owner' });
    await documents
      .forTenant(organizationsTenant)
      .collection(organizations)
      .insert({
        id: tenant,
        name: word,
        disabled: tenant === 'b',
        ...(tenant === 'b' && {
          closed: { at: new Date(now).toISOString(), eraseAt: new Date(now + 30 * dayMs).toISOString(), erased: false },
        }),
      } as never);
  }
  await mailer.send({ to: `${canary}@example.com`, subject: 'Closed', text: canary, html: canary });
  await publish(canary);
  t.true(findCanary().length >= 4, findCanary().join(', '));

  // Others go on meanwhile: a message now and then, so that the topic is never quiet for its whole retention.
  for (let day = 0; day < 31; day++) {
    now += dayMs;
    await publish('other');
  }
  await eraseDueOrganizations({
    documents,
    columns,
    clock,
    log: silentLog,
    collections,
    evidenceKey: deriveEvidenceKey(createSecretBox('k'.repeat(40))),
  });
  await bus.retain();
  await mailer.close();
  const later = createFileMailer({ path: join(directory, 'outbox.jsonl'), clock });
  await later.send({ to: 'other@example.com', subject: 'Hello', text: 'other', html: '' });
  await later.close();
  await bus.close();
  await documents.close();
  await eventually('the engine has removed replaced files', () => findCanary().length === 0).catch(() => undefined);
  t.deepEqual(findCanary(), []);
  const rows = await columns.query('SELECT tenant_id, body FROM logs');
  t.deepEqual(rows, [{ tenant_id: 'a', body: 'other' }]);
  await columns.close();
  t.deepEqual(findCanary(), []);
});
