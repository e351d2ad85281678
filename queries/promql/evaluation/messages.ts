/** What the main thread and a thread that evaluates say to each other. */
import type { MessagePort } from 'node:worker_threads';
import type { PromqlErrorType } from '../errors.ts';
import type { Piece } from '../fetch/pieces.ts';
import type { Evaluated } from '../index.ts';
import type { Series } from '../series.ts';
import type { Features } from '../settings.ts';

/** Evaluate this; pieces of its selections come over the port. */
export interface Request {
  readonly id: number;
  readonly expression: string;
  readonly window: EvaluationWindow;
  readonly features: Features;
  /** Samples that count as stored. */
  readonly added: readonly Series[];
  readonly port: MessagePort;
  /** Becomes 1 when the port has an answer. */
  readonly answered: SharedArrayBuffer;
}

/** Steps at which an expression is evaluated: an instant is a range of one. */
export interface EvaluationWindow {
  readonly startMs: number;
  readonly endMs: number;
  /** 0 for an instant. */
  readonly stepMs: number;
  readonly lookbackMs: number;
}

/** Over the port: the next piece of a selection is wanted. */
export interface PieceRequest {
  readonly selection: number;
}

/** Over the port: the piece, the end, or why it cannot be read. */
export type Given = { readonly piece: Piece } | { readonly ended: true } | { readonly failed: true };

export type Reply =
  | { readonly id: number; readonly result: Evaluated }
  | { readonly id: number; readonly failure: { readonly type: PromqlErrorType; readonly message: string } }
  /** The failure of a read, which the main thread knows. */
  | { readonly id: number; readonly readFailed: true };
