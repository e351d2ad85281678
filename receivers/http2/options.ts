import type { FrameBudget } from './frame-budget.ts';

/** Limits for the peers of a server. */
export interface Http2Options {
  readonly maxConcurrentStreams: number;
  /** Bytes of a request that may be under way, and of all requests of a connection together. */
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
  /** A list above it is answered 431. */
  readonly maxHeaderListBytes: number;
  /** A header block as sent, compressed: above these the connection ends. */
  readonly maxBlockBytes: number;
  readonly maxBlockFrames: number;
  readonly freeFrames: FrameBudget;
  /** For the preface with the first SETTINGS, and for a frame or header block that has begun. */
  readonly handshakeMs: number;
}

export const defaultOptions: Http2Options = {
  maxConcurrentStreams: 256,
  streamWindowBytes: 4 * 1024 * 1024,
  connectionWindowBytes: 16 * 1024 * 1024,
  maxHeaderListBytes: 16 * 1024,
  maxBlockBytes: 64 * 1024,
  maxBlockFrames: 16,
  freeFrames: { burst: 1_000, perSecond: 100 },
  handshakeMs: 10_000,
};
