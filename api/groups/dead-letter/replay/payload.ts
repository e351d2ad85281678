import { type DeadLetterHeaders, decodeDeadLetter } from '../../../../schemas/dead-letter.ts';
import { PermanentError } from '../../../../schemas/errors.ts';
import type { Bus } from '../../../../schemas/ports/bus.ts';
import { topics } from '../../../../schemas/topics.ts';
import type { DeadLetter } from '../../../../subjects/dead-letters/dead-letters.ts';
import type { DeadLetterPayload } from '../../../kernel/ports/dead-letters.ts';

/**
 * Reads the records that may contain the chunks of a dead letter. Chunks are usually adjacent; if another producer wrote
 * in between, they are found after the expected end.
 */
async function* readRecords(bus: Bus, { partition, offset, chunks }: DeadLetter['place'], end: number) {
  const expectedEnd = Math.min(offset + chunks, end);
  yield* bus.read(topics.deadLetter.name, partition, offset, expectedEnd);
  if (expectedEnd < end) yield* bus.read(topics.deadLetter.name, partition, expectedEnd, end);
}

/** Joins the chunks of a dead letter. Throws `PermanentError` (`gone`) when the topic no longer has them. */
export const readPayload = async (
  bus: Bus,
  { id, place }: Pick<DeadLetter, 'id' | 'place'>,
  signal?: AbortSignal,
): Promise<DeadLetterPayload> => {
  const createExpiredError = (): PermanentError =>
    new PermanentError('gone', `the payload of dead letter ${id} is no longer on the dead-letter topic`);
  const retainedRange = (await bus.offsets(topics.deadLetter.name)).find(
    ({ partition }) => partition === place.partition,
  );
  if (retainedRange === undefined || retainedRange.earliest > place.offset || retainedRange.end <= place.offset)
    throw createExpiredError();
  const chunks: Buffer[] = [];
  let headers: DeadLetterHeaders | undefined;
  let foundCount = 0;
  for await (const record of readRecords(bus, place, retainedRange.end)) {
    signal?.throwIfAborted();
    const chunk = decodeDeadLetter(record.headers);
    if (chunk.id !== id || chunks[chunk.chunk] !== undefined) continue;
    headers ??= chunk;
    chunks[chunk.chunk] = record.value;
    foundCount++;
    if (foundCount === place.chunks) break;
  }
  if (headers === undefined || foundCount !== place.chunks) throw createExpiredError();
  return { headers, bytes: Buffer.concat(chunks) };
};
