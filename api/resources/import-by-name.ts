/** Imports documents as resources, which are identified by their own names: in order, in batches, with a result for each. */
import { z } from 'zod';
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { ImportedFrom } from '../../schemas/resources/imported-from.ts';
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
export const importInBatches = async <Item, Outcome, Resources extends { fork(): Resources }>(
  documents: readonly Item[],
  { change, resources: initialResources }: { readonly change: Transact; readonly resources: Resources },
  importBatch: (batch: readonly Item[], scope: AuditedTransaction, resources: Resources) => Promise<readonly Outcome[]>,
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  let resources = initialResources;
  for (let from = 0; from < documents.length; from += documentsPerBatch) {
    const batch = await change(async (scope) => {
      // A transaction may run again after a write conflict.
      const forkedResources = resources.fork();
      const batchOutcomes = await importBatch(documents.slice(from, from + documentsPerBatch), scope, forkedResources);
      // There may be no changes.
      scope.markUnchanged();
      return { batchOutcomes, forkedResources };
    });
    outcomes.push(...batch.batchOutcomes);
    resources = batch.forkedResources;
  }
  return outcomes;
};

export interface ImportContext {
  readonly scope: AuditedTransaction;
  readonly caller: Caller;
  /** Whether only the results are computed and nothing is written */
  readonly dryRun: boolean;
}

/** Fields of the body of every import */
export const importBodyFields = {
  dryRun: z.boolean().default(false).describe('Only return the results, without changes'),
  takeOver: z
    .boolean()
    .default(false)
    .describe('Also change those of the same name that were not imported before, such as those made by hand'),
};

/** Why a document does not change the resource of its name */
export const foreignNameMessage =
  'is the name of one that was not imported: rename one of them, or import again with takeOver to change it';

interface ImportableDocument {
  readonly name: string;
  readonly importedFrom?: ImportedFrom | undefined;
}

/** A document of an import, whose `importedFrom` is its identity */
type NextDocument<Document> = Document & { readonly importedFrom: ImportedFrom };

export interface ImportResult {
  readonly outcome: 'created' | 'changed' | 'unchanged' | 'refused';
  readonly id: string | null;
  /** Name under which it is stored: the title, or the title with the document's own name if another one has the title */
  readonly name: string;
  /** Why it was rejected */
  readonly problem?: string;
}

interface KnownResource {
  readonly id: string | null;
  readonly name: string;
  readonly importedFrom: ImportedFrom | undefined;
}

const toKey = ({ format, fileName, name }: ImportedFrom): string => JSON.stringify([format, fileName, name]);

/**
 * Resources of one import, stored ones and those that it writes. A document changes the resource that an earlier import
 * of the same document created, whatever its title. A resource of the same title that was not imported is only changed
 * if `takeOver` is set. A dry run has the same results.
 */
export class ImportedResources<Document extends ImportableDocument, View> {
  readonly #resource: Resource<Document, View>;
  readonly #takeOver: boolean;
  #byOrigin = new Map<string, KnownResource>();
  #byName = new Map<string, KnownResource>();
  #importedKeys = new Set<string>();
  #count = 0;
  #isRead = false;

  constructor(resource: Resource<Document, View>, { takeOver }: { readonly takeOver: boolean }) {
    this.#resource = resource;
    this.#takeOver = takeOver;
  }

