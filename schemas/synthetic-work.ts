/** Protocol between a probe and the platform. */
import { z } from 'zod';
import { runFields } from './synthetic-runs.ts';

/** Name of a probe, unique in its location. */
export const ProbeName = z.string().regex(/^[\w.:-]{1,128}$/, 'must be letters, digits and ._:-, 128 at most');

export const ProbeVariable = z.strictObject({
  value: z.string(),
  hosts: z
    .array(z.string())
    .optional()
    .describe('Hosts to which a secret may be sent; absent for a variable that is not secret'),
});
export type ProbeVariable = z.output<typeof ProbeVariable>;

/** A check with its variables, in the form that probes receive. */
export const WorkItem = z.strictObject({
  check: z.looseObject({ id: z.string() }),
  variables: z.record(z.string(), ProbeVariable),
  requestId: z.string().optional().describe('ID of the request for a single unscheduled run'),
  requestedAtMs: z.int().optional().describe('Time of that request'),
});
export type WorkItem = z.output<typeof WorkItem>;

/** A check type that a location cannot run. */
export const UnsupportedType = z.strictObject({ type: z.string().min(1).max(32), reason: z.string().max(1024) });
export type UnsupportedType = z.output<typeof UnsupportedType>;

/** Status of a probe, sent with each request for work. */
export const ProbeReport = z.strictObject({
  unsupportedTypes: z.array(UnsupportedType).max(20).optional().describe('Check types that the probe cannot run'),
  clockAheadMs: z
    .int()
    .optional()
    .describe(
      'Milliseconds that the probe’s clock was ahead of the platform’s at the last response; negative if it was behind',
    ),
});
export type ProbeReport = z.output<typeof ProbeReport>;

/** Work of a probe. */
export const Work = z.strictObject({
  location: z.string(),
  atMs: z.int().describe('Current time of the platform'),
  probes: z.int().min(1).default(1).describe('Number of active probes of the location, which share its rate limits'),
  digest: z.string().describe('Digest of the checks, to send with the next request; unchanged checks are then omitted'),
  checks: z.array(WorkItem).nullable().describe('Checks; `null` if unchanged'),
  requestedRuns: z.array(WorkItem),
});
export type Work = z.output<typeof Work>;

/** A run whose first attempt failed, reported before the retry, so that the other locations run the check immediately. */
export const ProbeAlarm = z.strictObject({
  checkId: z.string().min(1).max(128),
  dueMs: z.int().min(0).describe('Due time of the run'),
});
export type ProbeAlarm = z.output<typeof ProbeAlarm>;

/** Maximum size of one screenshot. */
export const maxPictureBytes = 200 * 1024;

/** Screenshot of the page at the end of a run. */
export const ProbePicture = z.strictObject({
  checkId: z.string().min(1).max(128),
  dueMs: z.int().min(0),
  startedAtMs: z.int().min(0),
  outcome: z.enum(['passed', 'degraded', 'failed']),
  content: z
    .string()
    .max(Math.ceil(maxPictureBytes / 3) * 4)
    // Each JPEG begins with these characters.
    .regex(/^\/9j\/[A-Za-z0-9+/]*={0,2}$/, 'must be a JPEG in base64')
    .describe('JPEG in base64'),
});
export type ProbePicture = z.output<typeof ProbePicture>;

/** A result as a probe reports it. */
export const ProbeResult = z.strictObject({
  checkId: z.string().min(1).max(128),
  dueMs: z.int().min(0).describe('Due time of the run, or the request time of a requested run'),
  requestId: z.string().max(128).optional(),
  ...runFields,
});
export type ProbeResult = z.output<typeof ProbeResult>;
