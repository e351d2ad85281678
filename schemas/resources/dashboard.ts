import { defineCollection } from '../ports/documents.ts';

/**
 * A stored dashboard. `subjects/dashboards/document.ts` declares the schema of its content, in the versions that are
 * stored with it.
 */
export interface StoredDashboard {
  readonly name: string;
  readonly description: string;
  readonly folder: string;
  readonly tags: readonly string[];
  readonly visibility: 'private' | 'organization';
  readonly panels: readonly object[];
  /** Location of its source code; absent for a dashboard that is not managed as code. */
  readonly source?: string | undefined;
  readonly documentVersion: number;
  readonly queryVersion: number;
  /** ID of the user or service account that created the dashboard. */
  readonly ownerId: string;
  /** ID of the user or service account that last changed the dashboard. */
  readonly changedBy: string;
}

/** Path of the IDs of saved queries that panels use. */
export const savedQueryIdPath = 'panels.queries.savedQueryId';

export const dashboards = defineCollection<StoredDashboard>({
  name: 'dashboards',
  indexes: [[savedQueryIdPath]],
});

/** Summary of a dashboard for lists, which then need not read complete dashboards. The ID is that of the dashboard. */
export interface DashboardSummary
  extends Pick<
    StoredDashboard,
    'name' | 'description' | 'folder' | 'tags' | 'visibility' | 'ownerId' | 'changedBy' | 'documentVersion'
  > {
  /** The folder and all its ancestors. */
  readonly folders: readonly string[];
  readonly source: string | null;
  readonly panels: number;
  /** Fields that the store adds to the dashboard itself. */
  readonly of: { readonly version: number; readonly createdAt: string; readonly updatedAt: string };
}
export const dashboardSummaries = defineCollection<DashboardSummary>({
  name: 'dashboard-summaries',
  indexes: [['folders'], ['tags'], ['source'], ['visibility'], ['ownerId']],
  sorts: ['name', 'createdAt', 'updatedAt'],
});

/** Number of views of a dashboard by day (`2026-11-24`). The ID is that of the dashboard. */
export interface DashboardOpenings {
  readonly days: Readonly<Record<string, number>>;
}
export const dashboardOpenings = defineCollection<DashboardOpenings>({ name: 'dashboard-openings' });
