import type { Collection, Filter } from '../schemas/ports/documents.ts';

/** Deletes the matching documents of a collection page by page, and returns their number. */
export const deleteMatching = async (collection: Collection<object>, filter: Filter): Promise<number> => {
  for (let deleted = 0; ; ) {
    const { items, nextCursor } = await collection.list({ filter });
    for (const { id } of items) await collection.delete(id);
    deleted += items.length;
    if (nextCursor === null) return deleted;
  }
};
