/** In-memory cache of a processor's configuration, always current. */
import type { CollectionDefinition, Documents, Stored } from '../schemas/ports/documents.ts';

/** One change. `before` is absent for a created document, `after` for a deleted one. */
export interface ResourceChange<Fields extends object> {
  readonly tenantId: string;
  readonly id: string;
  readonly before: (Fields & Stored) | undefined;
  readonly after: (Fields & Stored) | undefined;
}

/** Documents of one collection, of all tenants. */
export interface ResourceCache<Fields extends object> {
  find(tenantId: string, id: string): (Fields & Stored) | undefined;
  /** Returns a tenant's documents by ID. */
  of(tenantId: string): ReadonlyMap<string, Fields & Stored>;
  /**
   * Returns the milliseconds since the cache was last known to be current. Check this before acting on a document that
   * may have been deleted.
   */
  staleMs(): number;
  close(): Promise<void>;
}

/** A tenant's documents by ID. */
export interface DocumentsById<Document> extends ReadonlyMap<string, Document> {
  /** Changes with each change of the documents, so that derived values can be recomputed. */
  readonly revision: number;
}

class ChangingDocuments<Document> extends Map<string, Document> implements DocumentsById<Document> {
  revision = 0;
  /** A caller holds this map, so the next change is applied to a copy */
  hasSnapshot = false;

  static copyOf<Document>(other: ChangingDocuments<Document>): ChangingDocuments<Document> {
    const copy = new ChangingDocuments<Document>(other);
    copy.revision = other.revision;
    return copy;
  }
}

const none: DocumentsById<never> = new ChangingDocuments<never>();

/** Documents of one collection by tenant and ID. A tenant without documents takes no memory. */
export class DocumentsByTenant<Fields extends object> {
  readonly #tenants = new Map<string, ChangingDocuments<Fields & Stored>>();

  /** Sets or deletes a document, and returns the previous one. */
  change(tenantId: string, id: string, document: (Fields & Stored) | undefined): (Fields & Stored) | undefined {
    const known = this.#tenants.get(tenantId) ?? new ChangingDocuments<Fields & Stored>();
    const current = known.hasSnapshot ? ChangingDocuments.copyOf(known) : known;
    const before = current.get(id);
    current.revision++;
    if (document === undefined) current.delete(id);
    else current.set(id, document);
    if (current.size === 0) this.#tenants.delete(tenantId);
    else this.#tenants.set(tenantId, current);
    return before;
  }

  of(tenantId: string): DocumentsById<Fields & Stored> {
    return this.#tenants.get(tenantId) ?? none;
  }

  /** Returns a snapshot like `of`, which later changes do not affect. */
  snapshotOf(tenantId: string): DocumentsById<Fields & Stored> {
    const documents = this.#tenants.get(tenantId);
    if (documents !== undefined) documents.hasSnapshot = true;
    return documents ?? none;
  }
}

/**
 * Watches a collection. Resolves once all documents are loaded and passed to `onChange`. Each later change, of any
 * instance, is applied and passed within a second of its commit, in order.
 */
export const watchCollection = async <Fields extends object>(
  documents: Pick<Documents, 'follow'>,
  definition: CollectionDefinition<Fields>,
  onChange: (change: ResourceChange<Fields>) => void = () => {},
): Promise<ResourceCache<Fields>> => {
  const cache = new DocumentsByTenant<Fields>();
  const feed = await documents.follow(definition, ({ tenantId, id, document }) => {
    onChange({ tenantId, id, before: cache.change(tenantId, id, document), after: document });
  });
  return {
    find: (tenantId, id) => cache.of(tenantId).get(id),
    of: (tenantId) => cache.of(tenantId),
    staleMs: () => feed.staleMs(),
    close: () => feed.close(),
  };
};
