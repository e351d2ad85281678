/** Configuration that a processor goes by, in memory and current. */
import type { CollectionDefinition, Documents, Stored } from '../schemas/ports/documents.ts';

/** One change; `before` is absent for what is new, `after` for what was removed. */
export interface ResourceChange<Fields extends object> {
  readonly tenantId: string;
  readonly id: string;
  readonly before: (Fields & Stored) | undefined;
  readonly after: (Fields & Stored) | undefined;
}

/** Every tenant's documents of one collection. */
export interface ResourceCache<Fields extends object> {
  find(tenantId: string, id: string): (Fields & Stored) | undefined;
  /** A tenant's documents by id. */
  of(tenantId: string): ReadonlyMap<string, Fields & Stored>;
  /** Milliseconds since all changes were last known. Check it before acting on a document that may be deleted. */
  staleMs(): number;
  close(): Promise<void>;
}

/** A tenant's documents by id. */
export interface DocumentsById<Document> extends ReadonlyMap<string, Document> {
  /** Another one after each change, so that what was made of all documents is made again. */
  readonly revision: number;
}

class ChangingDocuments<Document> extends Map<string, Document> implements DocumentsById<Document> {
  revision = 0;
  /** Somebody reads on in it: the next change is made to a copy. */
  isHeld = false;

  static copyOf<Document>(other: ChangingDocuments<Document>): ChangingDocuments<Document> {
    const copy = new ChangingDocuments<Document>(other);
    copy.revision = other.revision;
    return copy;
  }
}

const none: DocumentsById<never> = new ChangingDocuments<never>();

/** Documents of one collection by tenant and id. A tenant without any takes no memory. */
export class DocumentsByTenant<Fields extends object> {
  readonly #tenants = new Map<string, ChangingDocuments<Fields & Stored>>();

  /** Sets a document, or removes it; answers the one before. */
  change(tenantId: string, id: string, document: (Fields & Stored) | undefined): (Fields & Stored) | undefined {
    const known = this.#tenants.get(tenantId) ?? new ChangingDocuments<Fields & Stored>();
    const current = known.isHeld ? ChangingDocuments.copyOf(known) : known;
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

  /** As `of`; later changes do not show in it. */
  held(tenantId: string): DocumentsById<Fields & Stored> {
    const documents = this.#tenants.get(tenantId);
    if (documents !== undefined) documents.isHeld = true;
    return documents ?? none;
  }
}

/**
 * Keeps a collection. When this resolves, all documents are loaded and were passed to `onChange`. Each later change is
 * applied and passed to it within a second of its commit, in order, whichever instance made it.
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
