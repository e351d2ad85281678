import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { jobsContract } from './jobs.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-jobs-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

jobsContract(() => openSqliteDocuments({ path: join(directory, 'documents.sqlite') }));
