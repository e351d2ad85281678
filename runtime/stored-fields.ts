import type { Stored } from '../schemas/ports/documents.ts';

/** What the store keeps of a document besides what it adds itself. */
export const fieldsOf = <Fields extends object>(document: Fields & Stored): Fields => {
  const { id: _, version: __, createdAt: ___, updatedAt: ____, ...fields } = document;
  return fields as unknown as Fields;
};
