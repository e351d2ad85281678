import { z } from 'zod';

/** What a thing had in another product's form and has no place here. It comes back when it is exported in that form. */
export const Imported = z.strictObject({
  from: z.enum(['grafana', 'grafana-resource']),
  unmapped: z
    .record(z.string().min(1).max(512), z.unknown())
    .describe('Path in the source, dotted, and what stood there'),
});
