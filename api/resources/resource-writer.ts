import {
  type CollectionDefinition,
  ConflictError,
  type StoredMetadata,
  type TenantDocuments,
} from '../../schemas/ports/documents.ts';
import type { Caller } from '../callers/caller.ts';
import type { AuditedTransaction } from '../changes.ts';
import { ApiError, createNotFoundError } from '../errors.ts';
import { type Precondition, requireVersion } from './preconditions.ts';
import { deleteVersions, hasSameContent, storeVersion } from './resource-history.ts';
import { requireExistingReferences, requireUnused } from './resource-references.ts';
import { markSecretChanges, type SecretField } from './resource-secrets.ts';

/** Properties of a resource that the writer needs. */
export interface WriteSpec<Document extends object> {
  readonly noun: string;
  readonly plural: string;
  readonly type: string;
  readonly collection: CollectionDefinition<Document>;
  readonly secrets: readonly SecretField[];
  /** Changes and deletions require `If-Match`. */
  readonly requiresIfMatch: boolean;
  /** Display name of a document. */
  nameOf(document: Document): string;
  /** Absent if all members of the organization can see all documents */
  readonly visibility?: { to(document: Document, caller: Caller): boolean };
  /** Returns the fields that the audit record compares; default: the complete documents. */
  getComparedFields?(before: Document, after: Document): { readonly before: object; readonly after: object };
  /**
   * Writes related documents in the same transaction. `before` is absent for a new document, `after` for a deleted one.
   */
  writeRelated?(
    documents: TenantDocuments,
    change: { readonly before?: Document & StoredMetadata; readonly after?: Document & StoredMetadata },
  ): Promise<void>;
  /** Maximum number per organization, independent of the plan */
  readonly maxCount?: number;
}

interface WriteOptions {
  /** Recorded action, `<type>.<verb>`; defaults to the operation's first action. */
  readonly action?: string;
}

interface ChangeOptions extends WriteOptions {
  readonly precondition?: Precondition | undefined;
}

/**
 * Writes a resource within one transaction, with everything that a write includes: versions, uniqueness, references in
 * both directions, history, and the audit record.
 */
export interface ResourceWriter<Document extends object> {
  /** Throws `NOT_FOUND` if there is none. */
  find(id: string): Promise<Document & StoredMetadata>;
  create(document: Document & { readonly id?: string }, options?: WriteOptions): Promise<Document & StoredMetadata>;
  /** If the result equals the stored document, `changed` is false, and nothing is written or recorded. */
  change(
    id: string,
    computeNext: (before: Document & StoredMetadata) => Document | Promise<Document>,
    options?: ChangeOptions,
  ): Promise<{ readonly document: Document & StoredMetadata; readonly isChanged: boolean }>;
  remove(id: string, options?: ChangeOptions): Promise<Document & StoredMetadata>;
}

export const createWriter = <Document extends object>(
  spec: WriteSpec<Document>,
  { forTenant, record }: AuditedTransaction,
  caller: Caller,
): ResourceWriter<Document> => {
  const { noun, type, collection, secrets, requiresIfMatch, nameOf, plural } = spec;
  const documents = forTenant(caller.tenantId);
  const documentCollection = documents.collection(collection);
  const actor = { type: caller.actor.type, id: caller.actor.id };

  const find = async (id: string): Promise<Document & StoredMetadata> => {
    const document = await documentCollection.find(id);
    if (document === undefined || spec.visibility?.to(document, caller) === false) throw createNotFoundError(noun);
    return document;
  };

  const recordChange = (
    { before, after }: { readonly before?: Document & StoredMetadata; readonly after?: Document & StoredMetadata },
    { action }: WriteOptions,
  ): void => {
    const document = after ?? before;
    if (document === undefined) return;
    const snapshots = {
      before: before && markSecretChanges(before, secrets),
      after: after && markSecretChanges(after, secrets, before),
    };
    record({
      id: document.id,
      name: nameOf(document),
      ...(snapshots.before && snapshots.after && spec.getComparedFields
        ? spec.getComparedFields(snapshots.before, snapshots.after)
        : snapshots),
      ...(action === undefined ? {} : { action }),
    });
  };

  return {
    find,
    async create(document, options = {}) {
      if (spec.maxCount !== undefined && (await documentCollection.count()) >= spec.maxCount)
        throw new ApiError('CONFLICT', `there are ${spec.maxCount} ${plural}: delete one first`);
      await requireExistingReferences(documents, collection, { before: undefined, after: document });
      const after = await explainDuplicates(noun, document, () => documentCollection.insert(document));
      await storeVersion(documents, type, { after, actor });
      await spec.writeRelated?.(documents, { after });
      recordChange({ after }, options);
      return after;
    },
    async change(id, next, { precondition, ...options } = {}) {
      const before = await find(id);
      requireVersion(before, precondition, { noun, requiresIfMatch });
      const nextDocument = await next(before);
      if (hasSameContent(nextDocument, before)) return { document: before, isChanged: false };
      await requireExistingReferences(documents, collection, { before, after: nextDocument });
      const after = await explainDuplicates(noun, nextDocument, () =>
        documentCollection.replace(id, nextDocument, before.version),
      );
      await storeVersion(documents, type, { before, after, actor });
      await spec.writeRelated?.(documents, { before, after });
      recordChange({ before, after }, options);
      return { document: after, isChanged: true };
    },
    async remove(id, { precondition, ...options } = {}) {
      const before = await find(id);
      requireVersion(before, precondition, { noun, requiresIfMatch });
      await requireUnused(documents, { collection, noun, id });
      await documentCollection.delete(id, before.version);
      await deleteVersions(documents, type, id);
      await spec.writeRelated?.(documents, { before });
      recordChange({ before }, options);
      return before;
    },
  };
};

/** Runs a write. If it violates uniqueness, the error contains the field and its value. */
const explainDuplicates = async <Result>(
  noun: string,
  document: object,
  write: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ConflictError) || error.kind !== 'duplicate') throw error;
    const conflictingFields = error.fields.map(
      (field) => `${field} ${JSON.stringify((document as Record<string, unknown>)[field])}`,
    );
    throw new ApiError(
      'CONFLICT',
      `a ${noun} with the ${conflictingFields.join(' and ')} already exists: choose another`,
      {
        cause: error,
      },
    );
  }
};
