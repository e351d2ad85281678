import { defineCollection } from '../ports/documents.ts';

/** What is known of a snapshot beside what it shows. Reading it tells whether the snapshot is valid, whatever that holds. */
export interface DashboardSnapshot {
  readonly dashboardId: string;
  readonly name: string;
  /** Who made it: a user or a service account. */
  readonly createdBy: string;
  readonly expiresAt: string;
  /** SHA-256 of the token, which itself is not kept. */
  readonly tokenHash: string;
  readonly labels: readonly string[];
  readonly bodies: boolean;
  readonly opened: number;
}
export const dashboardSnapshots = defineCollection<DashboardSnapshot>({
  name: 'dashboard-snapshots',
  indexes: [['dashboardId']],
});

/** What a snapshot shows, as compressed JSON. The id is the snapshot's. */
export interface DashboardSnapshotContent {
  readonly gzip: string;
}
export const dashboardSnapshotContents = defineCollection<DashboardSnapshotContent>({
  name: 'dashboard-snapshot-contents',
});
