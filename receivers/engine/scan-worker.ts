/** Prepares one large body at a time off the main thread, so that no request keeps the others waiting. */
import { isMarkedAsUntransferable, parentPort } from 'node:worker_threads';
import { TooLargeError } from '../../schemas/compression.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { type Prepared, prepare, type Shape } from './prepare.ts';

export interface Job {
  readonly shape: Shape;
  readonly body: Uint8Array;
  readonly capBytes: number;
}

/** The body comes back with the answer: its memory was lent and not copied. */
export type JobResult =
  | { readonly prepared: Prepared; readonly body: Uint8Array }
  | { readonly failure: Failure; readonly body: Uint8Array };

/** An error as it crosses threads. */
export type Failure =
  | {
      readonly kind: 'permanent';
      readonly reason: string;
      readonly message: string;
      readonly position: number | undefined;
    }
  | { readonly kind: 'too-large'; readonly capBytes: number }
  | { readonly kind: 'other'; readonly message: string };

const failureOf = (error: unknown): Failure => {
  if (error instanceof TooLargeError) return { kind: 'too-large', capBytes: error.capBytes };
  if (error instanceof PermanentError)
    return { kind: 'permanent', reason: error.reason, message: error.message, position: error.position };
  return { kind: 'other', message: error instanceof Error ? error.message : 'the body could not be read' };
};

/** Buffers that may be handed over without copying, each once; Node's shared pool may not. */
const transferable = (views: readonly Uint8Array[]): ArrayBuffer[] => {
  const buffers = new Set<ArrayBuffer>();
  for (const { buffer } of views)
    if (buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer)) buffers.add(buffer);
  return [...buffers];
};

parentPort?.on('message', ({ shape, body, capBytes }: Job) => {
  try {
    const prepared = prepare(shape, Buffer.from(body.buffer, body.byteOffset, body.byteLength), capBytes);
    const result: JobResult = { prepared, body };
    parentPort?.postMessage(result, transferable([body, ...prepared.pieces.map(({ bytes }) => bytes)]));
  } catch (error) {
    const result: JobResult = { failure: failureOf(error), body };
    parentPort?.postMessage(result, transferable([body]));
  }
});
