/** What probes tell of checks, and what follows from it. */
import { z } from 'zod';

export const runOutcomes = ['passed', 'degraded', 'failed', 'unknown'] as const;
/** Of a check, or of one of its locations. Maintenance is not among them: it is laid over them when they are read. */
export const checkStates = ['up', 'degraded', 'down', 'unknown'] as const;

const Milliseconds = z.number().min(0).max(86_400_000);
const Phases = z.record(z.string().max(32), Milliseconds);

/** Of a page: largest and first contentful paint, time to the first byte (milliseconds), and cumulative layout shift. */
export const webVitals = ['lcp', 'fcp', 'ttfb', 'cls'] as const;
export type WebVitals = Readonly<Partial<Record<(typeof webVitals)[number], number>>>;

/** What a page asked the network for. */
const PageRequest = z.strictObject({
  method: z.string().max(32),
  url: z.string().max(1024),
  type: z.string().max(32).describe('document, script, image, fetch …'),
  status: z.int().min(0).max(999).nullable().describe('Null: there was no answer'),
  startMs: z.number().min(0).describe('From the begin of the step'),
  durationMs: z.number().min(0).nullable().describe('Null: it was not over when the step was'),
  bytes: z.int().min(0).nullable(),
  failure: z.string().max(256).optional(),
});

/** The page as it was when a step of a browser ended. */
export const SteppedPage = z.strictObject({
  url: z.string().max(2048),
  vitals: z.partialRecord(z.enum(webVitals), z.number().min(0)),
  requests: z.array(PageRequest).max(100).describe('That began in the step'),
  leftOut: z.int().min(0).describe('Requests beyond those; of a run 100 are kept'),
  errors: z.array(z.string().max(500)).max(20).describe('That scripts of the page threw, or wrote to the console'),
});
export type SteppedPage = z.output<typeof SteppedPage>;

/** What the certificate of a server said. */
const StepCertificate = z.strictObject({
  target: z.string().max(300).describe('Host and port that sent it'),
  expiresAtMs: z.int(),
  issuer: z.string().max(1024),
  commonName: z.string().max(256),
  names: z.array(z.string().max(256)).max(50).describe('The first of those that it is for'),
});
export type StepCertificate = z.output<typeof StepCertificate>;

/** One step of a run. */
export const SyntheticStep = z.strictObject({
  name: z.string().max(256),
  outcome: z.enum(runOutcomes),
  phases: Phases,
  message: z.string().max(8192),
  status: z.int().min(0).max(999).optional(),
  body: z.string().max(8192).optional().describe('Beginning of an answer that failed'),
  certificate: StepCertificate.optional().describe('Of an encrypted connection'),
  page: SteppedPage.optional().describe('Of a step of a browser'),
});

/** Names of the phases that runs may have, in their order. */
export const runPhases = ['lookup', 'connect', 'tls', 'send', 'wait', 'receive'] as const;

/** What a run tells. */
export const runFields = {
  startedAtMs: z.int().min(0),
  outcome: z.enum(runOutcomes),
  attempts: z.int().min(1).max(10),
  durationMs: Milliseconds.describe('Of the last attempt, as phases and steps'),
  phases: Phases,
  steps: z.array(SyntheticStep).max(40).describe('One more for each access token that was asked for'),
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
  checkName: z.string().default('').describe('As it was then; so are type and labels'),
  checkType: z.string().default(''),
  labels: z.record(z.string(), z.string()).default({}),
  toldMs: z.int().min(0).optional().describe('When its outcome was there, where that is what state goes by: of a beat'),
  ...runFields,
  traceId: z
    .string()
    .regex(/^(?:[0-9a-f]{32})?$/)
    .describe('Empty where nothing was run from here'),
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

/** A location that fails, or failed until lately, below the consensus. */
const LocationVerdict = z.strictObject({
  location: z.string(),
  fails: z.boolean(),
  says: z.string().max(1024).describe('What is so, in a part of a sentence'),
});

/** What alert rules ask of a check: how it was judged, as of when that was known. */
export const SyntheticVerdict = z.strictObject({
  tenantId: z.string(),
  checkId: z.string(),
  judgedMs: z.int().min(0),
  state: z.enum(checkStates),
  isMaintenance: z.boolean().describe('In a planned downtime, whatever its state is'),
  says: z.string().max(2048).describe('What is so, where and since when, in a part of a sentence'),
  locations: z.array(LocationVerdict).max(50),
});
export type SyntheticVerdict = z.output<typeof SyntheticVerdict>;

/** A verdict that stays the same is told again after so long, so that what holds is found near the end of any range. */
export const verdictIntervalMs = 20 * 60_000;

/** States are kept for so long, whatever the plan keeps: reports compare two years. */
export const statesRetentionDays = 800;
export const runsRetentionDays = 90;
