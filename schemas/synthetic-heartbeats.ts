/** Heartbeats that jobs report, and the ticks that receivers add, as messages of the bus. */
import { z } from 'zod';

/** Signals of a heartbeat: a run started, succeeded, or failed. */
export const heartbeatSignals = ['start', 'end', 'fail'] as const;

/** Maximum number of stored characters of a heartbeat's body. */
export const maxHeartbeatMessage = 8192;

const HeartbeatPing = z.strictObject({
  tenantId: z.string(),
  kind: z.literal('beat'),
  checkId: z.string(),
  projectId: z.string(),
  signal: z.enum(heartbeatSignals),
  exitCode: z.int().min(0).max(255).nullable().describe('Exit code; `null` if none was reported'),
  runId: z.string().max(64).describe('Run ID that distinguishes the runs of a job; empty without one'),
  receivedMs: z.int().min(0),
  message: z.string().max(maxHeartbeatMessage),
});
export type HeartbeatPing = z.output<typeof HeartbeatPing>;

/**
 * Confirms that the organization's heartbeats are accepted at this time: earlier heartbeats precede this message. Only
 * these times determine missed heartbeats. While no heartbeats are accepted, or accepted heartbeats are unread, no heartbeat is late.
 */
const HeartbeatTick = z.strictObject({ tenantId: z.string(), kind: z.literal('pulse'), receivedMs: z.int().min(0) });

export const SyntheticHeartbeat = z.discriminatedUnion('kind', [HeartbeatPing, HeartbeatTick]);
export type SyntheticHeartbeat = z.output<typeof SyntheticHeartbeat>;

/** Interval in which receivers confirm that they accept heartbeats. */
export const heartbeatTickMs = 5000;
/** After this time without confirmation, heartbeats may have been rejected. */
export const maxSilenceMs = 12_000;
