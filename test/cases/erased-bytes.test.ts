/** Erasure of an organization from the stores of a standalone installation. */
import { join } from 'node:path';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createFileMailer } from '../../adapters/mail-file.ts';
import { projects } from '../../schemas/resources/project.ts';
import { users, usersTenant } from '../../schemas/resources/user.ts';
import { defineTopic } from '../../schemas/topic.ts';
import { copyColumns } from '../services/columns-template.ts';
import {
  canary,
  createClock,
  createDirectory,
  eraseDeletedOrganization,
  expectErased,
  findCanary,
  seedStores,
} from './erased-bytes.ts';

const { directory, remove } = createDirectory();
test.after.always(remove);

const topic = defineTopic({
  name: 'quiet',
  summary: 'A message now and then',
  key: 'any',
});

test('no byte of an erased organization remains in tables, documents, messages and mails', async (t) => {
  const clock = createClock();
  const columnsDirectory = join(directory, 'columns');
  copyColumns(columnsDirectory);
  const columns = await openChdbColumns({ directory: columnsDirectory });
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite'), clock });
  const bus = await openSegmentsBus({ directory: join(directory, 'bus'), clock });
  await bus.ensureTopics([topic]);
  const mailer = createFileMailer({ path: join(directory, 'outbox.jsonl'), clock });
  const producer = await bus.producer();
  const publish = (text: string) =>
    producer.publish([{ topic: 'quiet', key: 'b', value: Buffer.from(text), headers: {} }]);

  await seedStores({ columns, documents }, clock);
  await documents.forTenant('b').collection(projects).insert({ id: 'p', name: canary, description: canary });
  await documents
    .forTenant(usersTenant)
    .collection(users)
    .insert({ id: 'b', email: `${canary}@example.com`, name: canary } as never);
  await mailer.send({ to: `${canary}@example.com`, subject: 'Closed', text: canary, html: canary });
  await publish(canary);
  t.true(findCanary(directory).length >= 4, findCanary(directory).join(', '));

  // Other organizations continue to send a few messages, so that the topic is never idle for its whole retention.
  for (let day = 0; day < 31; day++) {
    clock.moveByDays(1);
    await publish('other');
  }
  await bus.retain();
  await mailer.close();
  const later = createFileMailer({ path: join(directory, 'outbox.jsonl'), clock });
  await later.send({ to: 'other@example.com', subject: 'Hello', text: 'other', html: '' });
  await later.close();
  await bus.close();
  await eraseDeletedOrganization({ columns, documents }, clock);
  await documents.close();
  await expectErased(t, columns, directory);
  await columns.close();
  t.deepEqual(findCanary(directory), []);
});
