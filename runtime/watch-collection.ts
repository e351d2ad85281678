import type { CollectionDefinition, Documents, Stored } from '../schemas/ports/documents.ts';

/** Number of deleted keys to remember, so that a read that began before a deletion does not restore the document. */
const maxRemovedKeys = 10_000;

/** Returns the key of one tenant's document. */
const keyIn = (tenantId: string, id: string): string => `${id}\u0000${tenantId}`;

/**
 * A complete collection in memory. The change feed keeps it current, and the instance's own writes apply before the
 * feed reports them.
 */
export interface WatchedDocuments<Fields extends object> {
  get(tenantId: string, id: string): (Fields & Stored) | undefined;
  /** Reads a document from the store that the feed has not reported yet. */
  find(tenantId: string, id: string): Promise<(Fields & Stored) | undefined>;
  /** Applies a document that this instance read or wrote. Ignores outdated versions and deleted documents. */
  apply(tenantId: string, document: Fields & Stored): void;
  /** Marks a document as permanently deleted. Its ID is never reused. */
  markDeleted(tenantId: string, id: string): void;
  staleMs(): number;
  close(): Promise<void>;
}

/** Versions restart when a document is deleted and created again. */
const isOlder = (left: Stored, right: Stored): boolean =>
  left.createdAt === right.createdAt ? left.version < right.version : left.createdAt < right.createdAt;

/** Called for every created, changed or deleted document; for indexes over the collection. */
export type OnChange<Fields extends object> = (
  tenantId: string,
  before: (Fields & Stored) | undefined,
  after: (Fields & Stored) | undefined,
) => void;

/** Resolves once all existing documents are loaded. */
export const watchDocuments = async <Fields extends object>(
  documents: Documents,
  definition: CollectionDefinition<Fields>,
  onChange: OnChange<Fields> = () => {},
): Promise<WatchedDocuments<Fields>> => {
  const known = new Map<string, Fields & Stored>();
  const removedKeys = new Set<string>();
  /** Documents deleted here whose deletion the feed has not reported yet. */
  const forgotten = new Set<string>();

  const put = (tenantId: string, key: string, document: Fields & Stored): void => {
    const before = known.get(key);
    if (before !== undefined && isOlder(document, before)) return;
    known.set(key, document);
    onChange(tenantId, before, document);
  };
  const remove = (tenantId: string, key: string): void => {
    const before = known.get(key);
    known.delete(key);
    if (before !== undefined) onChange(tenantId, before, undefined);
    removedKeys.add(key);
    if (removedKeys.size > maxRemovedKeys) removedKeys.delete(removedKeys.values().next().value ?? '');
  };

  const feed = await documents.follow(definition, ({ tenantId, id, document }) => {
    const key = keyIn(tenantId, id);
    if (document === undefined) {
      forgotten.delete(key);
      remove(tenantId, key);
    } else if (!forgotten.has(key)) {
      removedKeys.delete(key);
      put(tenantId, key, document);
    }
  });

  const apply: WatchedDocuments<Fields>['apply'] = (tenantId, document) => {
    const key = keyIn(tenantId, document.id);
    if (!removedKeys.has(key)) put(tenantId, key, document);
  };
  return {
    get: (tenantId, id) => known.get(keyIn(tenantId, id)),
    async find(tenantId, id) {
      const key = keyIn(tenantId, id);
      if (known.has(key) || removedKeys.has(key)) return known.get(key);
      const document = await documents.of(tenantId).collection(definition).find(id);
      if (document !== undefined) apply(tenantId, document);
      return known.get(key);
    },
    apply,
    markDeleted(tenantId, id) {
      const key = keyIn(tenantId, id);
      if (!removedKeys.has(key)) forgotten.add(key);
      remove(tenantId, key);
    },
    staleMs: () => feed.staleMs(),
    close: () => feed.close(),
  };
};
