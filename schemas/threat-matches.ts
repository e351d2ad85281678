/** Output of the threat indicator processor. */
import { z } from 'zod';
import { indicatorTypes } from './resources/threat-intel.ts';

/**
 * A match of a threat indicator in records of one entity, for a period. A later message with the same ID has an updated
 * count.
 */
export const ThreatMatch = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string().describe('ID derived from the indicator, the entity and the first record'),
  type: z.enum(indicatorTypes),
  value: z.string(),
  source: z.string().describe('Name of the feed, or the source specified for an import'),
  score: z.int().describe('Confidence in the indicator at the time of the record, 1 to 100'),
  field: z.string().describe('Field of the first record that contains the indicator'),
  observed: z.string().describe('Value as in the first record, possibly truncated'),
  recordId: z.string().describe('ID of the first record for `GET /api/logs/{id}`'),
  timeMs: z.number().describe('Time of the first record'),
  lastMs: z.number().describe('Time of the latest record'),
  count: z.int().describe('Number of matching records'),
  service: z.string(),
  host: z.string(),
  user: z.string(),
  retroHunt: z
    .boolean()
    .default(false)
    .describe('Whether the match was found in older stored records, after the indicator was added'),
});
export type ThreatMatch = z.output<typeof ThreatMatch>;
