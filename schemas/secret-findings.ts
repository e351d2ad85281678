/** Secrets in telemetry. */
import { z } from 'zod';

/** A secret in one record. Its text is not stored. Findings with the same ID are duplicates. */
export const SecretFinding = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string().describe('ID derived from the record'),
  findingId: z.string().describe('ID of all occurrences of the secret in the same field of a service and project'),
  timeMs: z.number(),
  signal: z.enum(['logs', 'traces']),
  recordId: z.string().describe('ID of a log record; empty for a span'),
  traceId: z.string(),
  spanId: z.string(),
  service: z.string(),
  field: z.string(),
  rule: z.string(),
  fingerprint: z.string().describe('HMAC of the secret under the key of the installation'),
  preview: z.string().max(4).describe('At most a quarter of the secret; empty if it was replaced'),
  keyHash: z.string().describe('SHA-256 of a key of this platform; empty for other secrets'),
  occurrences: z.int(),
  isRedacted: z.boolean().describe('Whether the secret was replaced before it was stored'),
});
export type SecretFinding = z.output<typeof SecretFinding>;
