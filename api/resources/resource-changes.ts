import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Caller } from '../callers/caller.ts';
import type { AuditedTransaction, Transact } from '../changes.ts';
import type { Ports } from '../kernel/ports.ts';
import type { RequestFacts } from '../request-facts.ts';
import { formatEtag, parsePrecondition } from './preconditions.ts';
import type { ResourceSpec, WriteParameters } from './resource-spec.ts';
import { createWriter } from './resource-writer.ts';

/** The parts of an operation's input that writes need. */
export interface WriteInput {
  readonly caller: Caller;
  readonly request: RequestFacts;
  readonly change: Transact;
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
  const { caller, parameters } = input;
  const { made: createdDocument, extraFields } = await input.change(async (scope) => {
    const document = await spec.prepareDocument(fields, undefined, {
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
