/** Evaluates expressions in a worker. It blocks while it waits for points, so that evaluation is synchronous code. */
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { mergeAdditionalSeries } from '../added.ts';
import { readBlockSeries } from '../fetch/series-of-piece.ts';
import { evaluate, listSelections, parse } from '../index.ts';
import type { Selection, Series } from '../series.ts';
import { PromqlExecutionError, PromqlSyntaxError } from '../syntax/errors.ts';
import type { BlockReply, EvaluationReply, EvaluationRequest } from './messages.ts';

/** Thrown if points cannot be read; the main thread has the reason. */
class ReadFailedError extends Error {}

/** Returns the next piece of a selection. */
const requestNextBlock = (port: MessagePort, answered: Int32Array, selection: number): BlockReply => {
  Atomics.store(answered, 0, 0);
  port.postMessage({ selection });
  Atomics.wait(answered, 0, 0);
  const received = receiveMessageOnPort(port) as { readonly message: BlockReply } | undefined;
  return received?.message ?? { failed: true };
};

const readSeries = function* (
  { port, answered }: { readonly port: MessagePort; readonly answered: Int32Array },
  index: number,
  selection: Selection,
): Iterable<Series> {
  for (;;) {
    const blockReply = requestNextBlock(port, answered, index);
    if ('failed' in blockReply) throw new ReadFailedError();
    if ('ended' in blockReply) return;
    yield* readBlockSeries(blockReply.piece, selection, selection.matchers);
  }
};

const evaluateRequest = ({
  id,
  expression,
  window,
  features,
  additionalSeries,
  port,
  hasReplyFlag,
}: EvaluationRequest): EvaluationReply => {
  try {
    const parsed = parse(expression, features.syntax);
    const selections = listSelections(parsed, window, features.engine);
    const replyChannel = { port, answered: new Int32Array(hasReplyFlag) };
    return {
      id,
      result: evaluate(
        parsed,
        window,
        (index) => {
          const selection = selections[index] as Selection;
          return mergeAdditionalSeries(readSeries(replyChannel, index, selection), selection, additionalSeries);
        },
        undefined,
        features.engine,
      ),
    };
  } catch (error) {
    if (error instanceof ReadFailedError) return { id, readFailed: true };
    const isSyntaxError = error instanceof PromqlSyntaxError;
    if (!isSyntaxError && !(error instanceof PromqlExecutionError)) throw error;
    return { id, failure: { type: isSyntaxError ? 'bad_data' : 'execution', message: error.message } };
  } finally {
    port.close();
  }
};

/**
 * Returns the buffers of an answer that can be transferred to the receiver. Columns that are only a part of a larger
 * buffer are not included; they are copied.
 */
const collectTransferables = (reply: EvaluationReply): ArrayBuffer[] => {
  if (!('result' in reply) || reply.result.value.type !== 'matrix') return [];
  const buffers = new Set<ArrayBuffer>();
  for (const { times, values } of reply.result.value.series)
    for (const { buffer, byteLength } of [times, values])
      if (byteLength > 0 && buffer.byteLength === byteLength) buffers.add(buffer as ArrayBuffer);
  return [...buffers];
};

parentPort?.on('message', (request: EvaluationRequest) => {
  const reply = evaluateRequest(request);
  parentPort?.postMessage(reply, collectTransferables(reply));
});
