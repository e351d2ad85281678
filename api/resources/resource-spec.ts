import { z } from 'zod';
import type { CollectionDefinition, Filter, StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import type { Caller } from '../callers/caller.ts';
import type { Access } from '../callers/rights.ts';
import type { AuditedTransaction } from '../changes.ts';
import type { Ports } from '../kernel/ports.ts';
import type { ListDefinition } from './resource-list.ts';
import { maskSecrets, type SecretField, sealSecrets } from './resource-secrets.ts';
import type { WriteSpec } from './resource-writer.ts';

/**
 * `replace` is PUT of the complete document, `update` PUT of the given fields, `patch` PATCH with a JSON merge patch; a
 * resource has `replace` or `update`.
 */
export type Verb = 'create' | 'list' | 'read' | 'replace' | 'update' | 'patch' | 'delete';

/** Context of the request for hooks. */
export interface ResourceContext {
  readonly caller: Caller;
  readonly ports: Ports;
}

export interface CompletionContext extends ResourceContext {
  /** Aborts when the request ends */
  readonly signal?: AbortSignal | undefined;
}

/** Parameters of a write besides the document */
export type WriteParameters = Readonly<Record<string, unknown>>;

/** A document that was completed before the transaction of its write. */
export interface CompletedDocument<Document> {
  readonly document: Document;
  /** Writes what was computed with it, within the transaction. */
  writeRelated?(forTenant: AuditedTransaction['forTenant']): Promise<void>;
  /**
   * Completes the same change of a newer version, with what was computed for the older one. The last attempt calls it
   * within its transaction if others change the document each time; without it, the change is rejected.
   */
  rebase?(after: Document, before: Document & StoredMetadata): Document;
}

/** What `prepare` may use: nothing that could wait for anything but the documents of its transaction. */
export interface PrepareContext extends Pick<AuditedTransaction, 'forTenant'> {
  readonly caller: Caller;
  readonly ports: Pick<Ports, 'clock'>;
  readonly parameters: WriteParameters;
}

/** Rules for who can see a document, as a filter and as a check. Both must agree. */
export interface Visibility<Document> {
  /** Returns the filter for the documents that a caller can see. */
  where(caller: Caller): Filter;
  to(document: Document, caller: Caller): boolean;
}

interface ResourceRoles {
  readonly read: Access;
  readonly write: Access;
  /** Default: `write` */
  readonly delete?: Access;
}

/** A configuration resource, declared once. */
export interface ResourceDefinition<
  Fields extends z.ZodObject,
  Document extends z.output<Fields>,
  View extends z.ZodObject,
> {
  /**
   * Singular display name: `license key`. Its hyphenated form is the type in the audit log, and it is part of operation
   * ids.
   */
  readonly noun: string;
  /** Default: `noun` with an s */
  readonly plural?: string;
  /** Type in the audit log and the history; default: the hyphenated noun. Views of the same documents have one type. */
  readonly type?: string;
  readonly path: string;
  readonly collection: CollectionDefinition<Document>;
  readonly verbs: readonly Verb[];
  readonly roles: ResourceRoles;
  readonly entitlement?: string;
  /** Fields that callers write: a strict object, with a default for every optional field. */
  readonly fields: Fields;
  /** Valid input of `fields`; published, and the basis of the contract tests. */
  readonly example: z.input<Fields>;
  /** Returns the server-owned fields of a new document. */
  initial?(context: ResourceContext): Omit<Document, keyof z.output<Fields>>;
  /**
   * Validates and completes a document before the transaction of its write: for work whose cost callers decide, such as
   * parsing in a worker and tests, during which nobody else may wait. It may run again if `before` changes meanwhile.
   */
  complete?(
    after: Document,
    context: CompletionContext & { readonly before: (Document & StoredMetadata) | undefined },
  ): Promise<CompletedDocument<Document>>;
  /**
   * Validates and completes a document that is about to be stored, within the transaction, so it may only await the
   * documents of `forTenant`. `before` is absent for a new one.
   */
  prepare?(
    after: Document,
    context: PrepareContext & { readonly before: (Document & StoredMetadata) | undefined },
  ): Document | Promise<Document>;
  /**
   * Parameters of writes besides the document: of creations, and of changes and deletions. `prepare` interprets them.
   */
  readonly parameters?: { readonly create: z.ZodObject; readonly change: z.ZodObject };
  /** Throws if the document must not be deleted. */
  rejectRemoval?(before: Document & StoredMetadata, parameters: WriteParameters): void;
  /** Schema of the view: by default `fields` with `id`, `version` and times; the result of `show`. */
  readonly view?: View;
  /** Returns views of documents, in their order; may read related data. */
  show?(
    documents: readonly (Document & StoredMetadata)[],
    context: ResourceContext,
  ): Promise<readonly z.input<View>[]> | readonly z.input<View>[];
  /** Whether views contain data beyond the document. A read then returns the view even if the version is unchanged. */
  readonly live?: boolean;
  readonly secrets?: readonly SecretField[];
  readonly list?: ListDefinition;
  /** Changes and deletions without `If-Match` are rejected with 428. */
  readonly requiresIfMatch?: boolean;
  readonly maxBodyBytes?: number;
  /** Restricts which documents a caller can see; for the caller, other documents do not exist. */
  readonly visible?: Visibility<Document>;
  /** The parts that the audit record compares, if not two complete documents. */
  readonly compared?: WriteSpec<Document>['getComparedFields'];
  /** Writes related documents in the same transaction. */
  readonly alongside?: WriteSpec<Document>['writeRelated'];
  /**
   * Returns additional, one-time fields of the response to a creation, such as a secret that is created in the same transaction.
   */
  created?(documents: TenantDocuments, after: Document & StoredMetadata): Promise<Partial<z.input<View>>>;
  /** Maximum number per organization, independent of the plan */
  readonly maxCount?: number;
  /** Display name of a document; default: its `name`. */
  nameOf?(document: Document): string;
}

/**
 * A declared resource in the form for its operations: with all defaults, and without the type parameter of the schema.
 */
export interface ResourceSpec<Document extends object> {
  readonly noun: string;
  readonly plural: string;
  readonly path: string;
  readonly roles: Required<ResourceRoles>;
  readonly listing: ListDefinition;
  readonly hasLiveData: boolean;
  /** Declaration members of all its operations */
  readonly commonDeclaration: {
    readonly entitlement: string | undefined;
    readonly maxBodyBytes: number | undefined;
    /** Fields of the view that callers cannot set */
    readonly serverOwned: readonly string[];
  };
  readonly fields: z.ZodObject;
  readonly example: object;
  readonly view: z.ZodObject;
  readonly writing: WriteSpec<Document>;
  readonly visibility: Visibility<Document> | undefined;
  /** Query schemas of writes; empty without parameters */
  readonly queries: { readonly create: { query?: z.ZodObject }; readonly change: { query?: z.ZodObject } };
  requireRemovable(before: Document & StoredMetadata, parameters: WriteParameters): void;
  createExtraFields(documents: TenantDocuments, after: Document & StoredMetadata): Promise<Record<string, unknown>>;
  /** Returns the writable fields of a document, as callers see them. */
  getWritableFields(document: object): Record<string, unknown>;
  show(
    documents: readonly (Document & StoredMetadata)[],
    context: ResourceContext,
  ): Promise<readonly Record<string, unknown>[]>;
  /** Converts validated fields to the stored form. */
  toDocument(
    writableFields: object,
    before: (Document & StoredMetadata) | undefined,
    context: ResourceContext,
  ): Document;
  /** Completes a document before the transaction; absent if there is nothing to do. */
  readonly completeDocument:
    | ((
        after: Document,
        before: (Document & StoredMetadata) | undefined,
        context: CompletionContext,
      ) => Promise<CompletedDocument<Document>>)
    | undefined;
  /** Completes a document within the transaction. */
  prepareDocument(
    after: Document,
    before: (Document & StoredMetadata) | undefined,
    context: PrepareContext,
  ): Promise<Document>;
}

/** Fields at the end of every view of a resource */
export const storedView = {
  id: z.string(),
  version: z.int().positive().describe('Increases by one with every change; the ETag'),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
};

export const createResourceSpec = <
  Fields extends z.ZodObject,
  Document extends z.output<Fields>,
  View extends z.ZodObject,
>(
  definition: ResourceDefinition<Fields, Document, View>,
): ResourceSpec<Document> => {
  const {
    noun,
    path,
    collection,
    fields,
    example,
    roles,
    secrets = [],
    entitlement,
    maxBodyBytes,
    complete,
  } = definition;
  const plural = definition.plural ?? `${noun}s`;
  const type = definition.type ?? noun.replaceAll(' ', '-');
  const view: z.ZodObject = definition.view ?? z.strictObject({ ...fields.shape, ...storedView });
  const names = new Set(Object.keys(fields.shape));
  const storedNames = new Set(Object.keys(storedView));
  const defaults = collectDefaults(fields);
  const getWritableFields = (document: object): Record<string, unknown> =>
    maskSecrets(
      pickFields({ ...defaults, ...document }, (name) => names.has(name)),
      secrets,
    );
  return {
    noun,
    plural,
    path,
    fields,
    example,
    view,
    getWritableFields,
    roles: { delete: roles.write, ...roles },
    listing: definition.list ?? {},
    hasLiveData: definition.live ?? false,
    visibility: definition.visible,
    queries: {
      create: definition.parameters ? { query: definition.parameters.create } : {},
      change: definition.parameters ? { query: definition.parameters.change } : {},
    },
    requireRemovable: (before, parameters) => definition.rejectRemoval?.(before, parameters),
    createExtraFields: async (documents, after) => ({ ...(await definition.created?.(documents, after)) }),
    commonDeclaration: {
      entitlement,
      maxBodyBytes,
      serverOwned: Object.keys(view.shape).filter((name) => !names.has(name)),
    },
    writing: {
      noun,
      plural,
      type,
      collection,
      secrets,
      requiresIfMatch: definition.requiresIfMatch ?? false,
      nameOf: definition.nameOf ?? ((document) => String((document as { name?: unknown }).name ?? '')),
      ...(definition.maxCount !== undefined && { maxCount: definition.maxCount }),
      ...(definition.visible && { visibility: definition.visible }),
      ...(definition.compared && { getComparedFields: definition.compared }),
      ...(definition.alongside && { writeRelated: definition.alongside }),
    },
    show: async (documents, context) =>
      definition.show
        ? await definition.show(
            documents.map((document) => ({ ...defaults, ...document })),
            context,
          )
        : documents.map((document) => ({
            ...getWritableFields(document),
            ...pickFields(document, (name) => storedNames.has(name)),
          })),
    toDocument(given, before, { caller, ports }) {
      const sealedFields = sealSecrets(given, secrets, { before, box: ports.secretBox, purpose: type });
      const serverFields =
        before === undefined
          ? definition.initial?.({ caller, ports })
          : pickFields(before, (name) => !names.has(name) && !storedNames.has(name));
      return { ...serverFields, ...sealedFields } as Document;
    },
    completeDocument: complete && ((after, before, context) => complete(after, { ...context, before })),
    prepareDocument: async (after, before, context) =>
      definition.prepare ? await definition.prepare(after, { ...context, before }) : after,
  };
};

/** Defaults for documents that are older than a field. */
const collectDefaults = (fields: z.ZodObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields.shape).flatMap(([name, schema]) => {
      const result = (schema as z.ZodType).safeParse(undefined);
      return result.success && result.data !== undefined ? [[name, result.data]] : [];
    }),
  );

const pickFields = (document: object, predicate: (name: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(document).filter(([name]) => predicate(name)));
