import type { Columns } from '../schemas/ports/columns.ts';

/**
 * Removes rows that `DELETE` has only masked from the disk, on every server. Returns the number of rewritten tables.
 * Parts without merges, as on a quiet installation, would otherwise contain them for good.
 */
export const removeDeletedRows = async (columns: Pick<Columns, 'listServers'>): Promise<number> => {
  let rewritten = 0;
  for (const server of columns.listServers()) {
    const tables = await server.columns.query<{ table: string }>(
      'SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND active AND has_lightweight_delete',
    );
    for (const { table } of tables) {
      await server.columns.execute(`ALTER TABLE ${table} APPLY DELETED MASK SETTINGS mutations_sync = 1`);
      rewritten++;
    }
  }
  return rewritten;
};
