/** A process that is killed during a change or after it: `node audit-killed.ts FILE amid|after`. */
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { changesFor, testCollection } from './audit-changes.ts';

const [path = '', moment] = process.argv.slice(2);
const documents = await openSqliteDocuments({ path });
const change = changesFor(documents, 'killed');
await change(async ({ forTenant, record }) => {
  record({ id: (await forTenant('killed').collection(testCollection).insert({ n: 1 })).id });
});
await change(async ({ forTenant, record }) => {
  record({ id: (await forTenant('killed').collection(testCollection).insert({ n: 2 })).id });
  if (moment === 'amid') {
    process.stdout.write('now\n');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  }
});
process.stdout.write('now\n');
setTimeout(() => undefined, 60_000);
