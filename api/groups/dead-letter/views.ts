import { z } from 'zod';
import { timeParameter } from '../../../queries/time-parameters.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { signals } from '../../../schemas/telemetry-signals.ts';
import type { DeadLetter, DeadLetterView } from '../../../subjects/dead-letters/dead-letters.ts';
import type { ReplayJob, ReplayView } from '../../kernel/ports/dead-letters.ts';

export const toDeadLetterView = ({
  tenantId: _,
  place: __,
  ...deadLetter
}: DeadLetter): z.output<typeof DeadLetterView> => deadLetter;

/** Filters of lists and replays. */
export const filterFields = {
  signal: z.enum(signals).optional(),
  reason: z.string().min(1).max(128).optional(),
  kind: z.enum(['refused', 'unprocessable']).optional(),
  from: timeParameter.optional(),
  to: timeParameter.optional(),
};

export const toReplayView = ({
  version: _,
  createdAt: __,
  updatedAt: ___,
  filter: ____,
  ...job
}: ReplayJob & StoredMetadata): z.input<typeof ReplayView> => job;
