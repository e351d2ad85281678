/** Reads a request's body into memory under a cap. */
import type { IncomingMessage } from 'node:http';
import type { InFlight } from './in-flight.ts';
import { Pieces } from './pieces.ts';

export interface BodyOutcome {
  /** The body is complete. Its bytes stay counted as held until they are released. */
  whole(body: Buffer): void;
  /** The body went on beyond the cap; here is what lies below it, held as well. */
  tooLarge(beginning: Buffer): void;
  /** No memory for it now. */
  noMemory(): void;
}

const ignore = (): void => undefined;

/** Calls exactly one of the outcomes, or none when the connection ends before the body does. */
export const readBody = (
  request: IncomingMessage,
  capBytes: number,
  inFlight: InFlight,
  outcome: BodyOutcome,
): void => {
  const pieces = new Pieces();
  let settled = false;

  const settle = (): void => {
    settled = true;
    request.removeListener('data', take);
    // What comes after is read and dropped, so that the sender can finish and see the answer; a timeout bounds it.
    request.resume();
  };
  const take = (chunk: Buffer) => {
    const fits = Math.min(chunk.length, capBytes - pieces.size);
    if (!inFlight.hold(fits)) {
      inFlight.release(pieces.size);
      settle();
      return outcome.noMemory();
    }
    pieces.add(fits === chunk.length ? chunk : chunk.subarray(0, fits));
    if (fits === chunk.length) return;
    settle();
    outcome.tooLarge(pieces.joined());
  };

  request.on('data', take);
  request.on('end', () => {
    if (settled) return;
    settled = true;
    outcome.whole(pieces.joined());
  });
  request.on('close', () => {
    if (settled) return;
    settled = true;
    inFlight.release(pieces.size);
  });
  // A broken connection is told by `close`; without a listener it would end the process.
  request.on('error', ignore);
};
