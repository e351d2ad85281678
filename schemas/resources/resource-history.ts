import { defineCollection } from '../ports/documents.ts';

/** A stored version of a configuration resource, including the current one. Stored under its tenant. */
export interface ResourceVersion {
  readonly resource: { readonly type: string; readonly id: string; readonly version: number };
  readonly at: string;
  /** Author of this version; null if unknown. */
  readonly actor: { readonly type: string; readonly id: string } | null;
  /** Stored fields: secrets are encrypted. */
  readonly fields: object;
}

export const resourceHistory = defineCollection<ResourceVersion>({
  name: 'resource-history',
  indexes: [['resource.type', 'resource.id', 'resource.version']],
});

/** Maximum number of stored versions of a resource. */
export const maxVersions = 50;

/** Returns the document ID of a version. */
export const buildVersionId = (type: string, id: string, version: number): string => `${type}/${id}/${version}`;
