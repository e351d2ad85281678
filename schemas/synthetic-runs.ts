/** Results of synthetic checks from probes, and the derived states. */
import { z } from 'zod';

export const runOutcomes = ['passed', 'degraded', 'failed', 'unknown'] as const;
/** States of a check, or of one of its locations. Maintenance is not a state: it is applied when states are read. */
export const checkStates = ['up', 'degraded', 'down', 'unknown'] as const;

const Milliseconds = z.number().min(0).max(86_400_000);
const Phases = z.record(z.string().max(32), Milliseconds);

/**
 * Web vitals of a page: largest and first contentful paint, time to first byte (milliseconds), and cumulative layout
 * shift.
 */
export const webVitals = ['lcp', 'fcp', 'ttfb', 'cls'] as const;
export type WebVitals = Readonly<Partial<Record<(typeof webVitals)[number], number>>>;

/** A network request of a page */
const PageRequest = z.strictObject({
  method: z.string().max(32),
  url: z.string().max(1024),
  type: z.string().max(32).describe('Resource type: document, script, image, fetch …'),
  status: z.int().min(0).max(999).nullable().describe('HTTP status code; `null` if there was no response'),
  startMs: z.number().min(0).describe('Milliseconds from the start of the step'),
  durationMs: z
    .number()
    .min(0)
    .nullable()
    .describe('Duration in milliseconds; `null` if the request was unfinished at the end of the step'),
  bytes: z.int().min(0).nullable(),
  failure: z.string().max(256).optional(),
});

/** The page at the end of a browser step. */
export const StepPage = z.strictObject({
  url: z.string().max(2048),
  vitals: z.partialRecord(z.enum(webVitals), z.number().min(0)),
  requests: z.array(PageRequest).max(100).describe('Requests that started in the step'),
  leftOut: z.int().min(0).describe('Number of requests beyond the 100 that are stored per run'),
  errors: z
    .array(z.string().max(500))
    .max(20)
    .describe('Errors that scripts of the page threw or wrote to the console'),
});
export type StepPage = z.output<typeof StepPage>;

/** Certificate of a server */
const StepCertificate = z.strictObject({
  target: z.string().max(300).describe('Host and port that sent the certificate'),
  expiresAtMs: z.int(),
  issuer: z.string().max(1024),
  commonName: z.string().max(256),
  names: z.array(z.string().max(256)).max(50).describe('The first names for which the certificate is valid'),
});
export type StepCertificate = z.output<typeof StepCertificate>;

/** Result of one assertion of a step */
export const StepAssertion = z.strictObject({
  source: z.string().max(32),
  name: z.string().max(1024).optional(),
  operator: z.string().max(32),
  value: z.string().max(4096).optional().describe('Expected value, with its variables filled in'),
  outcome: z.enum(['passed', 'degraded', 'failed']),
  found: z.string().max(256).describe('Beginning of the observed value; empty if there is none'),
});
export type StepAssertion = z.output<typeof StepAssertion>;

/** Request and response of a step */
export const StepExchange = z.strictObject({
  method: z.string().max(32),
  url: z.string().max(4096).describe('URL of the last request, after redirects'),
  protocol: z.string().max(32),
  headers: z
    .record(z.string().max(256), z.string().max(512))
    .describe('First headers of the response; values of cookies are masked'),
  body: z.string().max(8192).describe('Beginning of the response'),
});
export type StepExchange = z.output<typeof StepExchange>;

/** One step of a run. */
export const SyntheticStep = z.strictObject({
  name: z.string().max(256),
  outcome: z.enum(runOutcomes),
  phases: Phases,
  message: z.string().max(8192),
  status: z.int().min(0).max(999).optional(),
  body: z.string().max(8192).optional().describe('Beginning of a failed response'),
  assertions: z.array(StepAssertion).max(51).optional(),
  exchange: StepExchange.optional().describe('Request and response of an HTTP step of a manual run'),
  certificate: StepCertificate.optional().describe('Certificate of an encrypted connection'),
  page: StepPage.optional().describe('Page of a browser step'),
});

/** Names of the phases of a run, in order. */
export const runPhases = ['lookup', 'connect', 'tls', 'send', 'wait', 'receive'] as const;

/** Result fields of a run. */
export const runFields = {
  startedAtMs: z.int().min(0),
  outcome: z.enum(runOutcomes),
  attempts: z.int().min(1).max(10),
  durationMs: Milliseconds.describe('Duration of the last attempt, like phases and steps'),
  phases: Phases,
  steps: z.array(SyntheticStep).max(40).describe('Steps, including one for each requested access token'),
  message: z.string().max(65_536),
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
};

/** One run of a check at a location, identified by its due time: a second run with the same due time is ignored. */
export const SyntheticRun = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  checkId: z.string(),
  location: z.string(),
  dueMs: z.int().min(0),
  acceptedMs: z.int().min(0),
  isManual: z.boolean().describe('Whether the run was started manually; such runs do not affect states and uptime'),
  checkName: z.string().default('').describe('Name of the check at the time of the run, as for type and labels'),
  checkType: z.string().default(''),
  labels: z.record(z.string(), z.string()).default({}),
  toldMs: z
    .int()
    .min(0)
    .optional()
    .describe('Time when the outcome was known, if that determines the state; for heartbeats'),
  ...runFields,
  traceId: z
    .string()
    .regex(/^(?:[0-9a-f]{32})?$/)
    .describe('Trace ID of the run; empty if nothing was run from this location'),
});
export type SyntheticRun = z.output<typeof SyntheticRun>;

/** Start of a state of a check, or of one of its locations. */
export const SyntheticStateChange = z.strictObject({
  tenantId: z.string(),
  checkId: z.string(),
  location: z.string().describe('Location; empty for the entire check'),
  atMs: z.int().min(0),
  state: z.enum(checkStates),
});

/** A location that fails, or failed recently, without a consensus */
const LocationVerdict = z.strictObject({
  location: z.string(),
  fails: z.boolean(),
  says: z.string().max(1024).describe('Description of the state, as part of a sentence'),
});

/** Verdict on a check for alert rules, at the time when it was known. */
export const SyntheticVerdict = z.strictObject({
  tenantId: z.string(),
  checkId: z.string(),
  judgedMs: z.int().min(0),
  state: z.enum(checkStates),
  isMaintenance: z.boolean().describe('Whether the time is in a maintenance window, regardless of the state'),
  says: z.string().max(2048).describe('Description of the state with location and start, as part of a sentence'),
  locations: z.array(LocationVerdict).max(50),
});
export type SyntheticVerdict = z.output<typeof SyntheticVerdict>;

/** Interval in which an unchanged verdict is repeated, so that the current one is found near the end of any range. */
export const verdictIntervalMs = 20 * 60_000;

/** Retention of states in days, regardless of the plan's retention: reports compare two years. */
export const statesRetentionDays = 800;
export const runsRetentionDays = 90;
