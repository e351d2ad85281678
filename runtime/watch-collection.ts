import type { CollectionDefinition, Documents, StoredMetadata } from '../schemas/ports/documents.ts';

/** Number of deleted keys to remember, so that a read that began before a deletion does not restore the document. */
const maxRemovedKeys = 10_000;

/** Returns the key of one tenant's document. */
const toDocumentKey = (tenantId: string, id: string): string => `${id}\u0000${tenantId}`;

/**
 * A complete collection in memory. The change feed keeps it current, and the instance's own writes apply before the
 * feed reports them.
 */
export interface WatchedDocuments<Fields extends object> {
  get(tenantId: string, id: string): (Fields & StoredMetadata) | undefined;
  /** Reads a document from the store that the feed has not reported yet. */
  find(tenantId: string, id: string): Promise<(Fields & StoredMetadata) | undefined>;
  /** Applies a document that this instance read or wrote. Ignores outdated versions and deleted documents. */
  apply(tenantId: string, document: Fields & StoredMetadata): void;
  /** Marks a document as permanently deleted. Its ID is never reused. */
  markDeleted(tenantId: string, id: string): void;
  staleMs(): number;
  close(): Promise<void>;
}

/** Versions restart when a document is deleted and created again. */
const isOlder = (left: StoredMetadata, right: StoredMetadata): boolean =>
  left.createdAt === right.createdAt ? left.version < right.version : left.createdAt < right.createdAt;

/** Called for every created, changed or deleted document; for indexes over the collection. */
export type OnChange<Fields extends object> = (
  tenantId: string,
  before: (Fields & StoredMetadata) | undefined,
  after: (Fields & StoredMetadata) | undefined,
) => void;

/** Resolves once all existing documents are loaded. */
export const watchDocuments = async <Fields extends object>(
  documents: Documents,
  definition: CollectionDefinition<Fields>,
  onChange: OnChange<Fields> = () => {},
): Promise<WatchedDocuments<Fields>> => {
  const documentsByKey = new Map<string, Fields & StoredMetadata>();
  const removedKeys = new Set<string>();
  /** Documents deleted here whose deletion the feed has not reported yet. */
  const pendingDeletions = new Set<string>();

  const setDocument = (tenantId: string, key: string, document: Fields & StoredMetadata): void => {
    const before = documentsByKey.get(key);
    if (before !== undefined && isOlder(document, before)) return;
    documentsByKey.set(key, document);
    onChange(tenantId, before, document);
  };
  const removeDocument = (tenantId: string, key: string): void => {
    const before = documentsByKey.get(key);
    documentsByKey.delete(key);
    if (before !== undefined) onChange(tenantId, before, undefined);
    removedKeys.add(key);
    if (removedKeys.size > maxRemovedKeys) removedKeys.delete(removedKeys.values().next().value ?? '');
  };

  const feed = await documents.follow(definition, ({ tenantId, id, document }) => {
    const key = toDocumentKey(tenantId, id);
    if (document === undefined) {
      pendingDeletions.delete(key);
      removeDocument(tenantId, key);
    } else if (!pendingDeletions.has(key)) {
      removedKeys.delete(key);
      setDocument(tenantId, key, document);
    }
  });

  const apply: WatchedDocuments<Fields>['apply'] = (tenantId, document) => {
    const key = toDocumentKey(tenantId, document.id);
    if (!removedKeys.has(key)) setDocument(tenantId, key, document);
  };
  return {
    get: (tenantId, id) => documentsByKey.get(toDocumentKey(tenantId, id)),
    async find(tenantId, id) {
      const key = toDocumentKey(tenantId, id);
      if (documentsByKey.has(key) || removedKeys.has(key)) return documentsByKey.get(key);
      const document = await documents.forTenant(tenantId).collection(definition).find(id);
      if (document !== undefined) apply(tenantId, document);
      return documentsByKey.get(key);
    },
    apply,
    markDeleted(tenantId, id) {
      const key = toDocumentKey(tenantId, id);
      if (!removedKeys.has(key)) pendingDeletions.add(key);
      removeDocument(tenantId, key);
    },
    staleMs: () => feed.getStaleMs(),
    close: () => feed.close(),
  };
};
