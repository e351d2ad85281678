import type { Filter, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { dashboardSnapshotContents, dashboardSnapshots } from '../../../schemas/resources/dashboard-snapshot.ts';

/** Deletes all matching snapshots, and their contents. */
export const removeSnapshots = async (
  documents: Pick<TenantDocuments, 'collection'>,
  filter: Filter,
): Promise<void> => {
  const snapshots = documents.collection(dashboardSnapshots);
  const contents = documents.collection(dashboardSnapshotContents);
  for (let hasMore = true; hasMore; ) {
    const { items, nextCursor } = await snapshots.list({ filter });
    for (const { id } of items) {
      // Contents first, so that an interruption leaves no content without its snapshot.
      await contents.delete(id);
      await snapshots.delete(id);
    }
    hasMore = nextCursor !== null;
  }
};
