/** What the event loop and the thread that watches it share. */

/** The function of the main thread that the thread calls while the loop is blocked. Expressions of an inspector see global names only. */
export const probeName = 'oiq.loop-watch';

/** Called with the beat that the thread saw last, and for how long there has been no other. */
export type Probe = (heartbeat: bigint, silentMs: number) => void;

export interface WatchStart {
  /** When the loop last went on, in nanoseconds of `process.hrtime`. */
  readonly heartbeats: BigInt64Array;
  /** How long the loop stands still before the thread looks at it, and looks again. */
  readonly blockedMs: number;
  readonly longMs: number;
}
