import { z } from 'zod';
import type { CollectionDefinition, Filter, Stored, TenantDocuments } from '../../schemas/ports/documents.ts';
import type { Caller } from '../callers/caller.ts';
import type { Access } from '../callers/rights.ts';
import type { AuditedTransaction } from '../changes.ts';
import type { Ports } from '../kernel/ports.ts';
import type { Listing } from './resource-list.ts';
import { maskSecrets, type SecretField, sealSecrets } from './resource-secrets.ts';
import type { WriteSpec } from './resource-writer.ts';

/**
 * `replace` is PUT of the whole, `update` PUT of the fields that it names, `patch` PATCH with a JSON merge patch; a
 * resource has `replace` or `update`.
 */
export type Verb = 'create' | 'list' | 'read' | 'replace' | 'update' | 'patch' | 'delete';

/** What hooks may know of the request. */
export interface ResourceContext {
  readonly caller: Caller;
  readonly ports: Ports;
}

/** What a write was asked beside the document. */
export type WriteParameters = Readonly<Record<string, unknown>>;

/** Who sees a document, in two forms that must agree. */
export interface Visibility<Document> {
  /** The condition on documents that a caller sees. */
  where(caller: Caller): Filter;
  to(document: Document, caller: Caller): boolean;
}

interface ResourceRoles {
  readonly read: Access;
  readonly write: Access;
  /** `write` unless told otherwise. */
  readonly delete?: Access;
}

/** A configuration resource, declared once. */
export interface ResourceDefinition<
  Fields extends z.ZodObject,
  Document extends z.output<Fields>,
  View extends z.ZodObject,
> {
  /** What people call one, singular: `license key`. The audit log's type is it with hyphens, operation ids are made of it. */
  readonly noun: string;
  /** `noun` with an s unless told otherwise. */
  readonly plural?: string;
  readonly path: string;
  readonly collection: CollectionDefinition<Document>;
  readonly verbs: readonly Verb[];
  readonly roles: ResourceRoles;
  readonly entitlement?: string;
  /** What callers write: a strict object, with a default for every optional field. */
  readonly fields: Fields;
  /** What `fields` accepts; published, and what the contract tests begin with. */
  readonly example: z.input<Fields>;
  /** Fields of a new one that the server owns. */
  initial?(context: ResourceContext): Omit<Document, keyof z.output<Fields>>;
  /** Checks and completes what is about to be stored, within the transaction. `before` is absent for a new one. */
  prepare?(
    after: Document,
    context: ResourceContext &
      Pick<AuditedTransaction, 'of'> & {
        readonly before: (Document & Stored) | undefined;
        readonly parameters: WriteParameters;
      },
  ): Document | Promise<Document>;
  /** Parameters that writes take beside the document: of a new one, and of changes and deletions. `prepare` heeds them. */
  readonly parameters?: { readonly create: z.ZodObject; readonly change: z.ZodObject };
  /** Throws where one must not be deleted. */
  refuseRemoval?(before: Document & Stored, parameters: WriteParameters): void;
  /** What callers see: `fields` with `id`, `version` and times unless told otherwise, then by `show`. */
  readonly view?: View;
  /** Views of documents, in their order; may read what belongs to them elsewhere. */
  show?(
    documents: readonly (Document & Stored)[],
    context: ResourceContext,
  ): Promise<readonly z.input<View>[]> | readonly z.input<View>[];
  /** Views tell more than the document does: a read is answered anew although the version is the same. */
  readonly live?: boolean;
  readonly secrets?: readonly SecretField[];
  readonly list?: Listing;
  /** Changes and deletions without `If-Match` are refused with 428. */
  readonly requiresIfMatch?: boolean;
  readonly maxBodyBytes?: number;
  /** Documents that not everybody of the organization sees: for others there are none. */
  readonly visible?: Visibility<Document>;
  /** What the audit record compares, where that is less than two whole documents. */
  readonly compared?: WriteSpec<Document>['compared'];
  /** Writes what goes with a document, in the same transaction. */
  readonly alongside?: WriteSpec<Document>['alongside'];
  /** What the answer to a creation tells beside the view, once: a secret that is made with it, in the same transaction. */
  created?(documents: TenantDocuments, after: Document & Stored): Promise<Partial<z.input<View>>>;
  /** How many an organization may have, whatever its plan. */
  readonly maxCount?: number;
  /** What people call this one; its `name` unless told otherwise. */
  nameOf?(document: Document): string;
}

