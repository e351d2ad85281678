import { type DeadLetterHeaders, decodeDeadLetter } from '../../schemas/dead-letter.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { topics } from '../../schemas/topics.ts';
import type { DeadLetter } from '../../subjects/dead-letters/dead-letters.ts';

/** A dead letter with its bytes as received (only their beginning when `headers.cut`). */
export interface Payload {
  readonly headers: DeadLetterHeaders;
  readonly bytes: Buffer;
}

/** Chunks follow one another, unless another producer wrote in between: what comes after them is seldom read. */
async function* recordsFrom(bus: Bus, { partition, offset, chunks }: DeadLetter['place'], end: number) {
  const behind = Math.min(offset + chunks, end);
  yield* bus.read(topics.deadLetter.name, partition, offset, behind);
  if (behind < end) yield* bus.read(topics.deadLetter.name, partition, behind, end);
}

/** Puts the chunks of a dead letter together again. `PermanentError` (`gone`) when the topic no longer keeps them. */
export const readPayload = async (
  bus: Bus,
  { id, place }: Pick<DeadLetter, 'id' | 'place'>,
  signal?: AbortSignal,
): Promise<Payload> => {
  const expiredError = (): PermanentError =>
    new PermanentError('gone', `the payload of dead letter ${id} is no longer on the dead-letter topic`);
  const retainedRange = (await bus.offsets(topics.deadLetter.name)).find(
    ({ partition }) => partition === place.partition,
  );
  if (retainedRange === undefined || retainedRange.earliest > place.offset || retainedRange.end <= place.offset)
    throw expiredError();
  const chunks: Buffer[] = [];
  let headers: DeadLetterHeaders | undefined;
  let found = 0;
  for await (const record of recordsFrom(bus, place, retainedRange.end)) {
    signal?.throwIfAborted();
    const chunk = decodeDeadLetter(record.headers);
    if (chunk.id !== id || chunks[chunk.chunk] !== undefined) continue;
    headers ??= chunk;
    chunks[chunk.chunk] = record.value;
    found++;
    if (found === place.chunks) break;
  }
  if (headers === undefined || found !== place.chunks) throw expiredError();
  return { headers, bytes: Buffer.concat(chunks) };
};
