/** Prepares one large body at a time off the main thread, so that no request delays the others. */
import { isMarkedAsUntransferable, parentPort } from 'node:worker_threads';
import { TooLargeError } from '../schemas/compression.ts';
import { PermanentError } from '../schemas/errors.ts';
import type { Failure, Job, JobResult } from './engine/offload.ts';
import { prepareBody } from './engine/prepare.ts';
import { joinParts } from './engine/request-body.ts';
import { requireFormat } from './registry.ts';

const toFailure = (error: unknown): Failure => {
  if (error instanceof TooLargeError) return { kind: 'too-large', limitBytes: error.maxBytes };
  if (error instanceof PermanentError) {
    const { reason, message, position, decompressedBytes } = error;
    return { kind: 'permanent', reason, message, position, decompressedBytes };
  }
  return { kind: 'other', message: error instanceof Error ? error.message : 'the body could not be read' };
};

/** Returns the buffers that can be transferred without copying, each once. Node's shared pool cannot be transferred. */
const listTransferables = (views: readonly Uint8Array[]): ArrayBuffer[] => {
  const buffers = new Set<ArrayBuffer>();
  for (const { buffer } of views)
    if (buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer)) buffers.add(buffer);
  return [...buffers];
};

parentPort?.on('message', ({ format, parts, limitBytes, ...options }: Job) => {
  const body = joinParts(parts);
  try {
    const shape = { ...options, format: requireFormat(format) };
    const prepared = prepareBody(shape, body, limitBytes);
    const result: JobResult = { prepared, body };
    const views = [
      body,
      ...[prepared, ...prepared.additional].flatMap(({ messageParts }) => messageParts.map(({ bytes }) => bytes)),
      ...prepared.rejectedParts.map((part) => part.body),
    ];
    parentPort?.postMessage(result, listTransferables(views));
  } catch (error) {
    const result: JobResult = { failure: toFailure(error), body };
    parentPort?.postMessage(result, listTransferables([body]));
  }
});
