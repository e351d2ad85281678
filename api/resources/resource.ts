import type { z } from 'zod';
import type { CollectionDefinition, StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Caller } from '../callers/caller.ts';
import type { AuditedTransaction } from '../changes.ts';
import type { DeclaredOperation } from '../kernel/operation.ts';
import type { Ports } from '../kernel/ports.ts';
import { changeDocument, completeAndChange, showDocument, type WriteInput } from './resource-changes.ts';
import { defineVerbOperation } from './resource-operations.ts';
import {
  type CompletedDocument,
  createResourceSpec,
  type ResourceContext,
  type ResourceDefinition,
  type Verb,
} from './resource-spec.ts';
import { createWriter, type ResourceWriter } from './resource-writer.ts';

/** A resource in the form for registries and tests. */
export interface RegisteredResource {
  readonly noun: string;
  /** Name in the audit log and the history */
  readonly type: string;
  readonly path: string;
  readonly collection: CollectionDefinition<object>;
  readonly verbs: readonly Verb[];
  readonly requiresIfMatch: boolean;
  readonly fields: z.ZodObject;
  readonly example: object;
  readonly operations: readonly DeclaredOperation[];
}

/** A resource in the form for operations beyond the default verbs. */
export interface Resource<Document extends object, View> extends RegisteredResource {
  readonly collection: CollectionDefinition<Document>;
  readonly plural: string;
  /** Maximum number per organization, independent of the plan */
  readonly maxCount: number | undefined;
  /** Whether a caller can see a document. */
  isVisibleTo(document: Document, caller: Caller): boolean;
  /** Returns a writer for a transaction that its caller started with `input.change`. */
  createWriter(scope: AuditedTransaction, caller: Caller): ResourceWriter<Document>;
  /** Changes a document to the result of `next`, respecting `If-Match`; an unchanged result is not written. */
  change(
    id: string,
    computeNext: (before: Document & StoredMetadata, scope: AuditedTransaction) => Promise<Document>,
    input: WriteInput,
  ): Promise<Document & StoredMetadata>;
  /**
   * Changes a document as `change` does, to the result of `computeAfter` and then `complete`. `complete` runs before the transaction, for reads of
   * telemetry and everything else that is not a document of it, and again if the document was changed meanwhile.
   */
  completeAndChange(
    id: string,
    computeAfter: (before: Document & StoredMetadata) => Document,
    complete: (after: Document, before: Document & StoredMetadata) => Promise<CompletedDocument<Document>>,
    input: WriteInput & { readonly ports: Ports },
  ): Promise<Document & StoredMetadata>;
  /** Returns the view of a document, without an `ETag`. */
  toView(document: Document & StoredMetadata, context: ResourceContext): Promise<View>;
  /** Returns the view, and sets the `ETag` of the response to its version. */
  sendView(
    document: Document & StoredMetadata,
    input: Pick<WriteInput, 'caller' | 'request'>,
    ports: Ports,
  ): Promise<View>;
}

/**
 * Declares a configuration resource. Its operations validate, manage versions (`ETag`, `If-Match`), uniqueness,
 * references and history, and write audit records; followers of the collection receive the change.
 */
export const defineResource = <
  Fields extends z.ZodObject,
  Document extends z.output<Fields> = z.output<Fields>,
  View extends z.ZodObject = z.ZodObject,
>(
  definition: ResourceDefinition<Fields, Document, View>,
): Resource<Document, z.input<View>> => {
  const spec = createResourceSpec(definition);
  const { noun, path, fields, example } = spec;
  const { type, requiresIfMatch } = spec.writing;
  return {
    noun,
    plural: spec.plural,
    maxCount: spec.writing.maxCount,
    type,
    path,
    fields,
    example,
    requiresIfMatch,
    collection: definition.collection,
    verbs: definition.verbs,
    operations: definition.verbs.map((verb) => defineVerbOperation(spec, verb)),
    isVisibleTo: (document, caller) => spec.visibility?.to(document, caller) ?? true,
    createWriter: (scope, caller) => createWriter(spec.writing, scope, caller),
    change: (id, next, input) => changeDocument(spec, id, next, input),
    completeAndChange: (id, computeAfter, complete, input) =>
      completeAndChange(spec, id, { computeAfter, complete }, input),
    toView: async (document, context) => (await spec.show([document], context))[0] as z.input<View>,
    sendView: async (document, input, ports) => (await showDocument(spec, document, input, ports)) as z.input<View>,
  };
};
