/** Configuration that a processor follows, as its thread sees it. */
import { type DocumentsById, DocumentsByTenant } from '../../runtime/resource-cache.ts';
import type { Stored } from '../../schemas/ports/documents.ts';

const none = new DocumentsByTenant<object>();

export class FollowedDocuments {
  readonly #collections = new Map<string, DocumentsByTenant<object>>();

  /** Sets a document, or removes it. */
  change(collection: string, tenantId: string, id: string, document: (object & Stored) | undefined): void {
    const documents = this.#collections.get(collection) ?? new DocumentsByTenant<object>();
    this.#collections.set(collection, documents);
    documents.change(tenantId, id, document);
  }

  of(collection: string, tenantId: string): DocumentsById<object & Stored> {
    return (this.#collections.get(collection) ?? none).of(tenantId);
  }

  /** Returns the current documents of a tenant; later changes do not affect the result. */
  held(collection: string, tenantId: string): DocumentsById<object & Stored> {
    return (this.#collections.get(collection) ?? none).snapshotOf(tenantId);
  }
}
