import { defineCollection } from '../ports/documents.ts';

/**
 * A dashboard as it is stored. What it says beyond its name is declared where dashboards are (`subjects/dashboards/document.ts`), in the
 * versions that are stored beside it.
 */
export interface StoredDashboard {
  readonly name: string;
  readonly description: string;
  readonly folder: string;
  readonly tags: readonly string[];
  readonly visibility: 'private' | 'organization';
  readonly panels: readonly object[];
  /** Where it is kept as code; absent where it is not. */
  readonly source?: string | undefined;
  readonly documentVersion: number;
  readonly queryVersion: number;
  /** Id of the user or service account who made it. */
  readonly ownerId: string;
  /** The same of its last change. */
  readonly changedBy: string;
}

/** Where the ids of saved queries stand that panels ask. */
export const savedQueriesOfPanels = 'panels.queries.savedQueryId';

export const dashboards = defineCollection<StoredDashboard>({
  name: 'dashboards',
  indexes: [[savedQueriesOfPanels]],
});

/** What lists tell of a dashboard, so that they need not read whole ones. The id is the dashboard's. */
export interface DashboardSummary
  extends Pick<
    StoredDashboard,
    'name' | 'description' | 'folder' | 'tags' | 'visibility' | 'ownerId' | 'changedBy' | 'documentVersion'
  > {
  /** The folder and all that it is in. */
  readonly folders: readonly string[];
  readonly source: string | null;
  readonly panels: number;
  /** What the store keeps of the dashboard itself. */
  readonly of: { readonly version: number; readonly createdAt: string; readonly updatedAt: string };
}
export const dashboardSummaries = defineCollection<DashboardSummary>({
  name: 'dashboard-summaries',
  indexes: [['folders'], ['tags'], ['source'], ['visibility'], ['ownerId']],
  sorts: ['name', 'createdAt', 'updatedAt'],
});

/** How often a dashboard was opened, by day (`2026-11-24`). The id is the dashboard's. */
export interface DashboardOpenings {
  readonly days: Readonly<Record<string, number>>;
}
export const dashboardOpenings = defineCollection<DashboardOpenings>({ name: 'dashboard-openings' });
