/** Encodes documents for every store: JSON, an id, and the fields that the store adds. */
import { randomUUID } from 'node:crypto';
import { PermanentError } from '../schemas/errors.ts';
import type { StoredMetadata } from '../schemas/ports/documents.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A document as returned by both stores: the fields added by the store, and the other fields. */
export interface Entry {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly fields: Fields;
}

/** The JSON form of a document's fields, as value and as text. */
export interface EncodedFields {
  readonly fields: Fields;
  readonly text: string;
}

/** A MongoDB document can hold 16 MB, and a document that BSON cannot represent exactly is stored twice. */
const maxBytes = 4 * 1024 * 1024;
const reservedNames: ReadonlySet<string> = new Set([
  'id',
  'version',
  'createdAt',
  'updatedAt',
] satisfies (keyof StoredMetadata)[]);

const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? '';
  } catch (cause) {
    throw new PermanentError('not-a-document', 'document cannot be written as JSON', { cause });
  }
};

/** Encodes the fields of a document as JSON, without the names reserved by the store. */
export const encodeFields = (document: object): EncodedFields => {
  let text = toJson(document);
  if (!text.startsWith('{')) throw new PermanentError('not-a-document', 'document is not an object of fields');
  let fields = JSON.parse(text) as Fields;
  if (Object.keys(fields).some((name) => reservedNames.has(name))) {
    fields = Object.fromEntries(Object.entries(fields).filter(([name]) => !reservedNames.has(name)));
    text = toJson(fields);
  }
  if (Buffer.byteLength(text) > maxBytes)
    throw new PermanentError('too-large', `document has more than ${maxBytes / 1024 / 1024} MB of JSON`);
  return { fields, text };
};

/** The fields after an update. Built from entries, so that a field named `__proto__` stays a field. */
export const applyChanges = (fields: Fields, changes: object): Fields => {
  const changedFields = new Map(Object.entries(fields));
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) changedFields.delete(name);
    else changedFields.set(name, value);
  }
  return Object.fromEntries(changedFields);
};

export const toDocument = ({ id, version, createdAt, updatedAt, fields }: Entry): Fields & StoredMetadata => ({
  ...fields,
  id,
  version,
  createdAt,
  updatedAt,
});

const isValidId = (text: unknown): boolean =>
  typeof text === 'string' && text.length > 0 && text.length <= 512 && !text.includes('\0') && text.isWellFormed();

/** Validates an id, or creates one. */
export const validateOrCreateId = (id: string | undefined): string => {
  if (id === undefined) return randomUUID();
  if (!isValidId(id)) throw new PermanentError('bad-id', 'document id must be 1 to 512 characters of text');
  return id;
};

export const validateTenantId = (tenantId: string): string => {
  if (!isValidId(tenantId)) throw new TypeError('tenant id must be 1 to 512 characters of text');
  return tenantId;
};

/** Checks the name of a collection, which becomes the name of a MongoDB collection, where some names are reserved. */
export const validateCollectionName = (name: string): string => {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) throw new TypeError(`collection name ${name} is not kebab-case`);
  return name;
};
