/** Recordings of sessions, in chunks of consecutive events. */
import { z } from 'zod';

/** Maximum length of the events of a chunk, compressed and as base64. */
export const maxReplayChunkBytes = 900 * 1024;

/** Days for which recordings are stored. */
export const replayRetentionDays = 30;

/** Consecutive events of one document. Chunks with equal numbers are repetitions. */
export const ReplayChunk = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  application: z.string(),
  sessionId: z.string(),
  tab: z.string().describe('Document that was recorded'),
  first: z.int().describe('Number of the first event of the chunk'),
  last: z.int(),
  fromMs: z.int().describe('Time of the earliest event by the clock of the browser'),
  toMs: z.int(),
  hasSnapshot: z.boolean().describe('Whether the chunk begins with a complete picture of the page'),
  masked: z.int().describe('Values that the page had not masked'),
  data: z.string().max(maxReplayChunkBytes).describe('JSON list of events of rrweb, compressed with zstd, as base64'),
});
export type ReplayChunk = z.output<typeof ReplayChunk>;
