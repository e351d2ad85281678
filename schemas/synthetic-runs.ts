/** What probes tell of checks, and what follows from it. */
import { z } from 'zod';

export const runOutcomes = ['passed', 'degraded', 'failed', 'unknown'] as const;
/** Of a check, or of one of its locations. Maintenance is not among them: it is laid over them when they are read. */
export const checkStates = ['up', 'degraded', 'down', 'unknown'] as const;

const Milliseconds = z.number().min(0).max(86_400_000);
const Phases = z.record(z.string().max(32), Milliseconds);

/** One step of a run. */
export const SyntheticStep = z.strictObject({
  name: z.string().max(256),
  outcome: z.enum(runOutcomes),
  phases: Phases,
  message: z.string().max(8192),
  status: z.int().min(0).max(999).optional(),
  body: z.string().max(8192).optional().describe('Beginning of an answer that failed'),
});

/** What a run tells. */
export const runFields = {
  startedAtMs: z.int().min(0),
  outcome: z.enum(runOutcomes),
  attempts: z.int().min(1).max(10),
  durationMs: Milliseconds.describe('Of the last attempt, as phases and steps'),
  phases: Phases,
  steps: z.array(SyntheticStep).max(20),
  message: z.string().max(65_536),
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
};

/** One run of a check at a location. It is the run of its due time: a second one counts nothing. */
export const SyntheticRun = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  checkId: z.string(),
  location: z.string(),
  dueMs: z.int().min(0),
  acceptedMs: z.int().min(0),
  isManual: z.boolean().describe('Asked for by hand: in no state and no uptime'),
  ...runFields,
});
export type SyntheticRun = z.output<typeof SyntheticRun>;

/** From when on a check, or one of its locations, is in a state. */
export const SyntheticStateChange = z.strictObject({
  tenantId: z.string(),
  checkId: z.string(),
  location: z.string().describe('Empty for the check as a whole'),
  atMs: z.int().min(0),
  state: z.enum(checkStates),
});

/** States are kept for so long, whatever the plan keeps: reports compare two years. */
export const statesKeptDays = 800;
export const runsKeptDays = 90;
