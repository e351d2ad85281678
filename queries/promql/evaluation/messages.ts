/** Messages between the main thread and an evaluation thread. */
import type { MessagePort } from 'node:worker_threads';
import type { PromqlErrorType } from '../errors.ts';
import type { PointBlock } from '../fetch/point-blocks.ts';
import type { EvaluationResult } from '../index.ts';
import type { Series } from '../series.ts';
import type { Features } from '../settings.ts';

/** Request to evaluate an expression; the points of its selections are sent over the port, in parts. */
export interface EvaluationRequest {
  readonly id: number;
  readonly expression: string;
  readonly window: EvaluationWindow;
  readonly features: Features;
  /** Samples that are not stored yet, but are evaluated as if they were. */
  readonly additionalSeries: readonly Series[];
  readonly port: MessagePort;
  /** Becomes 1 when the port has a reply. */
  readonly hasReplyFlag: SharedArrayBuffer;
}

/** Steps at which an expression is evaluated: an instant is a range with one step. */
export interface EvaluationWindow {
  readonly startMs: number;
  readonly endMs: number;
  /** 0 for an instant. */
  readonly stepMs: number;
  readonly lookbackMs: number;
}

/** Sent over the port: a request for the next part of the points of a selection. */
export interface BlockRequest {
  readonly selectionIndex: number;
}

/** Sent over the port: a part of the points, the end, or a failed read. */
export type BlockReply = { readonly block: PointBlock } | { readonly isEnd: true } | { readonly hasFailed: true };

export type EvaluationReply =
  | { readonly id: number; readonly result: EvaluationResult }
  | { readonly id: number; readonly failure: { readonly type: PromqlErrorType; readonly message: string } }
  /** A read failed; the main thread has the error. */
  | { readonly id: number; readonly hasReadFailed: true };
