/** A call on a plain connection: its body as it comes, and its one answer. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Answer, HttpCall } from './http-call.ts';
import type { InFlight } from './in-flight.ts';
import { Pieces } from './pieces.ts';
import type { BodyOutcome } from './read-body.ts';

/** The connection, as far as its call in hand goes. */
interface Carrier {
  readonly peer: string | undefined;
  write(answer: Answer, last: boolean): void;
  /** The body is wanted now. */
  resume(): void;
  /** The call is answered and its body is read. */
  next(): void;
}

export class PlainCall implements HttpCall {
  readonly headers: IncomingHttpHeaders;
  readonly #connection: Carrier;
  readonly #body = new Pieces();
  #over: (() => void) | undefined;
  #outcome: BodyOutcome | undefined;
  #inFlight: InFlight | undefined;
  #isRead = false;
  isAnswered = false;

  constructor(connection: Carrier, headers: IncomingHttpHeaders) {
    this.#connection = connection;
    this.headers = headers;
  }

  get peer(): string | undefined {
    return this.#connection.peer;
  }

  /** Whether its body should not be read on yet: it is not known whether it is wanted. */
  get isWaited(): boolean {
    return !this.#isRead && !this.isAnswered && this.#outcome === undefined;
  }

  onceOver(listener: () => void): void {
    this.#over = listener;
  }

  /** `capBytes` is kept already: what announces more is no plain request. */
  read(_capBytes: number, inFlight: InFlight, outcome: BodyOutcome) {
    if (this.isAnswered) return;
    this.#inFlight = inFlight;
    this.#outcome = outcome;
    if (!inFlight.hold(this.#body.size)) return this.#noMemory();
    if (this.#isRead) outcome.whole(this.#body.joined());
    else this.#connection.resume();
  }

  data(chunk: Buffer) {
    if (this.isAnswered) return;
    const inFlight = this.#inFlight;
    if (inFlight !== undefined && !inFlight.hold(chunk.length)) {
      inFlight.release(this.#body.size);
      return this.#noMemory();
    }
    this.#body.add(chunk);
  }

  #noMemory(): void {
    this.#body.clear();
    this.#inFlight = undefined;
    this.#outcome?.noMemory();
  }

  end(): void {
    this.#isRead = true;
    if (this.isAnswered) this.#connection.next();
    else if (this.#inFlight !== undefined) this.#outcome?.whole(this.#body.joined());
  }

  answer(answer: Answer, last: boolean): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    this.#connection.write(answer, last);
    this.#finish();
    if (this.#isRead) this.#connection.next();
    else this.#connection.resume();
  }

  /** The rest of it will not come. */
  cut(): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    // A whole body is released by whom it was given to.
    if (!this.#isRead) this.#inFlight?.release(this.#body.size);
    this.#finish();
  }

  #finish(): void {
    this.#body.clear();
    this.#over?.();
  }
}
