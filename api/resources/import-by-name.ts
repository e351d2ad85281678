/** Imports of documents that become resources by name: in order, in parts, with a result for each. */
import { z } from 'zod';
import type { Caller } from '../callers/caller.ts';
import type { AuditedTransaction, Transact } from '../changes.ts';
import type { Resource } from './resource.ts';
import { hasSameContent } from './resource-history.ts';

/** Fields of the result of every import */
export const outcomeFields = {
  document: z.int().describe('Number of the document in the text, from 1'),
  line: z.int(),
  name: z.string().nullable().describe('null if it could not be parsed'),
  outcome: z.enum(['created', 'changed', 'unchanged', 'refused']),
  id: z.string().nullable().describe('null if it was rejected, or would be created'),
};

/** Written in one transaction, which has to end within seconds. */
const atOnce = 50;

/** Imports all documents in order, in transactions of limited size, each of which may be without changes. */
export const importInParts = async <Given, Outcome>(
  given: readonly Given[],
  change: Transact,
  importPart: (part: readonly Given[], scope: AuditedTransaction) => Promise<readonly Outcome[]>,
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (let from = 0; from < given.length; from += atOnce)
    outcomes.push(
      ...(await change(async (scope) => {
        const part = await importPart(given.slice(from, from + atOnce), scope);
        // There may be no changes.
        scope.unchanged();
        return part;
      })),
    );
  return outcomes;
};

export interface Importing {
  readonly scope: AuditedTransaction;
  readonly caller: Caller;
  /** Nothing is written then. */
  readonly dryRun: boolean;
}

/** Creates or changes the resource with that name. Throws the errors of the resource's writer. */
export const writeByName = async <Document extends { readonly name: string }, View>(
  resource: Resource<Document, View>,
  next: Document,
  { scope, caller, dryRun }: Importing,
): Promise<{ readonly outcome: 'created' | 'changed' | 'unchanged'; readonly id: string | null }> => {
  const stored = scope.of(caller.tenantId).collection(resource.collection);
  const { items } = await stored.list({ filter: { name: next.name }, limit: 1 });
  const [known] = items;
  const writer = resource.writer(scope, caller);
  if (known === undefined) {
    const made = dryRun ? undefined : await writer.create(next, { action: `${resource.type}.create` });
    return { outcome: 'created', id: made?.id ?? null };
  }
  if (hasSameContent(next, known)) return { outcome: 'unchanged', id: known.id };
  if (!dryRun) await writer.change(known.id, () => next, { action: `${resource.type}.update` });
  return { outcome: 'changed', id: known.id };
};
