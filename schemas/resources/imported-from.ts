import { z } from 'zod';

/** Identity of a resource that was imported: its own name in a document, which is not its title. */
export const ImportedFrom = z.strictObject({
  format: z.string().max(64),
  fileName: z.string().max(256).describe('As the import named it; distinguishes documents of the same name'),
  name: z.string().max(1024).describe('Name in the document'),
});
export type ImportedFrom = z.output<typeof ImportedFrom>;
