/** Evaluates expressions in a worker. It blocks while it waits for points, so that evaluation is synchronous code. */
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { withAdded } from '../added.ts';
import { seriesOfPiece } from '../fetch/series-of-piece.ts';
import { evaluate, parse, selectionsOf } from '../index.ts';
import type { Selection, Series } from '../series.ts';
import { PromqlExecutionError, PromqlSyntaxError } from '../syntax/errors.ts';
import type { PieceReply, Reply, Request } from './messages.ts';

/** Thrown if points cannot be read; the main thread has the reason. */
class ReadFailed extends Error {}

/** Returns the next piece of a selection. */
const pieceOf = (port: MessagePort, answered: Int32Array, selection: number): PieceReply => {
  Atomics.store(answered, 0, 0);
  port.postMessage({ selection });
  Atomics.wait(answered, 0, 0);
  const received = receiveMessageOnPort(port) as { readonly message: PieceReply } | undefined;
  return received?.message ?? { failed: true };
};

const seriesOf = function* (
  { port, answered }: { readonly port: MessagePort; readonly answered: Int32Array },
  index: number,
  selection: Selection,
): Iterable<Series> {
  for (;;) {
    const given = pieceOf(port, answered, index);
    if ('failed' in given) throw new ReadFailed();
    if ('ended' in given) return;
    yield* seriesOfPiece(given.piece, selection, selection.matchers);
  }
};

const replyTo = ({ id, expression, window, features, added, port, answered }: Request): Reply => {
  try {
    const parsed = parse(expression, features.syntax);
    const selections = selectionsOf(parsed, window, features.engine);
    const waiting = { port, answered: new Int32Array(answered) };
    return {
      id,
      result: evaluate(
        parsed,
        window,
        (index) => {
          const selection = selections[index] as Selection;
          return withAdded(seriesOf(waiting, index, selection), selection, added);
        },
        undefined,
        features.engine,
      ),
    };
  } catch (error) {
    if (error instanceof ReadFailed) return { id, readFailed: true };
    const isFault = error instanceof PromqlSyntaxError;
    if (!isFault && !(error instanceof PromqlExecutionError)) throw error;
    return { id, failure: { type: isFault ? 'bad_data' : 'execution', message: error.message } };
  } finally {
    port.close();
  }
};

/**
 * Returns the columns of an answer to transfer to the receiver. Columns that are part of a larger buffer are copied.
 */
const columnsOf = (reply: Reply): ArrayBuffer[] => {
  if (!('result' in reply) || reply.result.value.type !== 'matrix') return [];
  const own = new Set<ArrayBuffer>();
  for (const { times, values } of reply.result.value.series)
    for (const { buffer, byteLength } of [times, values])
      if (byteLength > 0 && buffer.byteLength === byteLength) own.add(buffer as ArrayBuffer);
  return [...own];
};

parentPort?.on('message', (request: Request) => {
  const reply = replyTo(request);
  parentPort?.postMessage(reply, columnsOf(reply));
});
