/**
 * One connection whose requests are plain: one read and one write each, where Node's HTTP takes two to three times the CPU
 * time of its own. The first request that is not plain goes to Node's HTTP server, with the connection and all that follows.
 */
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer, HttpCall } from './http-call.ts';
import type { InFlight } from './in-flight.ts';
import { Pieces } from './pieces.ts';
import { type PlainHead, plainHead } from './plain-head.ts';
import type { BodyOutcome } from './read-body.ts';

export interface PlainOptions {
  /** Who serves a plain head; `undefined` when it is for Node's server. */
  serves(head: PlainHead): ((call: HttpCall) => void) | undefined;
  /** Gives the socket to Node's server, everything that was not answered first. */
  handOver(socket: Socket): void;
  readonly keepAliveMs: number;
  /** For a first request to come, and for a body that has begun. */
  readonly firstMs: number;
  readonly bodyMs: number;
}

const dateOf = (now: number): string => new Date(now).toUTCString();
let second = 0;
let date = '';
/** The `Date` of an answer, RFC 9110 section 6.6.1. */
const today = (): string => {
  const now = Date.now();
  if (now - second < 1000 && now >= second) return date;
  second = now - (now % 1000);
  date = dateOf(second);
  return date;
};

const timedOut = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n';

export class PlainConnection {
  readonly peer: string | undefined;
  readonly #socket: Socket;
  readonly #options: PlainOptions;
  readonly #data = (chunk: Buffer): void => this.#take(chunk);
  readonly #close = (): void => this.#closed();
  /** In hand, until it is answered and its body is read. */
  #call: PlainCall | undefined;
  /** Of the body, what is still to come. */
  #left = 0;
  /** What came behind the call in hand. */
  #rest: Buffer | undefined;
  #isPaused = false;
  /** The last answer is given. */
  #isEnding = false;
  #deadlineAt: number;

  constructor(socket: Socket, options: PlainOptions) {
    this.#socket = socket;
    this.#options = options;
    this.peer = socket.remoteAddress;
    this.#deadlineAt = performance.now() + options.firstMs;
    socket.on('data', this.#data);
    socket.on('close', this.#close);
    // A connection that breaks is told by `close`.
    socket.on('error', ignore);
  }

  get isIdle(): boolean {
    return this.#call === undefined;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Ends what takes too long; a call that waits for its answer does not. */
  sweep(now: number): void {
    if (now < this.#deadlineAt || (this.#call !== undefined && this.#left === 0)) return;
    if (this.#call !== undefined) this.#socket.write(timedOut);
    this.#socket.destroy();
  }

  #take(chunk: Buffer) {
    if (this.#isEnding) return;
    let bytes = chunk;
    if (this.#rest !== undefined) {
      bytes = Buffer.concat([this.#rest, chunk]);
      this.#rest = undefined;
    }
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) at = this.#body(bytes, at);
      else if (this.#call !== undefined) {
        this.#rest = bytes.subarray(at);
        break;
      } else {
        const head = plainHead(bytes, at);
        const serve = head && this.#options.serves(head);
        if (head === undefined || serve === undefined) return this.#handOver(bytes.subarray(at));
        at = head.end;
        this.#begin(head, serve);
      }
    }
    if (this.#rest !== undefined || this.#call?.isWaited === true) this.#pause();
  }

  #begin({ headers, contentLength }: PlainHead, serve: (call: HttpCall) => void): void {
    this.#deadlineAt = performance.now() + this.#options.bodyMs;
    this.#left = contentLength;
    const call = new PlainCall(this, headers);
    this.#call = call;
    serve(call);
    if (contentLength === 0) call.end();
  }

  #body(bytes: Buffer, at: number): number {
    const length = Math.min(this.#left, bytes.length - at);
    this.#left -= length;
    this.#call?.data(bytes.subarray(at, at + length));
    if (this.#left === 0) this.#call?.end();
    return at + length;
  }

  #pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  /** The body is wanted now, or a next call. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  write({ status, headers, body }: Answer, last: boolean): void {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (const name of Object.keys(headers)) text += `${name}: ${headers[name]}\r\n`;
    text += `date: ${today()}\r\n`;
    text += last
      ? 'connection: close\r\n\r\n'
      : `connection: keep-alive\r\nkeep-alive: timeout=${this.#options.keepAliveMs / 1000}\r\n\r\n`;
    const socket = this.#socket;
    if (typeof body === 'object') {
      socket.cork();
      socket.write(text, 'latin1');
      socket.write(body);
      socket.uncork();
    } else if (body === undefined) socket.write(text, 'latin1');
    else socket.write(text + body, 'utf8');
    if (!last) return;
    this.#isEnding = true;
    socket.destroySoon();
  }

  /** The call in hand is answered and its body is read: the next one. */
  next(): void {
    this.#call = undefined;
    this.#deadlineAt = performance.now() + this.#options.keepAliveMs;
    this.resume();
    const rest = this.#rest;
    if (rest === undefined) return;
    this.#rest = undefined;
    this.#take(rest);
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    socket.off('data', this.#data);
    socket.off('close', this.#close);
    socket.off('error', ignore);
    socket.pause();
    socket.unshift(bytes);
    this.#options.handOver(socket);
    socket.resume();
  }

  #closed(): void {
    this.#rest = undefined;
    this.#call?.cut();
    this.#call = undefined;
  }
}

const ignore = (): void => undefined;

class PlainCall implements HttpCall {
  readonly headers: IncomingHttpHeaders;
  readonly #connection: PlainConnection;
  readonly #body = new Pieces();
  #over: (() => void) | undefined;
  #outcome: BodyOutcome | undefined;
  #inFlight: InFlight | undefined;
  #isRead = false;
  #isAnswered = false;

  constructor(connection: PlainConnection, headers: IncomingHttpHeaders) {
    this.#connection = connection;
    this.headers = headers;
  }

  get peer(): string | undefined {
    return this.#connection.peer;
  }

  /** Whether its body should not be read on yet: it is not known whether it is wanted. */
  get isWaited(): boolean {
    return !this.#isRead && !this.#isAnswered && this.#outcome === undefined;
  }

  onceOver(listener: () => void): void {
    this.#over = listener;
  }

  /** `capBytes` is kept already: what announces more is no plain request. */
  read(_capBytes: number, inFlight: InFlight, outcome: BodyOutcome) {
    if (this.#isAnswered) return;
    this.#inFlight = inFlight;
    this.#outcome = outcome;
    if (!inFlight.hold(this.#body.size)) return this.#noMemory();
    if (this.#isRead) outcome.whole(this.#body.joined());
    else this.#connection.resume();
  }

  data(chunk: Buffer) {
    if (this.#isAnswered) return;
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
    if (this.#isAnswered) this.#connection.next();
    else if (this.#inFlight !== undefined) this.#outcome?.whole(this.#body.joined());
  }

  answer(answer: Answer, last: boolean): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#connection.write(answer, last);
    this.#finish();
    if (this.#isRead) this.#connection.next();
    else this.#connection.resume();
  }

  /** The connection is gone. */
  cut(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    // A whole body is released by whom it was given to.
    if (!this.#isRead) this.#inFlight?.release(this.#body.size);
    this.#finish();
  }

  #finish(): void {
    this.#body.clear();
    this.#over?.();
  }
}
