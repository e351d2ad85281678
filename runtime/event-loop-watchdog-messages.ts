/** Data that the event loop and the thread that watches it share. */

/**
 * Name of the global function that the watchdog thread calls in the main thread while the loop is blocked. Expressions of
 * an inspector can access only global names.
 */
export const inspectionFunctionName = 'oiq.loop-watch';

/** Called with the last heartbeat that the thread read, and the milliseconds since then. */
export type InspectLoop = (heartbeat: bigint, silentMs: number) => void;

export interface WatchdogOptions {
  /** Time of the last heartbeat of the loop, in nanoseconds of `process.hrtime`. */
  readonly heartbeats: BigInt64Array;
  /** How long the loop must be blocked before the thread inspects it, and the interval of further inspections. */
  readonly blockedMs: number;
  readonly reportBeforeEndMs: number;
}
