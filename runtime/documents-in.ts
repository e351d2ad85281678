import type { Collection, FindOptions, StoredMetadata } from '../schemas/ports/documents.ts';

const pageSize = 1_000;

/** Iterates over the matching documents of a tenant's collection, page by page. `limit` is the page size. */
export async function* iterateDocuments<Fields extends object>(
  collection: Pick<Collection<Fields>, 'list'>,
  options: Pick<FindOptions, 'filter' | 'sort' | 'limit'> = {},
): AsyncGenerator<Fields & StoredMetadata> {
  let after: string | undefined;
  do {
    const page = await collection.list({ limit: pageSize, ...options, after });
    yield* page.items;
    after = page.nextCursor ?? undefined;
  } while (after !== undefined);
}
