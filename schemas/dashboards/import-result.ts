import { z } from 'zod';

/**
 * Parts of an object of another product's format that have no equivalent here. An export in that format restores them.
 */
export const Imported = z.strictObject({
  from: z.enum(['grafana', 'grafana-resource']),
  unmapped: z.record(z.string().min(1).max(512), z.unknown()).describe('Values of the source by their dotted path'),
});
