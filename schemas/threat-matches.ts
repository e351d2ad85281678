/** What the processor of threat indicators emits. */
import { z } from 'zod';
import { indicatorTypes } from './resources/threat-intel.ts';

/** A threat indicator that records held, of one entity for a time. One that is emitted again under its id has counted on. */
export const ThreatMatch = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string().describe('A function of the indicator, the entity and the first record'),
  type: z.enum(indicatorTypes),
  value: z.string(),
  source: z.string().describe('Who says so: a feed, or what an import was given'),
  score: z.int().describe("How much the indicator was believed at the record's time, 1 to 100"),
  field: z.string().describe('Where the first record has it'),
  observed: z.string().describe('As the first record writes it; cut where it is long'),
  recordId: z.string().describe('The first record, as `GET /api/logs/{id}` knows it'),
  timeMs: z.number().describe('Of the first record'),
  lastMs: z.number().describe('Of the latest one'),
  count: z.int().describe('Records that held it'),
  service: z.string(),
  host: z.string(),
  user: z.string(),
  retroHunt: z.boolean().default(false).describe('Found in stored records, after the indicator came'),
});
export type ThreatMatch = z.output<typeof ThreatMatch>;
