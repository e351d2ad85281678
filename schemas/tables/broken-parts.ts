/**
 * Table parts that the engine detached because it could not read them. The engine does not report them, and reads
 * without their rows.
 */
import type { ServerColumns } from '../ports/columns.ts';

/**
 * Returns their directories, at most a hundred. Parts of replicated tables are fetched from another replica, and no
 * rows are missing.
 */
export const findBrokenParts = async (columns: ServerColumns): Promise<readonly string[]> => {
  const parts = await columns.query<{ path: string }>(
    `SELECT path FROM system.detached_parts WHERE database = currentDatabase() AND startsWith(reason, 'broken')
AND table NOT IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(engine, 'Replicated'))
ORDER BY path LIMIT 100`,
  );
  return parts.map(({ path }) => path);
};
