/** In-memory cache of a processor's configuration, always current. */
import type { CollectionDefinition, Documents, StoredMetadata } from '../schemas/ports/documents.ts';

/** One change. `before` is absent for a created document, `after` for a deleted one. */
export interface ResourceChange<Fields extends object> {
  readonly tenantId: string;
  readonly id: string;
  readonly before: (Fields & StoredMetadata) | undefined;
  readonly after: (Fields & StoredMetadata) | undefined;
}

/** Documents of one collection, of all tenants. */
export interface ResourceCache<Fields extends object> {
  find(tenantId: string, id: string): (Fields & StoredMetadata) | undefined;
  /** Returns a tenant's documents by ID. */
  getByTenant(tenantId: string): ReadonlyMap<string, Fields & StoredMetadata>;
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

class MutableDocuments<Document> extends Map<string, Document> implements DocumentsById<Document> {
  revision = 0;
  /** A caller has a reference to this map, so the next change is applied to a copy */
  hasSnapshot = false;

  static copyResource<Document>(other: MutableDocuments<Document>): MutableDocuments<Document> {
    const copy = new MutableDocuments<Document>(other);
    copy.revision = other.revision;
    return copy;
  }
}

const noDocuments: DocumentsById<never> = new MutableDocuments<never>();

/** Documents of one collection by tenant and ID. A tenant without documents takes no memory. */
export class TenantDocumentCache<Fields extends object> {
  readonly #tenants = new Map<string, MutableDocuments<Fields & StoredMetadata>>();

  /** Sets or deletes a document, and returns the previous one. */
  setDocument(
    tenantId: string,
    id: string,
    document: (Fields & StoredMetadata) | undefined,
  ): (Fields & StoredMetadata) | undefined {
    const currentDocuments = this.#tenants.get(tenantId) ?? new MutableDocuments<Fields & StoredMetadata>();
    const writableDocuments = currentDocuments.hasSnapshot
      ? MutableDocuments.copyResource(currentDocuments)
      : currentDocuments;
    const previousDocument = writableDocuments.get(id);
    writableDocuments.revision++;
    if (document === undefined) writableDocuments.delete(id);
    else writableDocuments.set(id, document);
    if (writableDocuments.size === 0) this.#tenants.delete(tenantId);
    else this.#tenants.set(tenantId, writableDocuments);
    return previousDocument;
  }

  getByTenant(tenantId: string): DocumentsById<Fields & StoredMetadata> {
    return this.#tenants.get(tenantId) ?? noDocuments;
  }

  /** Returns a snapshot like `getByTenant`, which later changes do not affect. */
  getSnapshot(tenantId: string): DocumentsById<Fields & StoredMetadata> {
    const documents = this.#tenants.get(tenantId);
    if (documents !== undefined) documents.hasSnapshot = true;
    return documents ?? noDocuments;
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
  const cache = new TenantDocumentCache<Fields>();
  const feed = await documents.follow(definition, ({ tenantId, id, document }) => {
    onChange({ tenantId, id, before: cache.setDocument(tenantId, id, document), after: document });
  });
  return {
    find: (tenantId, id) => cache.getByTenant(tenantId).get(id),
    getByTenant: (tenantId) => cache.getByTenant(tenantId),
    staleMs: () => feed.getStaleMs(),
    close: () => feed.close(),
  };
};
