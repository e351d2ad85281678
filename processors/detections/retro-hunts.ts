/** Runs new rules over records stored before the rules existed, and emits matches. */
import { z } from 'zod';
import { QueryError } from '../../queries/errors.ts';
import { retroHunts } from '../../schemas/resources/retro-hunt.ts';
import { topics } from '../../schemas/topics.ts';
import { runHunt } from '../../subjects/detections/retro-hunt.ts';
import { openTenantReader } from '../engine/open-tenant-reader.ts';
import { defineSchedule } from '../engine/schedule.ts';
import { huntScheduleOptions, maxHuntMs, storageDelayMs } from '../hunting.ts';

const Outcome = z.strictObject({
  status: z.enum(['finished', 'failed']),
  records: z.int(),
  signals: z.int(),
  isComplete: z.boolean(),
  message: z.string(),
});

const failedOutcome = (message: string): z.output<typeof Outcome> => ({
  status: 'failed',
  records: 0,
  signals: 0,
  isComplete: false,
  message,
});

/**
 * Schedule of retro hunts. Matches are emitted once with the state; the next run writes the outcome to the document.
 */
export const retroHunting = defineSchedule({
  name: 'retro-hunts',
  summary: 'Runs new detection rules over stored records.',
  ...huntScheduleOptions,
  collection: retroHunts,
  everyMs: ({ status }) => (status === 'running' ? 1000 : undefined),
  state: { version: 1, schema: Outcome.nullable(), empty: () => null },
  emits: { signals: topics.signals },
  async run(retroHunt, { tenantId, state, emit, signal, ports }) {
    const tenantDocuments = ports.documents.forTenant(tenantId);
    if (state !== null) {
      await tenantDocuments.collection(retroHunts).update(retroHunt.id, state);
      return state;
    }
    if (Date.now() < retroHunt.toMs + storageDelayMs) return null;
    const reader = await openTenantReader(ports, tenantId, Date.now());
    if (reader === undefined) return failedOutcome('the organization is disabled');
    try {
      const result = await runHunt(retroHunt, {
        reader,
        tenantDocuments: tenantDocuments,
        tenantId,
        budgetMs: maxHuntMs,
        signal,
      });
      for (const emittedSignal of result.signals) emit.signals(emittedSignal);
      return { ...result, signals: result.signals.length, status: 'finished' as const, message: '' };
    } catch (error) {
      if (error instanceof QueryError) return failedOutcome(error.message);
      throw error;
    }
  },
});
