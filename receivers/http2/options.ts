import type { FrameBudget } from './frame-budget.ts';

/** Limits for the peers of a server. */
export interface Http2Options {
  readonly maxConcurrentStreams: number;
  /** Flow-control windows: maximum bytes in transit per request, and per connection. */
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
  /** A larger header list is rejected with status 431. */
  readonly maxHeaderListBytes: number;
  /** Maximum size of a compressed header block; larger ones end the connection. */
  readonly maxBlockBytes: number;
  readonly maxBlockFrames: number;
  readonly controlFrameBudget: FrameBudget;
  /** Time limit for the preface with the first SETTINGS, and for completing a frame or a header block. */
  readonly receiveTimeoutMs: number;
}

export const defaultOptions: Http2Options = {
  maxConcurrentStreams: 256,
  streamWindowBytes: 4 * 1024 * 1024,
  connectionWindowBytes: 16 * 1024 * 1024,
  maxHeaderListBytes: 16 * 1024,
  maxBlockBytes: 64 * 1024,
  maxBlockFrames: 16,
  controlFrameBudget: { burst: 1_000, perSecond: 100 },
  receiveTimeoutMs: 10_000,
};
