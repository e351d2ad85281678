/** Imports documents as resources, which are identified by name: in order, in batches, with a result for each. */
import { z } from 'zod';
import type { Caller } from '../callers/caller.ts';
import type { AuditedTransaction, Transact } from '../changes.ts';
import type { Resource } from './resource.ts';
import { hasSameContent } from './resource-history.ts';

/** Fields of the result of every import */
export const importOutcomeFields = {
  document: z.int().describe('Number of the document in the text, from 1'),
  line: z.int(),
  name: z.string().nullable().describe('null if it could not be parsed'),
  outcome: z.enum(['created', 'changed', 'unchanged', 'refused']),
  id: z.string().nullable().describe('null if it was rejected, or would be created'),
};

/** Maximum number of documents that one transaction writes, because it must end within seconds */
const documentsPerBatch = 50;

/** Imports all documents in order, in transactions of limited size, each of which may be without changes. */
export const importInBatches = async <Item, Outcome>(
  documents: readonly Item[],
  change: Transact,
  importBatch: (batch: readonly Item[], scope: AuditedTransaction) => Promise<readonly Outcome[]>,
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (let from = 0; from < documents.length; from += documentsPerBatch)
    outcomes.push(
      ...(await change(async (scope) => {
        const batchOutcomes = await importBatch(documents.slice(from, from + documentsPerBatch), scope);
        // There may be no changes.
        scope.markUnchanged();
        return batchOutcomes;
      })),
    );
  return outcomes;
};

export interface ImportContext {
  readonly scope: AuditedTransaction;
  readonly caller: Caller;
  /** Whether only the results are computed and nothing is written */
  readonly dryRun: boolean;
}

/** Creates or changes the resource with that name. Throws the errors of the resource's writer. */
export const writeByName = async <Document extends { readonly name: string }, View>(
  resource: Resource<Document, View>,
  next: Document,
  { scope, caller, dryRun }: ImportContext,
): Promise<{ readonly outcome: 'created' | 'changed' | 'unchanged'; readonly id: string | null }> => {
  const stored = scope.forTenant(caller.tenantId).collection(resource.collection);
  const { items } = await stored.list({ filter: { name: next.name }, limit: 1 });
  const [existingDocument] = items;
  const writer = resource.createWriter(scope, caller);
  if (existingDocument === undefined) {
    const created = dryRun ? undefined : await writer.create(next, { action: `${resource.type}.create` });
    return { outcome: 'created', id: created?.id ?? null };
  }
  if (hasSameContent(next, existingDocument)) return { outcome: 'unchanged', id: existingDocument.id };
  if (!dryRun) await writer.change(existingDocument.id, () => next, { action: `${resource.type}.update` });
  return { outcome: 'changed', id: existingDocument.id };
};
