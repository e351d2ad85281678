/** One request and its response. */
import { errorCode } from './errors.ts';
import { frameType } from './frames.ts';
import { encodeHeaderBlockOnce } from './hpack.ts';
import type { Output } from './output.ts';
import type { Headers } from './request-headers.ts';
import type { SendWindow } from './windows.ts';

/** Handler of a request. */
export interface StreamHandler {
  /** Receives a part of the body. The handler owns the bytes. */
  data(chunk: Buffer): void;
  /** Called when the body is complete. */
  end(): void;
  /** Called once, when no more data is received or sent, for any reason. */
  closed(): void;
}

export interface Http2Stream {
  readonly headers: Headers;
  /** Address of the peer. */
  readonly peer: string | undefined;
  readonly isClosed: boolean;
  /** Whether the response has begun. */
  readonly hasResponded: boolean;
  /** Whether the request is complete. */
  readonly hasEnded: boolean;
  /** Starts the response; with `end` it is complete. Frozen headers are encoded once. */
  respond(headers: Headers, end?: boolean): void;
  /** Writes bytes of the response. They are not copied while they wait for the peer's windows. */
  write(bytes: Buffer): void;
  /** Ends the response with trailers. Later parts of the peer's request are dropped. */
  end(trailers: Headers): void;
  reset(code: number): void;
}

/** Parts of a connection that a stream needs. */
export interface StreamOwner {
  readonly output: Output;
  readonly peer: string | undefined;
  /** The peer's window for all streams. */
  readonly sendWindow: SendWindow;
  /** Returns the next header block, preceded by a required update of the peer's table. */
  block(block: Buffer): Buffer;
  onClosed(stream: Stream, reset: boolean): void;
}

export class Stream implements Http2Stream {
  readonly id: number;
  readonly headers: Headers;
  readonly #owner: StreamOwner;
  handler: StreamHandler | undefined;
  /** Bytes that the peer may still send. `expectedBytes` is the remaining announced length; NaN if none was announced. */
  receiveWindow: number;
  expectedBytes: number;
  sendWindow: number;
  hasEnded = false;
  hasResponded = false;
  isClosed = false;
  /** Data that waits for windows, followed by the trailers. */
  #pendingData: Buffer[] = [];
  #trailers: Headers | undefined;

  constructor(owner: StreamOwner, id: number, headers: Headers, receiveWindow: number, sendWindow: number) {
    this.#owner = owner;
    this.id = id;
    this.headers = headers;
    this.receiveWindow = receiveWindow;
    this.sendWindow = sendWindow;
    this.expectedBytes = Number(headers['content-length']);
  }

  get peer(): string | undefined {
    return this.#owner.peer;
  }

  respond(headers: Headers, end = false): void {
    if (this.isClosed || this.hasResponded) return;
    this.hasResponded = true;
    this.#owner.output.headers(this.id, this.#owner.block(encodeHeaderBlockOnce(headers)), end);
    if (end) this.#finishResponse();
  }

  write(bytes: Buffer): void {
    if (this.isClosed || this.#trailers !== undefined) return;
    if (this.#pendingData.length === 0 && bytes.length <= this.#getSendableBytes()) this.#send(bytes);
    else {
      this.#pendingData.push(bytes);
      this.flush();
    }
  }

  end(trailers: Headers): void {
    if (this.isClosed || this.#trailers !== undefined) return;
    this.#trailers = trailers;
    this.flush();
  }

  reset(code: number): void {
    if (this.isClosed) return;
    this.#owner.output.writeNumberFrame(frameType.rstStream, this.id, code);
    this.#owner.onClosed(this, true);
  }

  /** Sends data within the limits of the windows and the connection. */
  flush(): void {
    const { output } = this.#owner;
    for (;;) {
      const [nextData] = this.#pendingData;
      if (nextData === undefined) break;
      const sendableBytes = this.#getSendableBytes();
      if (sendableBytes <= 0 && nextData.length > 0) return;
      this.#send(nextData.length > sendableBytes ? nextData.subarray(0, sendableBytes) : nextData);
      if (nextData.length > sendableBytes) this.#pendingData[0] = nextData.subarray(sendableBytes);
      else this.#pendingData.shift();
    }
    if (this.#trailers === undefined || this.isClosed) return;
    output.headers(this.id, this.#owner.block(encodeHeaderBlockOnce(this.#trailers)), true);
    this.#finishResponse();
  }

  #getSendableBytes(): number {
    const { output, sendWindow } = this.#owner;
    return output.isFull() ? 0 : Math.min(this.sendWindow, sendWindow.remaining, output.maxFrameBytes);
  }

  #send(bytes: Buffer): void {
    this.sendWindow -= bytes.length;
    this.#owner.sendWindow.consume(bytes.length);
    this.#owner.output.frame(frameType.data, 0, this.id, bytes);
  }

  #finishResponse(): void {
    if (!this.hasEnded) this.#owner.output.writeNumberFrame(frameType.rstStream, this.id, errorCode.noError);
    this.#owner.onClosed(this, !this.hasEnded);
  }
}
