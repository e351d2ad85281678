/** A request over HTTP/1.1 and its answer to be, whatever reads it off its socket. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { InFlight } from './in-flight.ts';
import { type BodyOutcome, readBody } from './read-body.ts';

/** An answer as it is sent. */
export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Buffer | undefined;
}

export interface HttpCall {
  readonly headers: IncomingHttpHeaders;
  /** Address of the other end of the connection. */
  readonly peer: string | undefined;
  /** Calls back once, when it is answered or its connection is gone. */
  onceOver(listener: () => void): void;
  /** Reads the body, calling exactly one of the outcomes, or none when the connection ends before the body does. */
  read(capBytes: number, inFlight: InFlight, outcome: BodyOutcome): void;
  /** Answers, once. The connection is closed behind the `last` one. */
  answer(answer: Answer, last: boolean): void;
}

/** A call that Node's own server has read. */
export class NodeCall implements HttpCall {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  get peer(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  onceOver(listener: () => void): void {
    this.#response.on('close', listener);
  }

  read(capBytes: number, inFlight: InFlight, outcome: BodyOutcome): void {
    if (this.#request.headers.expect !== undefined) this.#response.writeContinue();
    readBody(this.#request, capBytes, inFlight, outcome);
  }

  answer({ status, headers, body }: Answer, last: boolean): void {
    const response = this.#response;
    if (response.destroyed || response.headersSent) return;
    if (last) response.shouldKeepAlive = false;
    response.writeHead(status, headers);
    response.end(body);
  }
}