  /** Returns a copy, for a transaction that may run again. */
  fork(): ImportedResources<Document, View> {
    const copy = new ImportedResources<Document, View>(this.#resource, { takeOver: this.#takeOver });
    copy.#byOrigin = new Map(this.#byOrigin);
    copy.#byName = new Map(this.#byName);
    copy.#importedKeys = new Set(this.#importedKeys);
    copy.#count = this.#count;
    copy.#isRead = this.#isRead;
    return copy;
  }

  /** Creates or changes the resource of a document. Throws the errors of the resource's writer. */
  async write(next: NextDocument<Document>, context: ImportContext): Promise<ImportResult> {
    await this.#readStored(context);
    const { importedFrom, name: title } = next;
    const reject = (problem: string): ImportResult => ({ outcome: 'refused', id: null, name: title, problem });
    const key = toKey(importedFrom);
    if (this.#importedKeys.has(key))
      return reject(`another document of this import has the same name ${importedFrom.name}`);
    this.#importedKeys.add(key);
    const sameTitle = this.#byName.get(title);
    if (sameTitle !== undefined && !this.#byOrigin.has(key) && (await this.#isExported(sameTitle, next, context)))
      return { outcome: 'unchanged', id: sameTitle.id, name: title };
    const isForeign = sameTitle !== undefined && sameTitle.importedFrom === undefined;
    const existing = this.#byOrigin.get(key) ?? (isForeign ? sameTitle : undefined);
    const name = this.#findName(next, existing);
    if (name === undefined) return reject('is already the name of another one: rename one of them');
    const result = await this.#writeNamed({ ...next, name }, existing, context);
    if (result.outcome !== 'refused') this.#add({ id: result.id, name, importedFrom }, existing);
    return result;
  }

  /** Whether a document has the content of a stored resource, as an export has, which another import may have created. */
  async #isExported(
    { id, importedFrom }: KnownResource,
    next: NextDocument<Document>,
    { scope, caller }: ImportContext,
  ): Promise<boolean> {
    const isOfThisImport = importedFrom !== undefined && this.#importedKeys.has(toKey(importedFrom));
    if (id === null || isOfThisImport) return false;
    const stored = await scope.forTenant(caller.tenantId).collection(this.#resource.collection).find(id);
    return stored !== undefined && hasSameContent({ ...next, importedFrom }, stored);
  }

  async #writeNamed(
    next: NextDocument<Document>,
    existing: KnownResource | undefined,
    { scope, caller, dryRun }: ImportContext,
  ): Promise<ImportResult> {
    const { collection, type, maxCount, plural } = this.#resource;
    const { name } = next;
    const writer = this.#resource.createWriter(scope, caller);
    if (existing === undefined || existing.id === null) {
      if (maxCount !== undefined && this.#count >= maxCount)
        return { outcome: 'refused', id: null, name, problem: `there are ${maxCount} ${plural}: delete one first` };
      const created = dryRun ? undefined : await writer.create(next, { action: `${type}.create` });
      return { outcome: 'created', id: created?.id ?? null, name };
    }
    const { id } = existing;
    const stored = await scope.forTenant(caller.tenantId).collection(collection).find(id);
    if (stored === undefined) return { outcome: 'changed', id, name };
    if (existing.importedFrom === undefined && !this.#takeOver)
      return { outcome: 'refused', id: null, name, problem: foreignNameMessage };
    if (hasSameContent(next, stored)) return { outcome: 'unchanged', id, name };
    if (!dryRun) await writer.change(id, () => next, { action: `${type}.update` });
    return { outcome: 'changed', id, name };
  }

  /** Returns the title, or the title with the own name of the document if another resource has the title. */
  #findName({ name, importedFrom }: NextDocument<Document>, existing: KnownResource | undefined): string | undefined {
    const suffix = ` (${importedFrom.name})`;
    const names = [name, `${name.slice(0, maxNameLength - suffix.length)}${suffix}`];
    const isFree = (candidate: string): boolean => {
      const owner = this.#byName.get(candidate);
      return owner === undefined || owner === existing;
    };
    return existing !== undefined && names.includes(existing.name) ? existing.name : names.find(isFree);
  }

  #add(resource: KnownResource, replaced?: KnownResource): void {
    if (replaced === undefined) this.#count++;
    else this.#byName.delete(replaced.name);
    this.#byName.set(resource.name, resource);
    if (resource.importedFrom !== undefined) this.#byOrigin.set(toKey(resource.importedFrom), resource);
  }

  async #readStored({ scope, caller }: ImportContext): Promise<void> {
    if (this.#isRead) return;
    this.#isRead = true;
    const stored = scope.forTenant(caller.tenantId).collection(this.#resource.collection);
    for await (const { id, name, importedFrom } of iterateDocuments(stored)) this.#add({ id, name, importedFrom });
  }
}

const maxNameLength = 256;
