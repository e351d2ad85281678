import '../../subjects/query-kinds.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { statesContract } from './states.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-states-'));
const path = join(directory, 'documents.sqlite');
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

statesContract('sqlite', {
  async open() {
    const documents = await openSqliteDocuments({ path });
    return [documents, documents];
  },
  store: async () => ['sqlite', path],
});
