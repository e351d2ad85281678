import { defineCollection } from '../ports/documents.ts';

/**
 * Metadata of a snapshot, without its content. It suffices to check whether the snapshot is valid, regardless of the
 * content's size.
 */
export interface DashboardSnapshot {
  readonly dashboardId: string;
  readonly name: string;
  /** User or service account that created the snapshot. */
  readonly createdBy: string;
  readonly expiresAt: string;
  /** SHA-256 of the token. The token itself is not stored. */
  readonly tokenHash: string;
  readonly labels: readonly string[];
  readonly bodies: boolean;
  readonly opened: number;
}
export const dashboardSnapshots = defineCollection<DashboardSnapshot>({
  name: 'dashboard-snapshots',
  indexes: [['dashboardId']],
});

/** Content of a snapshot, as compressed JSON. The ID is that of the snapshot. */
export interface DashboardSnapshotContent {
  readonly gzip: string;
}
export const dashboardSnapshotContents = defineCollection<DashboardSnapshotContent>({
  name: 'dashboard-snapshot-contents',
});
