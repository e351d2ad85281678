import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Caller } from '../callers/caller.ts';
import type { AuditedTransaction, Transact } from '../changes.ts';
import { createNotFoundError } from '../errors.ts';
import type { Ports } from '../kernel/ports.ts';
import type { RequestFacts } from '../request-facts.ts';
import { OutdatedDocumentError, retryOutdated } from './outdated-document.ts';
import { formatEtag, parsePrecondition, requireVersion } from './preconditions.ts';
import type { CompletedDocument, ResourceSpec, WriteParameters } from './resource-spec.ts';
import { createWriter } from './resource-writer.ts';

/** The parts of an operation's input that writes need. */
export interface WriteInput {
  readonly caller: Caller;
  readonly request: RequestFacts;
  readonly change: Transact;
  /** Aborts when the request ends */
  readonly signal?: AbortSignal | undefined;
}

interface ParameterInput extends WriteInput {
  readonly parameters: WriteParameters;
}

/** Returns the view of a document and sends its version as the `ETag`. */
export const showDocument = async <Document extends object>(
  spec: ResourceSpec<Document>,
  document: Document & StoredMetadata,
  { caller, request }: Pick<WriteInput, 'caller' | 'request'>,
  ports: Ports,
): Promise<Record<string, unknown>> => {
  const [view = {}] = await spec.show([document], { caller, ports });
  request.reply('ETag', formatEtag(document));
  return view;
};

export const createDocument = async <Document extends object>(
  spec: ResourceSpec<Document>,
  fields: object,
  input: ParameterInput,
  ports: Ports,
): Promise<Record<string, unknown>> => {
  const { caller, parameters, signal } = input;
  const context = { caller, ports };
  const givenDocument = spec.toDocument(fields, undefined, context);
  const completed = (await spec.completeDocument?.(givenDocument, undefined, { ...context, signal })) ?? {
    document: givenDocument,
  };
  const { made: createdDocument, extraFields } = await input.change(async (scope) => {
    await completed.writeRelated?.(scope.forTenant);
    const document = await spec.prepareDocument(completed.document, undefined, {
      caller,
      ports,
      forTenant: scope.forTenant,
      parameters,
    });
    const createdDocument = await createWriter(spec.writing, scope, caller).create(document);
    return {
      made: createdDocument,
      extraFields: await spec.createExtraFields(scope.forTenant(caller.tenantId), createdDocument),
    };
  });
  return { ...(await showDocument(spec, createdDocument, input, ports)), ...extraFields };
};

/**
 * Changes one document to the result of `computeNext`, respecting `If-Match`. An unchanged result is not written: no new
 * version, no record.
 */
export const changeDocument = <Document extends object>(
  spec: ResourceSpec<Document>,
  id: string,
  computeNext: (before: Document & StoredMetadata, scope: AuditedTransaction) => Promise<Document>,
  { caller, request, change }: WriteInput,
): Promise<Document & StoredMetadata> => {
  const precondition = parsePrecondition(request);
  return change(async (scope) => {
    const writer = createWriter(spec.writing, scope, caller);
    const { document, isChanged } = await writer.change(id, (before) => computeNext(before, scope), { precondition });
    if (!isChanged) scope.markUnchanged();
    return document;
  });
};

/**
 * Changes one document to the result of `computeAfter`, as `changeDocument` does. `complete` runs before the transaction,
 * and again if the document was changed meanwhile; `computeAfter` and `prepare` also run within it.
 */
export const completeAndChange = <Document extends object>(
  spec: ResourceSpec<Document>,
  id: string,
  {
    computeAfter,
    complete,
    prepare = async (document) => document,
  }: {
    computeAfter(before: Document & StoredMetadata): Document;
    complete(after: Document, before: Document & StoredMetadata): Promise<CompletedDocument<Document>>;
    prepare?(document: Document, before: Document & StoredMetadata, scope: AuditedTransaction): Promise<Document>;
  },
  input: WriteInput & { readonly ports: Ports },
): Promise<Document & StoredMetadata> => {
  const { caller, request, ports } = input;
  const { noun, requiresIfMatch, visibility, collection } = spec.writing;
  return retryOutdated(noun, async (isLastAttempt) => {
    const stored = await ports.documents.forTenant(caller.tenantId).collection(collection).find(id);
    if (stored === undefined || visibility?.to(stored, caller) === false) throw createNotFoundError(noun);
    requireVersion(stored, parsePrecondition(request), { noun, requiresIfMatch });
    const { document, writeRelated, rebase } = await complete(computeAfter(stored), stored);
    const computeNext = async (before: Document & StoredMetadata, scope: AuditedTransaction): Promise<Document> => {
      const isOutdated = before.version !== stored.version;
      if (isOutdated && !(isLastAttempt && rebase)) throw new OutdatedDocumentError();
      const completed = isOutdated && rebase ? rebase(computeAfter(before), before) : document;
      await writeRelated?.(scope.forTenant);
      return prepare(completed, before, scope);
    };
    return changeDocument(spec, id, computeNext, input);
  });
};

/** Changes the fields of one document, as `changeDocument` does. */
export const changeFields = <Document extends object>(
  spec: ResourceSpec<Document>,
  id: string,
  computeFields: (before: Document & StoredMetadata) => object,
  input: ParameterInput & { readonly ports: Ports },
): Promise<Document & StoredMetadata> => {
  const { caller, parameters, ports, signal } = input;
  const toNext = (before: Document & StoredMetadata): Document =>
    spec.toDocument(computeFields(before), before, { caller, ports });
  const prepare = (document: Document, before: Document & StoredMetadata, { forTenant }: AuditedTransaction) =>
    spec.prepareDocument(document, before, { caller, ports, forTenant, parameters });
  const { completeDocument } = spec;
  if (completeDocument === undefined)
    return changeDocument(spec, id, (before, scope) => prepare(toNext(before), before, scope), input);
  const complete = (after: Document, before: Document & StoredMetadata) =>
    completeDocument(after, before, { caller, ports, signal });
  return completeAndChange(spec, id, { computeAfter: toNext, complete, prepare }, input);
};

export const removeDocument = async <Document extends object>(
  spec: ResourceSpec<Document>,
  id: string,
  { caller, request, change, parameters }: ParameterInput,
): Promise<void> => {
  const precondition = parsePrecondition(request);
  await change(async (scope) => {
    const writer = createWriter(spec.writing, scope, caller);
    spec.requireRemovable(await writer.find(id), parameters);
    return writer.remove(id, { precondition });
  });
};
