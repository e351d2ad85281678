/** Interfaces through which handlers use dead letters. The group `dead-letter` implements them. */
import { z } from 'zod';
import type { DeadLetterHeaders } from '../../../schemas/dead-letter.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import type { DeadLetter, DeadLetterFilter } from '../../../subjects/dead-letters/dead-letters.ts';
import type { Transact } from '../../changes.ts';

/** A dead letter with its bytes as received (only their beginning when `headers.cut`). */
export interface DeadLetterPayload {
  readonly headers: DeadLetterHeaders;
  readonly bytes: Buffer;
}

/** Result for one dead letter. */
export interface DeadLetterResult {
  readonly id: string;
  readonly tenantId: string;
  readonly outcome: 'done' | 'already' | 'failed';
  /** Reason of the failure, as in `PermanentError` */
  readonly reason?: string;
  readonly message?: string;
}

/** Progress of a replay or a discard. Dead letters in `failed` stay open and are counted by reason. */
export interface Progress {
  readonly matched: number;
  /** Number of dead letters that this run replayed or discarded; in a dry run, the number that it would. */
  readonly done: number;
  /** Number marked by another request in the meantime */
  readonly already: number;
  readonly failed: number;
  readonly failedByReason: Readonly<Record<string, number>>;
}

export interface RunOptions {
  /** Actor who requests it; stored in the marks */
  readonly actor: string;
  /** Does everything except publishing and marking. */
  readonly dryRun?: boolean;
  /** Called after every chunk of dead letters, with their results */
  readonly onProgress?: (progress: Progress, results: readonly DeadLetterResult[]) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** Lists, reads, replays and discards dead letters; for the API and the command line. */
export interface DeadLetters {
  /** Newest first. */
  list(
    filter: DeadLetterFilter,
    page?: { readonly limit?: number; readonly cursor?: string | undefined; readonly signal?: AbortSignal },
  ): Promise<{ items: DeadLetter[]; nextCursor: string | null }>;
  /** Returns `undefined` for a missing dead letter; `payload` is absent when its bytes are no longer stored. */
  show(
    id: string,
    tenantId?: string,
    signal?: AbortSignal,
  ): Promise<{ deadLetter: DeadLetter; payload: DeadLetterPayload | undefined } | undefined>;
  /**
   * Processes matching open dead letters again. A message and its mark are published in one transaction, so a replayed
   * dead letter is never replayed again, even by concurrent replays.
   */
  replay(filter: DeadLetterFilter, options: RunOptions): Promise<Progress>;
  /** Marks matching open dead letters as discarded, so that they are never replayed. */
  discard(filter: DeadLetterFilter, options: RunOptions): Promise<Progress>;
  close(): Promise<void>;
}

/** A replay with its progress and a result per payload */
export const ReplayView = z.strictObject({
  id: z.string(),
  state: z.enum(['running', 'finished', 'failed', 'stopped']),
  dryRun: z.boolean(),
  actor: z.string(),
  startedAt: z.string(),
  finishedAt: z.string().nullable(),
  error: z.string().nullable(),
  matched: z.int(),
  done: z.int().describe('Number of replayed dead letters; in a dry run, the number that would be replayed'),
  already: z.int().describe('Number replayed or discarded by another request in the meantime'),
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

/** A replay requested through the API; stored, so that any instance can return its progress. */
export interface ReplayJob extends Omit<z.output<typeof ReplayView>, 'id'> {
  /** Filter of the dead letters; an instance that continues an abandoned replay needs it. */
  readonly filter?: DeadLetterFilter | undefined;
}

export interface ReplayJobs {
  /** Records that a replay begins, starts it, and returns when it has ended or after a short wait, whichever comes first. */
  start(
    tenantId: string,
    filter: DeadLetterFilter,
    options: { actor: string; dryRun: boolean; change: Transact },
  ): Promise<ReplayJob & StoredMetadata>;
  find(tenantId: string, id: string): Promise<(ReplayJob & StoredMetadata) | undefined>;
  /** Waits until each replay has finished its current chunk. */
  stop(): Promise<void>;
}
