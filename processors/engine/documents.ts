/** The configuration that a processor follows, as its thread has it. */
import type { Stored } from '../../schemas/ports/documents.ts';

type Document = object & Stored;

const none: ReadonlyMap<string, Document> = new Map();

export class FollowedDocuments {
  readonly #collections = new Map<string, Map<string, Map<string, Document>>>();

  /** Sets a document, or removes it. */
  change(collection: string, tenantId: string, id: string, document: Document | undefined): void {
    const tenants = this.#collections.get(collection) ?? new Map<string, Map<string, Document>>();
    this.#collections.set(collection, tenants);
    const kept = tenants.get(tenantId) ?? new Map<string, Document>();
    if (document === undefined) kept.delete(id);
    else kept.set(id, document);
    if (kept.size === 0) tenants.delete(tenantId);
    else tenants.set(tenantId, kept);
  }

  of(collection: string, tenantId: string): ReadonlyMap<string, Document> {
    return this.#collections.get(collection)?.get(tenantId) ?? none;
  }
}
