/** Reads a request's body into memory under a cap. */
import type { IncomingMessage } from 'node:http';
import type { InFlight } from './in-flight.ts';

export interface BodyOutcome {
  /** The body is complete. Its bytes stay counted as held until they are released. */
  whole(body: Buffer): void;
  /** The body went on beyond the cap; here is what lies below it, held as well. */
  tooLarge(beginning: Buffer): void;
  /** No memory for it now. */
  noMemory(): void;
}

const joined = (chunks: readonly Buffer[], size: number): Buffer => {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined && first.length === size ? first : Buffer.concat(chunks, size);
};

const ignore = (): void => undefined;

/** Calls exactly one of the outcomes, or none when the connection ends before the body does. */
export const readBody = (
  request: IncomingMessage,
  capBytes: number,
  inFlight: InFlight,
  outcome: BodyOutcome,
): void => {
  const chunks: Buffer[] = [];
  let size = 0;
  let settled = false;

  const settle = (): void => {
    settled = true;
    request.removeListener('data', take);
    // What comes after is read and dropped, so that the sender can finish and see the answer; a timeout bounds it.
    request.resume();
  };
  const take = (chunk: Buffer) => {
    const fits = Math.min(chunk.length, capBytes - size);
    if (!inFlight.hold(fits)) {
      inFlight.release(size);
      settle();
      return outcome.noMemory();
    }
    chunks.push(chunk);
    size += fits;
    if (fits === chunk.length) return;
    settle();
    outcome.tooLarge(joined(chunks, size));
  };

  request.on('data', take);
  request.on('end', () => {
    if (settled) return;
    settled = true;
    outcome.whole(joined(chunks, size));
  });
  request.on('close', () => {
    if (settled) return;
    settled = true;
    inFlight.release(size);
  });
  // A broken connection is told by `close`; without a listener it would end the process.
  request.on('error', ignore);
};
