import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { findNewestSequence, readStoredEnd } from '../../api/groups/audit/chain/record-pages.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { auditContract } from './audit.ts';
import { testCollection } from './audit-changes.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-audit-sqlite-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

let opened: Promise<Documents> | undefined;
/** A process can open the file only once, so both instances are the same store. */
auditContract('sqlite', () => {
  opened ??= openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  return opened;
});

for (const [moment, expectedRecords] of [
  ['amid', 1],
  ['after', 2],
] as const) {
  test(`sqlite: killed ${moment} its second change, a process leaves ${expectedRecords} changes and the same number of records`, async (t) => {
    const path = join(directory, `${moment}.sqlite`);
    const program = fileURLToPath(new URL('./audit-killed.ts', import.meta.url));
    const child = spawn(process.execPath, [program, path, moment], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const documents = await openSqliteDocuments({ path });
    t.is(await documents.forTenant('killed').collection(testCollection).count(), expectedRecords);
    t.is(await findNewestSequence(documents, 'killed'), expectedRecords);
    t.is((await readStoredEnd(documents, 'killed')).sequence, expectedRecords);
    await documents.close();
  });
}
