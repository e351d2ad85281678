/** Configuration that a processor follows, as its thread sees it. */
import { type DocumentsById, TenantDocumentCache } from '../../runtime/resource-cache.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';

const noDocuments = new TenantDocumentCache<object>();

export class FollowedDocuments {
  readonly #collections = new Map<string, TenantDocumentCache<object>>();

  /** Sets a document, or removes it. */
  applyChange(collection: string, tenantId: string, id: string, document: (object & StoredMetadata) | undefined): void {
    const documents = this.#collections.get(collection) ?? new TenantDocumentCache<object>();
    this.#collections.set(collection, documents);
    documents.setDocument(tenantId, id, document);
  }

  getCurrentDocuments(collection: string, tenantId: string): DocumentsById<object & StoredMetadata> {
    return (this.#collections.get(collection) ?? noDocuments).getByTenant(tenantId);
  }

  /** Returns the current documents of a tenant; later changes do not affect the result. */
  getDocumentSnapshot(collection: string, tenantId: string): DocumentsById<object & StoredMetadata> {
    return (this.#collections.get(collection) ?? noDocuments).getSnapshot(tenantId);
  }
}
