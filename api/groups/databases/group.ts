import { defineGroup } from '../define-group.ts';
import { getDatabaseEngines, showDatabaseEngine, showDatabaseSeries } from './engines.ts';
import { listDatabases } from './list.ts';
import { listDatabaseQueries } from './queries.ts';

export const databasesGroup = defineGroup({
  name: 'databases',
  summary: 'Database instances and the statements that they run.',
  reads: ['metrics', 'traces'],
  operations: [listDatabases, getDatabaseEngines, listDatabaseQueries, showDatabaseEngine, showDatabaseSeries],
});
