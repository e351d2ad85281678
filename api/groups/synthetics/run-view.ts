import { z } from 'zod';
import { runOutcomes, type SyntheticRun, SyntheticStep } from '../../../schemas/synthetic-runs.ts';

const phasesSchema = z.record(z.string(), z.number()).describe('Milliseconds; they add up to durationMs');

/** A run in API responses */
export const RunView = z.strictObject({
  id: z.string(),
  location: z.string(),
  dueAt: z.iso.datetime(),
  startedAt: z.iso.datetime(),
  isManual: z.boolean().describe('Whether it was started manually: it affects neither state nor uptime'),
  outcome: z.enum(runOutcomes),
  attempts: z.int(),
  durationMs: z.number().describe('Of the last attempt'),
  phases: phasesSchema,
  steps: z.array(SyntheticStep),
  message: z.string(),
  traceId: z.string(),
});

type RunFields = Pick<
  SyntheticRun,
  | 'location'
  | 'dueMs'
  | 'isManual'
  | 'startedAtMs'
  | 'outcome'
  | 'attempts'
  | 'durationMs'
  | 'phases'
  | 'steps'
  | 'message'
  | 'traceId'
>;

export const toRunView = (run: RunFields): z.input<typeof RunView> => ({
  id: `${run.location}-${run.dueMs}${run.isManual ? '-asked' : ''}`,
  location: run.location,
  dueAt: new Date(run.dueMs).toISOString(),
  startedAt: new Date(run.startedAtMs).toISOString(),
  isManual: run.isManual,
  outcome: run.outcome,
  attempts: run.attempts,
  durationMs: run.durationMs,
  phases: run.phases,
  steps: run.steps,
  message: run.message,
  traceId: run.traceId,
});
