import type { StoredMetadata } from '../schemas/ports/documents.ts';

/** Returns the fields of a document without those that the store adds. */
export const getFields = <Fields extends object>(document: Fields & StoredMetadata): Fields => {
  const { id: _, version: __, createdAt: ___, updatedAt: ____, ...fields } = document;
  return fields as unknown as Fields;
};
