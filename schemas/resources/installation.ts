import { defineCollection } from '../ports/documents.ts';

/** A document that marks an installation as set up. Its insertion decides between two concurrent first starts. */
export const installation = defineCollection<{
  organizationId: string;
  /**
   * ID of the first start that created the document; absent in older ones. A start that lost the response recognizes
   * its own document by this ID.
   */
  readonly firstStartId?: string;
  /** Derived from the secret key, which it does not reveal; absent until a start of this version. */
  readonly secretKeyCheck?: string;
}>({ name: 'installation' });
