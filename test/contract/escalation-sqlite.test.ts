import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { killRounds } from '../budget.ts';
import { scratchDirectory } from '../services/scratch.ts';
import { escalationContract } from './escalation-killed.ts';

escalationContract({
  name: 'sqlite',
  store: async () => ({ path: join(mkdtempSync(join(scratchDirectory(), 'escalation-')), 'documents.sqlite') }),
  open: (store) => openSqliteDocuments({ path: 'path' in store ? store.path : '' }),
  members: 1,
  rounds: 3 * killRounds,
});
