/** Removes rows from the disk that `DELETE` has only masked. Parts without merges would otherwise contain them for good. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Columns, ServerColumns } from '../schemas/ports/columns.ts';
import type { Log } from '../schemas/ports/log.ts';

interface RemovalContext {
  readonly columns: Pick<Columns, 'listServers'>;
  readonly log: Log;
}

const maskedTablesSql =
  'SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND active AND has_lightweight_delete';
const mutatedTablesSql =
  'SELECT table, max(latest_fail_reason) AS reason FROM system.mutations WHERE database = currentDatabase() AND NOT is_done GROUP BY table';

/** Starts the removal from tables without an unfinished mutation. Returns the tables that contain masked rows. */
const startOnServer = async (
  server: { readonly name: string; readonly columns: ServerColumns },
  log: Log,
): Promise<string[]> => {
  const maskedTables = await server.columns.query<{ table: string }>(maskedTablesSql);
  if (maskedTables.length === 0) return [];
  const mutations = await server.columns.query<{ table: string; reason: string }>(mutatedTablesSql);
  const reasons = new Map(mutations.map(({ table, reason }) => [table, reason]));
  for (const { table } of maskedTables) {
    const reason = reasons.get(table);
    const fields = { server: server.name, table };
    if (reason) log.warn({ ...fields, reason }, 'deleted rows cannot be removed from the disk: a mutation fails');
    if (reason !== undefined) continue;
    // Not awaited: the rewrite of a large table takes longer than a request may take.
    await server.columns
      .execute(`ALTER TABLE ${table} APPLY DELETED MASK SETTINGS mutations_sync = 0`)
      .catch((error: unknown) => log.warn({ ...fields, error }, 'deleted rows could not be removed from the disk'));
  }
  return maskedTables.map(({ table }) => `${table} on ${server.name}`);
};

/**
 * Starts to remove masked rows, on every server, and does not wait for the end. Returns the tables that contain such
 * rows. A failure for one table or server is logged; the next call tries again.
 */
export const startRemovingDeletedRows = async ({ columns, log }: RemovalContext): Promise<string[]> => {
  const tables: string[] = [];
  for (const server of columns.listServers())
    try {
      tables.push(...(await startOnServer(server, log)));
    } catch (error) {
      log.warn({ server: server.name, error }, 'deleted rows could not be removed from the disk');
      tables.push(`all tables on ${server.name}`);
    }
  return tables;
};

const maxWaitMs = 600_000;
const firstPollMs = 100;
const maxPollMs = 10_000;

/** Removes masked rows, on every server, and waits for the end. Throws if that takes longer than `waitMs` milliseconds. */
export const removeDeletedRows = async (
  context: RemovalContext,
  { waitMs = maxWaitMs, signal }: { readonly waitMs?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<void> => {
  const endMs = performance.now() + waitMs;
  for (let pollMs = firstPollMs; ; pollMs = Math.min(2 * pollMs, maxPollMs)) {
    const tables = await startRemovingDeletedRows(context);
    if (tables.length === 0) return;
    if (performance.now() >= endMs)
      throw new Error(`deleted rows are not removed from the disk yet: ${tables.join(', ')}. The next run continues`);
    await sleep(Math.min(pollMs, Math.max(0, endMs - performance.now())), undefined, { signal });
  }
};
