import { defineCollection } from '../ports/documents.ts';

/** One document says that an installation was set up; its insertion decides between two first starts at once. */
export const installation = defineCollection<{
  organizationId: string;
  /** Of the first start that made it; absent in older ones. A start of which the answer was lost recognizes its own work by it. */
  readonly firstStartId?: string;
}>({ name: 'installation' });
