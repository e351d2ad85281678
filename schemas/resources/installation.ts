import { defineCollection } from '../ports/documents.ts';

/** One document says that an installation was set up; its insertion decides between two first starts at once. */
export const installation = defineCollection<{ organizationId: string }>({ name: 'installation' });
