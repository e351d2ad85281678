/** Migrates the tables to the schema of this version. */
import type { Columns, ServerColumns } from '../../schemas/ports/columns.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { allTables, declaredViews } from '../../schemas/tables/index.ts';
import { schemaMigrationsTable } from '../../schemas/tables/schema-migrations.ts';
import { buildCreateTable, type Table } from '../../schemas/tables/table.ts';
import { createTables } from './001-create-tables.ts';
import { addSearchIndexes } from './002-add-search-indexes.ts';
import { createViews } from './003-create-views.ts';
import { createUsage } from './004-create-usage.ts';
import { createEvidenceHeads } from './005-create-evidence-heads.ts';
import { reduceMergeCost } from './006-cheaper-merges.ts';
import { storeSenderMetadata } from './007-keep-what-senders-say.ts';
import { reduceInsertCost } from './008-cheaper-inserts.ts';
import { indexResources } from './009-index-resources.ts';
import { countByResource } from './010-count-by-resource.ts';
import { indexFreshRows } from './011-index-fresh-rows.ts';
import { addCoarseTraceIndex } from './012-find-traces-sooner.ts';
import { reduceFalsePositiveGranules } from './013-fewer-wrong-granules.ts';
import { storeNativeHistograms } from './014-keep-native-histograms.ts';
import { reduceWordFilterCost } from './015-cheaper-fresh-words.ts';
import { countErrorsByText } from './016-count-errors-by-text.ts';
import { storeLaterMetadata } from './017-keep-later-metadata.ts';
import { refineSliceGranularity } from './018-finer-slices.ts';
import { changeSliceCodecs } from './019-quicker-slices.ts';
import { cheaperErrors } from './020-cheaper-errors.ts';
import { indexWordsAsRead } from './021-words-as-read.ts';
import { countColoredErrors } from './022-severities-in-color.ts';
import { storeNestedValues } from './023-nested-values.ts';
import { mergeVitals } from './024-merged-vitals.ts';
import { migrateDeclaredTables } from './declared-tables.ts';
import type { Migration } from './migration.ts';

export const migrations: readonly Migration[] = [
  createTables,
  addSearchIndexes,
  createViews,
  createUsage,
  createEvidenceHeads,
  reduceMergeCost,
  storeSenderMetadata,
  reduceInsertCost,
  indexResources,
  countByResource,
  indexFreshRows,
  addCoarseTraceIndex,
  reduceFalsePositiveGranules,
  storeNativeHistograms,
  reduceWordFilterCost,
  countErrorsByText,
  storeLaterMetadata,
  refineSliceGranularity,
  changeSliceCodecs,
  cheaperErrors,
  indexWordsAsRead,
  countColoredErrors,
  storeNestedValues,
  mergeVitals,
];

const readAppliedIds = async (columns: ServerColumns): Promise<ReadonlySet<number>> => {
  const rows = await columns.query<{ id: number }>('SELECT DISTINCT id FROM schema_migrations');
  return new Set(rows.map(({ id }) => id));
};

/**
 * Applies missing migrations in order on each server, and returns their number. Then creates the declared tables and
 * views without a written migration. Idempotent, and safe in concurrent processes. Throws for tables that a newer
 * version changed, before it changes anything on their server.
 */
export const migrate = async (
  columns: Columns,
  log: Log,
  knownMigrations: readonly Migration[] = migrations,
  tables: readonly Table[] = allTables,
): Promise<number> => {
  const servers = columns.listServers();
  let count = 0;
  for (const server of servers) {
    const serverLog = servers.length === 1 ? log : createServerLog(log, server.name);
    count += await migrateServer(server.columns, serverLog, knownMigrations, tables);
  }
  await columns.handleTablesChanged();
  return count;
};

/** A log whose lines name the server. */
const createServerLog = (log: Log, server: string): Log => ({
  info: (fields, message) => log.info({ ...fields, server }, message),
  warn: (fields, message) => log.warn({ ...fields, server }, message),
  error: (fields, message) => log.error({ ...fields, server }, message),
});

const migrateServer = async (
  columns: ServerColumns,
  log: Log,
  knownMigrations: readonly Migration[],
  tables: readonly Table[],
): Promise<number> => {
  await columns.execute(buildCreateTable(schemaMigrationsTable));
  const appliedIds = await readAppliedIds(columns);
  const newestAppliedId = Math.max(0, ...appliedIds);
  const lastKnownId = knownMigrations.at(-1)?.id ?? 0;
  if (newestAppliedId > lastKnownId)
    throw new Error(
      `the tables are at version ${newestAppliedId} and this program knows version ${lastKnownId}: run the newer program, or restore a backup from before its migration`,
    );
  const isAppliedNow = async ({ id }: Migration): Promise<boolean> => (await readAppliedIds(columns)).has(id);
  let count = 0;
  for (const migration of knownMigrations) {
    // Checked before each migration: another process may be ahead, and this one must not restore replaced objects.
    if (appliedIds.has(migration.id) || (await isAppliedNow(migration))) continue;
    try {
      await migration.up(columns);
    } catch (error) {
      // If another process has applied this migration in the meantime, a later migration may already have replaced its objects.
      if (await isAppliedNow(migration)) continue;
      throw error;
    }
    // Without VALUES: the in-process engine appends its standard input to those.
    await columns.execute(
      `INSERT INTO schema_migrations (id, name, applied_at) SELECT ${migration.id}, '${migration.name}', now64(3)`,
    );
    log.info({ id: migration.id, name: migration.name }, 'migration applied');
    count++;
  }
  await migrateDeclaredTables(columns, log, tables, declaredViews);
  return count;
};
