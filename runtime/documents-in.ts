import type { Collection, FindOptions, Stored } from '../schemas/ports/documents.ts';

const pageSize = 1_000;

/** Every document of a tenant's collection that matches, page by page. */
export async function* documentsIn<Fields extends object>(
  collection: Pick<Collection<Fields>, 'list'>,
  options: Pick<FindOptions, 'filter' | 'sort'> = {},
): AsyncGenerator<Fields & Stored> {
  let after: string | undefined;
  do {
    const page = await collection.list({ ...options, limit: pageSize, after });
    yield* page.items;
    after = page.nextCursor ?? undefined;
  } while (after !== undefined);
}
