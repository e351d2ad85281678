import type { Filter, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { dashboardSnapshotContents, dashboardSnapshots } from '../../../schemas/resources/dashboard-snapshot.ts';

/** Deletes all snapshots that match, and what they show. */
export const removeSnapshots = async (
  documents: Pick<TenantDocuments, 'collection'>,
  filter: Filter,
): Promise<void> => {
  const snapshots = documents.collection(dashboardSnapshots);
  const contents = documents.collection(dashboardSnapshotContents);
  for (let isMore = true; isMore; ) {
    const { items, nextCursor } = await snapshots.list({ filter });
    for (const { id } of items) {
      // First, so that nothing is left without its snapshot where this ends in between.
      await contents.delete(id);
      await snapshots.delete(id);
    }
    isMore = nextCursor !== null;
  }
};
