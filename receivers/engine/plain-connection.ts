/**
 * One connection whose requests are plain: one read and one write each, where Node's HTTP takes two to three times the CPU
 * time of its own. The first request that is not plain goes to Node's HTTP server, with the connection and all that follows.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer, HttpCall } from './http-call.ts';
import { PlainCall } from './plain-call.ts';
import { type PlainHead, plainHead } from './plain-head.ts';

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

let second = 0;
let date = '';
/** The `Date` of an answer, RFC 9110 section 6.6.1. */
const today = (): string => {
  const now = Date.now();
  if (now - second < 1000 && now >= second) return date;
  second = now - (now % 1000);
  date = new Date(second).toUTCString();
  return date;
};

const timedOut = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n';
const cutShort = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n';

export class PlainConnection {
  readonly peer: string | undefined;
  readonly #socket: Socket;
  readonly #options: PlainOptions;
  readonly #data = (chunk: Buffer): void => this.#take(chunk);
  readonly #end = (): void => this.#ended();
  readonly #close = (): void => this.#closed();
  readonly #drain = (): void => this.#drained();
  /** In hand, until it is answered and its body is read. */
  #call: PlainCall | undefined;
  /** Of the body, what is still to come. */
  #left = 0;
  /** What came behind the call in hand. */
  #rest: Buffer | undefined;
  #isPaused = false;
  /** The sender does not read its answers. */
  #isFull = false;
  /** Nothing is served behind the call in hand. */
  #isLast = false;
  /** The last answer is given. */
  #isEnding = false;
  #deadlineAt: number;

  constructor(socket: Socket, options: PlainOptions) {
    this.#socket = socket;
    this.#options = options;
    this.peer = socket.remoteAddress;
    this.#deadlineAt = performance.now() + options.firstMs;
    socket.on('data', this.#data);
    socket.on('end', this.#end);
    socket.on('close', this.#close);
    // A connection that breaks is told by `close`.
    socket.on('error', ignore);
  }

  /** Ends it, politely when there is a call in hand. */
  close(): void {
    this.#isLast = true;
    if (this.#call === undefined && !this.#isEnding) this.#socket.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Ends what takes too long; a call that waits for its answer does not. */
  sweep(now: number): void {
    if (now < this.#deadlineAt || (this.#call !== undefined && this.#left === 0)) return;
    if (this.#call?.isAnswered === false) this.#socket.write(timedOut);
    this.#socket.destroy();
  }

  #take(chunk: Buffer) {
    if (this.#isEnding) return;
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let at = 0;
    while (at < bytes.length && !this.#isEnding) {
      if (this.#left > 0) at = this.#body(bytes, at);
      else if (this.#call !== undefined || this.#isFull) {
        this.#rest = bytes.subarray(at);
        break;
      } else {
        const end = this.#begin(bytes, at);
        if (end === undefined) return this.#handOver(bytes.subarray(at));
        at = end;
      }
    }
    if (this.#rest !== undefined || this.#call?.isWaited === true) this.#pause();
  }

  /** Answers where the head ends; `undefined` when it is for Node's server. */
  #begin(bytes: Buffer, at: number): number | undefined {
    const head = plainHead(bytes, at);
    const serve = head && this.#options.serves(head);
    if (head === undefined || serve === undefined) return undefined;
    const { headers, contentLength, end } = head;
    this.#deadlineAt = performance.now() + this.#options.bodyMs;
    this.#left = contentLength;
    const call = new PlainCall(this, headers);
    this.#call = call;
    serve(call);
    if (contentLength === 0) call.end();
    return end;
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
    const isLast = last || this.#isLast;
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (const name of Object.keys(headers)) text += `${name}: ${headers[name]}\r\n`;
    text += `date: ${today()}\r\n`;
    text += isLast
      ? 'connection: close\r\n\r\n'
      : `connection: keep-alive\r\nkeep-alive: timeout=${this.#options.keepAliveMs / 1000}\r\n\r\n`;
    const socket = this.#socket;
    let isTaken: boolean;
    if (typeof body === 'object') {
      socket.cork();
      socket.write(text, 'latin1');
      isTaken = socket.write(body);
      socket.uncork();
    } else if (body === undefined) isTaken = socket.write(text, 'latin1');
    else isTaken = socket.write(text + body, 'utf8');
    if (isLast) this.#finish();
    else if (!isTaken && !this.#isFull) {
      this.#isFull = true;
      socket.once('drain', this.#drain);
    }
  }

  #finish(): void {
    this.#isEnding = true;
    this.#socket.destroySoon();
  }

  /** The call in hand is answered and its body is read: the next one. */
  next(): void {
    this.#call = undefined;
    this.#deadlineAt = performance.now() + this.#options.keepAliveMs;
    if (this.#isLast && !this.#isEnding) this.#finish();
    if (!this.#isFull) this.#proceed();
  }

  #drained(): void {
    this.#isFull = false;
    if (this.#call === undefined) this.#proceed();
  }

  #proceed(): void {
    this.resume();
    const rest = this.#rest;
    if (rest === undefined) return;
    this.#rest = undefined;
    this.#take(rest);
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    socket.off('data', this.#data);
    socket.off('end', this.#end);
    socket.off('close', this.#close);
    socket.off('error', ignore);
    socket.pause();
    socket.unshift(bytes);
    this.#options.handOver(socket);
    socket.resume();
  }

  /** The sender has said all, and may still listen. */
  #ended(): void {
    if (this.#isEnding) return;
    this.#isLast = true;
    const call = this.#call;
    if (call !== undefined && this.#left === 0) return;
    if (call?.isAnswered === false) {
      call.cut();
      this.#socket.write(cutShort);
    }
    this.#finish();
  }

  #closed(): void {
    this.#rest = undefined;
    this.#call?.cut();
    this.#call = undefined;
  }
}

const ignore = (): void => undefined;
