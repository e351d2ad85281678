import { defineCollection } from '../ports/documents.ts';

/** A version of a configuration resource as it was stored, the present one included. Kept under its tenant. */
export interface ResourceVersion {
  readonly resource: { readonly type: string; readonly id: string; readonly version: number };
  readonly at: string;
  /** Who made this version; null where that is not known. */
  readonly actor: { readonly type: string; readonly id: string } | null;
  /** What the store keeps of it: secrets are encrypted. */
  readonly fields: object;
}

export const resourceHistory = defineCollection<ResourceVersion>({
  name: 'resource-history',
  indexes: [['resource.type', 'resource.id', 'resource.version']],
});

/** How many versions of a resource are kept. */
export const maxVersions = 50;

/** Document id of a version. */
export const versionId = (type: string, id: string, version: number): string => `${type}/${id}/${version}`;
