/** Runs new rules over records stored before the rules existed, and emits matches. */
import { z } from 'zod';
import { QueryError } from '../../queries/errors.ts';
import { retroHunts } from '../../schemas/resources/retro-hunt.ts';
import { topics } from '../../schemas/topics.ts';
import { hunt } from '../../subjects/detections/retro-hunt.ts';
import { defineSchedule } from '../engine/schedule.ts';
import { tenantReading } from '../engine/tenant-reading.ts';
import { hunting, huntMs, landedAfterMs } from '../hunting.ts';

const Outcome = z.strictObject({
  status: z.enum(['finished', 'failed']),
  records: z.int(),
  signals: z.int(),
  isComplete: z.boolean(),
  message: z.string(),
});

const failed = (message: string): z.output<typeof Outcome> => ({
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
  ...hunting,
  collection: retroHunts,
  everyMs: ({ status }) => (status === 'running' ? 1000 : undefined),
  state: { version: 1, schema: Outcome.nullable(), empty: () => null },
  emits: { signals: topics.signals },
  async run(retroHunt, { tenantId, state, emit, signal, ports }) {
    const own = ports.documents.of(tenantId);
    if (state !== null) {
      await own.collection(retroHunts).update(retroHunt.id, state);
      return state;
    }
    if (Date.now() < retroHunt.toMs + landedAfterMs) return null;
    const reading = await tenantReading(ports, tenantId, Date.now());
    if (reading === undefined) return failed('the organization is disabled');
    try {
      const found = await hunt(retroHunt, { reading, own, tenantId, budgetMs: huntMs, signal });
      for (const each of found.signals) emit.signals(each);
      return { ...found, signals: found.signals.length, status: 'finished' as const, message: '' };
    } catch (error) {
      if (error instanceof QueryError) return failed(error.message);
      throw error;
    }
  },
});
