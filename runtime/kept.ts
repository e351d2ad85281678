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
export interface KeptResources<Fields extends object> {
  find(tenantId: string, id: string): (Fields & Stored) | undefined;
  /** A tenant's documents by id. */
  of(tenantId: string): ReadonlyMap<string, Fields & Stored>;
  /** Milliseconds since all changes were last known. Check it before acting on a document that may be deleted. */
  staleMs(): number;
  close(): Promise<void>;
}

/**
 * Keeps a collection. When this resolves, all documents are loaded and were passed to `onChange`. Each later change is
 * applied and passed to it within a second of its commit, in order, whichever instance made it.
 */
export const keepResources = async <Fields extends object>(
  documents: Pick<Documents, 'follow'>,
  definition: CollectionDefinition<Fields>,
  onChange: (change: ResourceChange<Fields>) => void = () => {},
): Promise<KeptResources<Fields>> => {
  const tenants = new Map<string, Map<string, Fields & Stored>>();
  const feed = await documents.follow(definition, ({ tenantId, id, document }) => {
    const kept = tenants.get(tenantId) ?? new Map<string, Fields & Stored>();
    const before = kept.get(id);
    if (document === undefined) kept.delete(id);
    else kept.set(id, document);
    if (kept.size === 0) tenants.delete(tenantId);
    else tenants.set(tenantId, kept);
    onChange({ tenantId, id, before, after: document });
  });
  return {
    find: (tenantId, id) => tenants.get(tenantId)?.get(id),
    of: (tenantId) => tenants.get(tenantId) ?? new Map(),
    staleMs: () => feed.staleMs(),
    close: () => feed.close(),
  };
};
