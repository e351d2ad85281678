/** Evaluates expressions in a worker. It blocks while it waits for points, so that evaluation is synchronous code. */
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { mergeAdditionalSeries } from '../additional-series.ts';
import { readBlockSeries } from '../fetch/block-series.ts';
import { evaluate, listSelections, parse } from '../index.ts';
import type { Selection, Series } from '../series.ts';
import { PromqlExecutionError, PromqlSyntaxError } from '../syntax/errors.ts';
import type { BlockReply, BlockRequest, EvaluationReply, EvaluationRequest } from './messages.ts';

/** Thrown if points cannot be read; the main thread has the reason. */
class ReadFailedError extends Error {}

/** Requests the next block of a selection and waits for it. */
const requestNextBlock = (port: MessagePort, replyFlag: Int32Array, selection: number): BlockReply => {
  Atomics.store(replyFlag, 0, 0);
  port.postMessage({ selectionIndex: selection } satisfies BlockRequest);
  Atomics.wait(replyFlag, 0, 0);
  const receivedMessage = receiveMessageOnPort(port) as { readonly message: BlockReply } | undefined;
  return receivedMessage?.message ?? { hasFailed: true };
};

const readSeries = function* (
  { port, replyFlag }: { readonly port: MessagePort; readonly replyFlag: Int32Array },
  index: number,
  selection: Selection,
): Iterable<Series> {
  for (;;) {
    const blockReply = requestNextBlock(port, replyFlag, index);
    if ('hasFailed' in blockReply) throw new ReadFailedError();
    if ('isEnd' in blockReply) return;
    yield* readBlockSeries(blockReply.block, selection, selection.matchers);
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
    const replyChannel = { port, replyFlag: new Int32Array(hasReplyFlag) };
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
    if (error instanceof ReadFailedError) return { id, hasReadFailed: true };
    const isSyntaxError = error instanceof PromqlSyntaxError;
    if (!isSyntaxError && !(error instanceof PromqlExecutionError)) throw error;
    return { id, failure: { type: isSyntaxError ? 'bad_data' : 'execution', message: error.message } };
  } finally {
    port.close();
  }
};

/**
 * Returns the buffers of a reply that can be transferred to the receiver. Columns that are only part of a larger
 * buffer are omitted and therefore copied.
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
