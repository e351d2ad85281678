/** Deletes the telemetry of a project */
import { removeDeletedRows } from '../../runtime/deleted-rows.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { anyRowClause } from '../../schemas/tables/any-row.ts';
import { tenantTables } from '../../schemas/tables/index.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { insertHourChanges } from '../llm/hours.ts';

/** Expressions of the columns that state projects, also within tuples. */
const projectTables = tenantTables.flatMap(({ name, columns }) => {
  const fields = Object.entries(columns).flatMap(([column, type]) => {
    if (column === 'project_id') return [{ field: column, hasSeveral: type.startsWith('Array(') }];
    return type.includes(' project_id ') ? [{ field: `${column}.project_id`, hasSeveral: true }] : [];
  });
  return fields.length === 0 ? [] : [{ name, fields }];
});

/**
 * Deletes the rows of a project from all tables that state a project. Sums with other projects are deleted as a whole:
 * they are read from their records until they are computed again. Tables that describe an organization as a whole,
 * such as names of metrics, keep what they know until its retention ends.
 */
export const eraseProjectTelemetry = async (
  { columns, log }: { readonly columns: Columns; readonly log: Log },
  {
    tenantId,
    projectId,
    signal,
  }: { readonly tenantId: string; readonly projectId: string; readonly signal?: AbortSignal },
): Promise<void> => {
  const project = quoteString(projectId);
  for (const { name, fields } of projectTables) {
    const isOfProject = fields.map(({ field, hasSeveral }) =>
      hasSeveral ? `has(${field}, ${project})` : `${field} = ${project}`,
    );
    const condition = `tenant_id = ${quoteString(tenantId)} AND (${isOfProject.join(' OR ')})`;
    // A deletion rewrites table parts, so skip it if no row matches.
    const matches = await columns.query(`SELECT 1 AS found FROM ${name} WHERE ${condition} ${anyRowClause}`);
    if (matches.length > 0) await columns.execute(`DELETE FROM ${name} WHERE ${condition}`);
  }
  // Also without matches: an earlier attempt may have ended before this.
  await columns.execute(insertHourChanges(quoteString(tenantId)));
  await removeDeletedRows({ columns, log }, { signal });
};
