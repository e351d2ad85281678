/** What a location and the platform say to each other. */
import { z } from 'zod';
import { runFields } from './synthetic-runs.ts';

/** Names a probe among those of its location. */
export const ProbeName = z.string().regex(/^[\w.:-]{1,128}$/, 'must be letters, digits and ._:-, 128 at most');

export const ProbeVariable = z.strictObject({
  value: z.string(),
  hosts: z.array(z.string()).optional().describe('Where a secret may be sent; absent for what is none'),
});
export type ProbeVariable = z.output<typeof ProbeVariable>;

/** A check as a probe has it, with the variables that it uses. */
export const WorkItem = z.strictObject({
  check: z.looseObject({ id: z.string() }),
  variables: z.record(z.string(), ProbeVariable),
  requestId: z.string().optional().describe('It is asked for off the schedule, once'),
  requestedAtMs: z.int().optional().describe('When it was'),
});
export type WorkItem = z.output<typeof WorkItem>;

/** A type of check that a location cannot run. */
export const Inability = z.strictObject({ type: z.string().min(1).max(32), reason: z.string().max(1024) });
export type Inability = z.output<typeof Inability>;

/** What a probe tells of itself with each question for work. */
export const ProbeReport = z.strictObject({
  unsupportedTypes: z.array(Inability).max(20).optional().describe('Types of checks that it cannot run'),
  clockAheadMs: z
    .int()
    .optional()
    .describe('What its clock is ahead of the platform’s, as it saw with the last answer; negative: behind'),
});
export type ProbeReport = z.output<typeof ProbeReport>;

/** What a probe is to do. */
export const Work = z.strictObject({
  location: z.string(),
  atMs: z.int().describe('The platform’s clock'),
  probes: z
    .int()
    .min(1)
    .default(1)
    .describe('Probes of the location that are heard from, which share what it may send'),
  digest: z.string().describe('Sent with the next request, checks are left out while they are the same'),
  checks: z.array(WorkItem).nullable().describe('Null: as before'),
  requestedRuns: z.array(WorkItem),
});
export type Work = z.output<typeof Work>;

/** A run that failed at its first attempt, told before it is tried again: the other locations try it at once. */
export const ProbeAlarm = z.strictObject({
  checkId: z.string().min(1).max(128),
  dueMs: z.int().min(0).describe('The due time of the run'),
});
export type ProbeAlarm = z.output<typeof ProbeAlarm>;

/** Of one picture. */
export const maxPictureBytes = 200 * 1024;

/** How the page of a run looked when it ended. */
export const ProbePicture = z.strictObject({
  checkId: z.string().min(1).max(128),
  dueMs: z.int().min(0),
  startedAtMs: z.int().min(0),
  outcome: z.enum(['passed', 'degraded', 'failed']),
  content: z
    .string()
    .max(Math.ceil(maxPictureBytes / 3) * 4)
    // As each JPEG begins.
    .regex(/^\/9j\/[A-Za-z0-9+/]*={0,2}$/, 'must be a JPEG in base64')
    .describe('A JPEG in base64'),
});
export type ProbePicture = z.output<typeof ProbePicture>;

/** A result as a probe tells it. */
export const ProbeResult = z.strictObject({
  checkId: z.string().min(1).max(128),
  dueMs: z.int().min(0).describe('The due time of the run; when it was asked for, of one that was'),
  requestId: z.string().max(128).optional(),
  ...runFields,
});
export type ProbeResult = z.output<typeof ProbeResult>;
