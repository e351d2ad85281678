import type { Filter, TenantDocuments } from '../../schemas/ports/documents.ts';
import { dashboardSnapshotContents, dashboardSnapshots } from '../../schemas/resources/dashboard-snapshot.ts';

/** Deletes snapshots that match, and what they show. */
export const removeSnapshots = async (documents: TenantDocuments, filter: Filter): Promise<void> => {
  const snapshots = documents.collection(dashboardSnapshots);
  for (const { id } of (await snapshots.list({ filter })).items) {
    await snapshots.delete(id);
    await documents.collection(dashboardSnapshotContents).delete(id);
  }
};
