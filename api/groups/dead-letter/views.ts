import { z } from 'zod';
import { timeParameter } from '../../../queries/time.ts';
import type { Stored } from '../../../schemas/ports/documents.ts';
import { signals } from '../../../schemas/topics.ts';
import type { ReplayJob } from '../../dead-letters/replay-jobs.ts';
import type { DeadLetter } from '../../dead-letters/rows.ts';

/** A dead letter as answers carry it. */
export const DeadLetterView = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  keyId: z.string(),
  signal: z.string(),
  origin: z.string(),
  kind: z.string().describe('refused (by a receiver) or unprocessable (by a consumer)'),
  reason: z.string(),
  message: z.string(),
  position: z.number().nullable().describe('Byte position of the error in the decompressed body'),
  receivedAt: z.iso.datetime(),
  source: z.string(),
  size: z.number(),
  cut: z.boolean(),
  state: z.enum(['open', 'replayed', 'discarded']),
  markedAt: z.iso.datetime().nullable(),
  actor: z.string().nullable(),
});

export const viewOf = ({ tenantId: _, place: __, ...letter }: DeadLetter): z.output<typeof DeadLetterView> => letter;

/** Restrictions that lists and replays share. */
export const filterFields = {
  signal: z.enum(signals).optional(),
  reason: z.string().min(1).max(128).optional(),
  kind: z.enum(['refused', 'unprocessable']).optional(),
  from: timeParameter.optional(),
  to: timeParameter.optional(),
};

/** A replay with its progress and a result per payload. */
export const ReplayView = z.strictObject({
  id: z.string(),
  state: z.enum(['running', 'finished', 'failed', 'stopped']),
  dryRun: z.boolean(),
  actor: z.string(),
  startedAt: z.string(),
  finishedAt: z.string().nullable(),
  error: z.string().nullable(),
  matched: z.int(),
  done: z.int().describe('Number replayed; in a dry run, the number that would be'),
  already: z.int().describe('Number that were replayed or discarded by another request meanwhile'),
  failed: z.int(),
  failedByReason: z.record(z.string(), z.int()),
  results: z.array(
    z.strictObject({
      id: z.string(),
      outcome: z.enum(['done', 'already', 'failed']),
      reason: z.string().optional(),
      message: z.string().optional(),
    }),
  ),
});

export const replayViewOf = ({
  version: _,
  createdAt: __,
  updatedAt: ___,
  filter: ____,
  ...job
}: ReplayJob & Stored): z.input<typeof ReplayView> => ({
  ...job,
  failedByReason: { ...job.failedByReason },
  results: [...job.results],
});
