import type { z } from 'zod';
import type { CollectionDefinition, Stored } from '../../schemas/ports/documents.ts';
import type { Caller } from '../callers/caller.ts';
import type { AuditedTransaction } from '../changes.ts';
import type { DeclaredOperation } from '../kernel/operation.ts';
import type { Ports } from '../kernel/ports.ts';
import { answerOne, changeOne, type WriteInput } from './resource-changes.ts';
import { operationOf } from './resource-operations.ts';
import { type ResourceContext, type ResourceDefinition, specOf, type Verb } from './resource-spec.ts';
import { type ResourceWriter, writerOf } from './resource-writer.ts';

/** A resource as registries and tests see it. */
export interface RegisteredResource {
  readonly noun: string;
  /** As the audit log and the history name it. */
  readonly type: string;
  readonly path: string;
  readonly collection: CollectionDefinition<object>;
  readonly verbs: readonly Verb[];
  readonly requiresIfMatch: boolean;
  readonly fields: z.ZodObject;
  readonly example: object;
  readonly operations: readonly DeclaredOperation[];
}

/** A resource as operations beyond the usual verbs use it. */
export interface Resource<Document extends object, View> extends RegisteredResource {
  readonly collection: CollectionDefinition<Document>;
  /** Whether a document is there for a caller. */
  visibleTo(document: Document, caller: Caller): boolean;
  /** Writes within a transaction that its caller began with `input.change`. */
  writer(scope: AuditedTransaction, caller: Caller): ResourceWriter<Document>;
  /** Changes one to what `next` makes of it, `If-Match` heeded; nothing is written when it comes out the same. */
  change(
    id: string,
    next: (before: Document & Stored, scope: AuditedTransaction) => Promise<Document>,
    input: WriteInput,
  ): Promise<Document & Stored>;
  /** One as callers see it, without an `ETag`. */
  shown(document: Document & Stored, context: ResourceContext): Promise<View>;
  /** The same, and its version in the answer's `ETag`. */
  answer(document: Document & Stored, input: Pick<WriteInput, 'caller' | 'request'>, ports: Ports): Promise<View>;
}

/**
 * Declares a configuration resource. Its operations validate, keep versions (`ETag`, `If-Match`), uniqueness, references
 * and history, and write audit records; followers of the collection get the change.
 */
export const defineResource = <
  Fields extends z.ZodObject,
  Document extends z.output<Fields> = z.output<Fields>,
  View extends z.ZodObject = z.ZodObject,
>(
  definition: ResourceDefinition<Fields, Document, View>,
): Resource<Document, z.input<View>> => {
  const spec = specOf(definition);
  const { noun, path, fields, example } = spec;
  const { type, requiresIfMatch } = spec.writing;
  return {
    noun,
    type,
    path,
    fields,
    example,
    requiresIfMatch,
    collection: definition.collection,
    verbs: definition.verbs,
    operations: definition.verbs.map((verb) => operationOf(spec, verb)),
    visibleTo: (document, caller) => spec.visible?.to(document, caller) ?? true,
    writer: (scope, caller) => writerOf(spec.writing, scope, caller),
    change: (id, next, input) => changeOne(spec, id, next, input),
    shown: async (document, context) => (await spec.show([document], context))[0] as z.input<View>,
    answer: async (document, input, ports) => (await answerOne(spec, document, input, ports)) as z.input<View>,
  };
};
