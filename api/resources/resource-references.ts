import { isFields } from '../../runtime/fields.ts';
import type { CollectionDefinition, TenantDocuments } from '../../schemas/ports/documents.ts';
import { type Reference, references } from '../../schemas/resources/references.ts';
import { ApiError, createFieldError } from '../errors.ts';

/** Maximum number of referencing objects in an error message */
const maxListedReferences = 10;

/** Throws 409 if an object that is about to be deleted is referenced; the message lists the referencing objects. */
export const requireUnused = async (
  documents: TenantDocuments,
  {
    collection,
    noun,
    id,
  }: { readonly collection: CollectionDefinition<object>; readonly noun: string; readonly id: string },
): Promise<void> => {
  const descriptions: string[] = [];
  let unlistedCount = 0;
  for (const reference of references.filter(({ to }) => to === collection)) {
    const filter = { [reference.path]: id, ...reference.where };
    const referencingCollection = documents.collection(reference.from);
    const { items, nextCursor } = await referencingCollection.list({ filter, limit: maxListedReferences });
    descriptions.push(...items.map((document) => describeReferencingDocument(reference, document)));
    if (nextCursor !== null) unlistedCount += (await referencingCollection.count(filter)) - items.length;
  }
  if (descriptions.length === 0) return;
  const listedText = descriptions.slice(0, maxListedReferences).join(', ');
  const hiddenCount = unlistedCount + descriptions.length - Math.min(descriptions.length, maxListedReferences);
  throw new ApiError(
    'CONFLICT',
    `the ${noun} is in use by ${listedText}${hiddenCount > 0 ? ` and ${hiddenCount} more` : ''}: delete or change them first`,
  );
};

/** A document that references another. */
export interface ReferencingDocument {
  readonly noun: string;
  /** null: it is private */
  readonly id: string | null;
  readonly name: string | null;
}

/** Returns the documents that reference a document, up to a hundred of each kind. */
export const findReferencingDocuments = async (
  documents: TenantDocuments,
  { collection, id }: { readonly collection: CollectionDefinition<object>; readonly id: string },
): Promise<ReferencingDocument[]> => {
  const referencingDocuments: ReferencingDocument[] = [];
  for (const { from, noun, path, where, isPrivate } of references.filter(({ to }) => to === collection)) {
    const { items } = await documents.collection(from).list({ filter: { [path]: id, ...where }, limit: 100 });
    referencingDocuments.push(
      ...items.map((document) =>
        isPrivate?.(document) === true
          ? { noun, id: null, name: null }
          : { noun, id: document.id, name: 'name' in document ? String(document.name) : null },
      ),
    );
  }
  return referencingDocuments;
};

const describeReferencingDocument = ({ noun, isPrivate }: Reference, document: { readonly id: string }): string =>
  isPrivate?.(document) === true ? `a private ${noun}` : `${noun} ${formatName(document)}`;

const formatName = ({
  id,
  name,
  title = name,
}: {
  readonly id: string;
  readonly name?: unknown;
  readonly title?: unknown;
}) => (typeof title === 'string' ? `“${title}” (${id})` : id);

/** Rejects a document with a new reference to a missing object. */
export const requireExistingReferences = async (
  documents: TenantDocuments,
  collection: CollectionDefinition<object>,
  { before, after }: { readonly before: object | undefined; readonly after: object },
): Promise<void> => {
  for (const reference of references.filter(({ from }) => from === collection)) {
    const previousIds = new Set(collectReferencedIds(before, reference));
    for (const id of new Set(collectReferencedIds(after, reference)))
      if (!previousIds.has(id) && (await documents.collection(reference.to).find(id)) === undefined)
        throw createFieldError(reference.path, `${reference.path}: ${id} does not exist in ${reference.to.name}`);
  }
};

const collectReferencedIds = (
  document: object | undefined,
  { path, kind }: Pick<Reference, 'path' | 'kind'>,
): string[] => collectIds(document, path.split('.'), kind);

const collectIds = (value: unknown, path: readonly string[], kind: string | undefined): string[] => {
  if (Array.isArray(value)) return value.flatMap((element) => collectIds(element, path, kind));
  const [name, ...rest] = path;
  if (name === undefined) return typeof value === 'string' ? [value] : [];
  if (!isFields(value) || !Object.hasOwn(value, name)) return [];
  return rest.length === 0 && kind !== undefined && value['kind'] !== kind ? [] : collectIds(value[name], rest, kind);
};
