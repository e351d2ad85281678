/** What jobs tell of themselves, and what the receivers tell beside it, as it lies on the bus. */
import { z } from 'zod';

/** What a beat says: a run began, ended well, or ended badly. */
export const heartbeatSignals = ['start', 'end', 'fail'] as const;

/** Characters of a beat's body that are kept. */
export const maxHeartbeatMessage = 8192;

const HeartbeatPing = z.strictObject({
  tenantId: z.string(),
  kind: z.literal('beat'),
  checkId: z.string(),
  projectId: z.string(),
  signal: z.enum(heartbeatSignals),
  exitCode: z.int().min(0).max(255).nullable().describe('Null where none was told'),
  runId: z.string().max(64).describe('Tells runs of a job apart; empty without one'),
  receivedMs: z.int().min(0),
  message: z.string().max(maxHeartbeatMessage),
});
export type HeartbeatPing = z.output<typeof HeartbeatPing>;

/**
 * Beats of the organization are taken at this time, and those before are in front of this. A beat is missed by these times alone: where
 * none were taken, or what was taken is not read yet, nothing is late.
 */
const HeartbeatTick = z.strictObject({ tenantId: z.string(), kind: z.literal('pulse'), receivedMs: z.int().min(0) });

export const SyntheticHeartbeat = z.discriminatedUnion('kind', [HeartbeatPing, HeartbeatTick]);
export type SyntheticHeartbeat = z.output<typeof SyntheticHeartbeat>;

/** How often receivers say that they take beats. */
export const heartbeatTickMs = 5000;
/** Where they say nothing for longer, beats may have been refused. */
export const quietMs = 12_000;
