/** Summary of a dashboard for lists. */
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { DashboardSummary, StoredDashboard } from '../../schemas/resources/dashboard.ts';

/** Returns a folder and its ancestors: `a`, `a/b` and `a/b/c` for `a/b/c`. */
const listAncestorFolders = (folder: string): readonly string[] =>
  folder === '' ? [] : folder.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'));

/** Returns the summary of a stored dashboard. */
export const toSummary = (dashboard: StoredDashboard & StoredMetadata): DashboardSummary => {
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
    folders: listAncestorFolders(folder),
    source: dashboard.source ?? null,
    panels: dashboard.panels.length,
    of: { version, createdAt, updatedAt },
  };
};