/** A declared resource as its operations use it: everything has its default, and the schema's type is closed over. */
export interface ResourceSpec<Document extends object> {
  readonly noun: string;
  readonly plural: string;
  readonly path: string;
  readonly roles: Required<ResourceRoles>;
  readonly listing: Listing;
  readonly live: boolean;
  /** Members that all its operations share. */
  readonly declared: {
    readonly entitlement: string | undefined;
    readonly maxBodyBytes: number | undefined;
    /** Fields of the view that callers cannot set. */
    readonly serverOwned: readonly string[];
  };
  readonly fields: z.ZodObject;
  readonly example: object;
  readonly view: z.ZodObject;
  readonly writing: WriteSpec<Document>;
  readonly visible: Visibility<Document> | undefined;
  /** Queries of writes; empty where they take no parameters. */
  readonly queries: { readonly create: { query?: z.ZodObject }; readonly change: { query?: z.ZodObject } };
  refuseRemoval(before: Document & Stored, parameters: WriteParameters): void;
  created(documents: TenantDocuments, after: Document & Stored): Promise<Record<string, unknown>>;
  /** What callers may write of a document, as they see it. */
  editable(document: object): Record<string, unknown>;
  show(
    documents: readonly (Document & Stored)[],
    context: ResourceContext,
  ): Promise<readonly Record<string, unknown>[]>;
  /** Checked fields, made what is stored. */
  prepared(
    given: object,
    before: (Document & Stored) | undefined,
    context: ResourceContext & Pick<AuditedTransaction, 'of'> & { readonly parameters: WriteParameters },
  ): Promise<Document>;
}

/** What every view of a resource ends with. */
export const storedView = {
  id: z.string(),
  version: z.int().positive().describe('Increases by one with every change; the ETag'),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
};

export const specOf = <Fields extends z.ZodObject, Document extends z.output<Fields>, View extends z.ZodObject>(
  definition: ResourceDefinition<Fields, Document, View>,
): ResourceSpec<Document> => {
  const { noun, path, collection, fields, example, roles, secrets = [], entitlement, maxBodyBytes } = definition;
  const plural = definition.plural ?? `${noun}s`;
  const type = noun.replaceAll(' ', '-');
  const view: z.ZodObject = definition.view ?? z.strictObject({ ...fields.shape, ...storedView });
  const names = new Set(Object.keys(fields.shape));
  const storedNames = new Set(Object.keys(storedView));
  const defaults = defaultsOf(fields);
  const editable = (document: object): Record<string, unknown> =>
    maskSecrets(
      only({ ...defaults, ...document }, (name) => names.has(name)),
      secrets,
    );
  return {
    noun,
    plural,
    path,
    fields,
    example,
    view,
    editable,
    roles: { delete: roles.write, ...roles },
    listing: definition.list ?? {},
    live: definition.live ?? false,
    visible: definition.visible,
    queries: {
      create: definition.parameters ? { query: definition.parameters.create } : {},
      change: definition.parameters ? { query: definition.parameters.change } : {},
    },
    refuseRemoval: (before, parameters) => definition.refuseRemoval?.(before, parameters),
    created: async (documents, after) => ({ ...(await definition.created?.(documents, after)) }),
    declared: {
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
      ...(definition.visible && { visible: definition.visible }),
      ...(definition.compared && { compared: definition.compared }),
      ...(definition.alongside && { alongside: definition.alongside }),
    },
    show: async (documents, context) =>
      definition.show
        ? await definition.show(documents, context)
        : documents.map((one) => ({ ...editable(one), ...only(one, (name) => storedNames.has(name)) })),
    async prepared(given, before, context) {
      const { caller, ports } = context;
      const sealed = sealSecrets(given, secrets, { before, box: ports.secretBox, purpose: type });
      const owned =
        before === undefined
          ? definition.initial?.({ caller, ports })
          : only(before, (name) => !names.has(name) && !storedNames.has(name));
      const after = { ...owned, ...sealed } as Document;
      return definition.prepare ? await definition.prepare(after, { ...context, before }) : after;
    },
  };
};

/** Documents that are older than a field have its default. */
const defaultsOf = (fields: z.ZodObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields.shape).flatMap(([name, schema]) => {
      const result = (schema as z.ZodType).safeParse(undefined);
      return result.success && result.data !== undefined ? [[name, result.data]] : [];
    }),
  );

const only = (document: object, predicate: (name: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(document).filter(([name]) => predicate(name)));
