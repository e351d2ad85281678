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

/** Answers with one document, its version in the `ETag`. */
export const showOne = async <Document extends object>(
  spec: ResourceSpec<Document>,
  document: Document & StoredMetadata,
  { caller, request }: Pick<WriteInput, 'caller' | 'request'>,
  ports: Ports,
): Promise<Record<string, unknown>> => {
  const [view = {}] = await spec.show([document], { caller, ports });
  request.reply('ETag', formatEtag(document));
  return view;
};

export const createOne = async <Document extends object>(
  spec: ResourceSpec<Document>,
  fields: object,
  input: ParameterInput,
  ports: Ports,
): Promise<Record<string, unknown>> => {
  const { caller, parameters } = input;
  const { made, extraFields } = await input.change(async (scope) => {
    const document = await spec.prepareDocument(fields, undefined, {
      caller,
      ports,
      forTenant: scope.forTenant,
      parameters,
    });
    const inserted = await createWriter(spec.writing, scope, caller).create(document);
    return { made: inserted, extraFields: await spec.created(scope.forTenant(caller.tenantId), inserted) };
  });
  return { ...(await showOne(spec, made, input, ports)), ...extraFields };
};

/**
 * Changes one document to the result of `computeNext`, respecting `If-Match`. An unchanged result is not written: no new
 * version, no record.
 */
export const changeOne = <Document extends object>(
  spec: ResourceSpec<Document>,
  id: string,
  computeNext: (before: Document & StoredMetadata, scope: AuditedTransaction) => Promise<Document>,
  { caller, request, change }: WriteInput,
): Promise<Document & StoredMetadata> => {
  const precondition = parsePrecondition(request);
  return change(async (scope) => {
    const writer = createWriter(spec.writing, scope, caller);
    const { document, changed } = await writer.change(id, (before) => computeNext(before, scope), { precondition });
    if (!changed) scope.unchanged();
    return document;
  });
};

export const removeOne = async <Document extends object>(
  spec: ResourceSpec<Document>,
  id: string,
  { caller, request, change, parameters }: ParameterInput,
): Promise<void> => {
  const precondition = parsePrecondition(request);
  await change(async (scope) => {
    const writer = createWriter(spec.writing, scope, caller);
    spec.refuseRemoval(await writer.find(id), parameters);
    return writer.remove(id, { precondition });
  });
};
