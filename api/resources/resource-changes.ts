import type { Stored } from '../../schemas/ports/documents.ts';
import type { Caller } from '../identity/caller.ts';
import type { AuditedTransaction, Transact } from '../kernel/changes.ts';
import type { RequestFacts } from '../kernel/operation.ts';
import type { Ports } from '../kernel/ports.ts';
import { etagOf, preconditionOf } from './preconditions.ts';
import type { ResourceSpec } from './resource-spec.ts';
import { type ResourceWriter, writerOf } from './resource-writer.ts';

/** The parts of an operation's input that writes need. */
export interface WriteInput {
  readonly caller: Caller;
  readonly request: RequestFacts;
  readonly change: Transact;
}

interface Outcome<Document> {
  readonly before: Document | undefined;
  readonly after: Document | undefined;
  readonly changed: boolean;
}

/** Runs a write in its transaction, and what follows from it after the commit. */
const write = async <Document extends object>(
  spec: ResourceSpec<Document>,
  { caller, change }: WriteInput,
  ports: Ports,
  work: (writer: ResourceWriter<Document>, scope: AuditedTransaction) => Promise<Outcome<Document & Stored>>,
): Promise<Outcome<Document & Stored>> => {
  const outcome = await change(async (scope) => {
    const done = await work(writerOf(spec.writing, scope, caller), scope);
    if (!done.changed) scope.unchanged();
    return done;
  });
  if (!outcome.changed) return outcome;
  await spec.after(outcome, { caller, ports });
  return outcome;
};

/** Answers with one document, its version in the `ETag`. */
export const answerOne = async <Document extends object>(
  spec: ResourceSpec<Document>,
  document: Document & Stored,
  { caller, request }: Pick<WriteInput, 'caller' | 'request'>,
  ports: Ports,
): Promise<Record<string, unknown>> => {
  const [view = {}] = await spec.show([document], { caller, ports });
  request.reply('ETag', etagOf(document));
  return view;
};

export const createOne = async <Document extends object>(
  spec: ResourceSpec<Document>,
  given: object,
  input: WriteInput,
  ports: Ports,
): Promise<Record<string, unknown>> => {
  const { caller } = input;
  const { after } = await write(spec, input, ports, async (writer, { of }) => {
    const document = await spec.prepared(given, undefined, { caller, ports, of });
    return { before: undefined, after: await writer.create(document), changed: true };
  });
  return answerOne(spec, after as Document & Stored, input, ports);
};

/**
 * Changes one document to what `next` makes of it, `If-Match` heeded. What comes out the same is not written: no new
 * version, no record.
 */
export const changeOne = async <Document extends object>(
  spec: ResourceSpec<Document>,
  id: string,
  next: (before: Document & Stored, scope: AuditedTransaction) => Promise<Document>,
  input: WriteInput,
  ports: Ports,
): Promise<Document & Stored> => {
  const precondition = preconditionOf(input.request);
  const { after } = await write(spec, input, ports, async (writer, scope) => {
    let before: (Document & Stored) | undefined;
    const done = await writer.change(
      id,
      (found) => {
        before = found;
        return next(found, scope);
      },
      { precondition },
    );
    return { before, after: done.document, changed: done.changed };
  });
  return after as Document & Stored;
};

export const removeOne = async <Document extends object>(
  spec: ResourceSpec<Document>,
  id: string,
  input: WriteInput,
  ports: Ports,
): Promise<void> => {
  const precondition = preconditionOf(input.request);
  await write(spec, input, ports, async (writer) => {
    const before = await writer.remove(id, { precondition });
    return { before, after: undefined, changed: true };
  });
};
