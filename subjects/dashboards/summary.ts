/** Summary of a dashboard for lists. */
import type { Stored } from '../../schemas/ports/documents.ts';
import type { DashboardSummary, StoredDashboard } from '../../schemas/resources/dashboard.ts';

/** `a/b/c` is in `a`, `a/b` and itself. */
const foldersOf = (folder: string): readonly string[] =>
  folder === '' ? [] : folder.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'));

/** Returns the summary of a stored dashboard. */
export const summaryOf = (dashboard: StoredDashboard & Stored): DashboardSummary => {
  const { name, description, folder, tags, visibility, ownerId, changedBy, documentVersion } = dashboard;
  const { version, createdAt, updatedAt } = dashboard;
  return {
    name,
    description,
    folder,
    tags,
    visibility,
    ownerId,
    changedBy,
    documentVersion,
    folders: foldersOf(folder),
    source: dashboard.source ?? null,
    panels: dashboard.panels.length,
    of: { version, createdAt, updatedAt },
  };
};
