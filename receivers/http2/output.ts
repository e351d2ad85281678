/** Output to one peer: frames of one event loop iteration are sent in one write. */
import type { Socket } from 'node:net';
import { defaultMaxFrameBytes, flag, frameHeaderBytes, frameType, writeFrameHeader } from './frames.ts';

/** Space for the responses of a few calls. */
const bufferBytes = 512;
/** Number of waiting bytes above which DATA waits for the socket. */
const maxBufferedBytes = 64 * 1024;
/** Number of waiting bytes above which a peer that does not read its responses is disconnected. */
const maxWaitingBytes = 1024 * 1024;

export class Output {
  readonly #socket: Socket;
  readonly #onDrain: () => void;
  #fullBuffers: Buffer[] = [];
  #currentBuffer: Buffer | undefined;
  #usedBytes = 0;
  /** Number of bytes in `#fullBuffers`. */
  #fullBytes = 0;
  /** Whether a stream waits for space. */
  #isStreamWaiting = false;
  #isFlushScheduled = false;
  readonly #flush = (): void => this.flush();
  maxFrameBytes = defaultMaxFrameBytes;

  /** `drained` is called when `isFull` becomes false after it was true. */
  constructor(socket: Socket, onDrain: () => void) {
    this.#socket = socket;
    this.#onDrain = onDrain;
    socket.on('drain', () => this.#notifyDrained());
  }

  /** Returns whether to wait for the peer to read. */
  isFull(): boolean {
    if (this.#fullBytes < maxBufferedBytes && !this.#socket.writableNeedDrain) return false;
    this.#isStreamWaiting = true;
    return true;
  }

  #notifyDrained(): void {
    if (!this.#isStreamWaiting || this.#socket.writableNeedDrain) return;
    this.#isStreamWaiting = false;
    this.#onDrain();
  }

  /** Writes a frame; the payload is copied. */
  frame(type: number, flags: number, stream: number, payload: Uint8Array): void {
    const at = this.#reserve(frameHeaderBytes + payload.length);
    const buffer = this.#currentBuffer as Buffer;
    writeFrameHeader(buffer, at, payload.length, type, flags, stream);
    buffer.set(payload, at + frameHeaderBytes);
  }

  /** Writes a frame whose payload is one 32-bit number. */
  writeNumberFrame(type: number, stream: number, value: number): void {
    const at = this.#reserve(frameHeaderBytes + 4);
    const buffer = this.#currentBuffer as Buffer;
    writeFrameHeader(buffer, at, 4, type, 0, stream);
    buffer.writeUInt32BE(value, at + frameHeaderBytes);
  }

  /** Writes HEADERS, with CONTINUATION if the block is longer than a frame. */
  headers(stream: number, block: Uint8Array, end: boolean) {
    const endStream = end ? flag.endStream : 0;
    const maxBytes = this.maxFrameBytes;
    if (block.length <= maxBytes) return this.frame(frameType.headers, endStream | flag.endHeaders, stream, block);
    this.frame(frameType.headers, endStream, stream, block.subarray(0, maxBytes));
    for (let at = maxBytes; at < block.length; at += maxBytes) {
      const last = at + maxBytes >= block.length;
      const part = block.subarray(at, at + maxBytes);
      this.frame(frameType.continuation, last ? flag.endHeaders : 0, stream, part);
    }
  }

  /** Adds `bytes` to the next write, outside of any frame. */
  writeRaw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    (this.#currentBuffer as Buffer).set(bytes, at);
  }

  #reserve(bytes: number): number {
    if (this.#currentBuffer === undefined || this.#usedBytes + bytes > this.#currentBuffer.length) {
      if (this.#currentBuffer !== undefined) {
        this.#fullBuffers.push(this.#currentBuffer.subarray(0, this.#usedBytes));
        this.#fullBytes += this.#usedBytes;
      }
      this.#currentBuffer = Buffer.allocUnsafe(Math.max(bytes, bufferBytes));
      this.#usedBytes = 0;
    }
    if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      // After all responses that were acknowledged in one batch.
      process.nextTick(this.#flush);
    }
    const at = this.#usedBytes;
    this.#usedBytes += bytes;
    return at;
  }

  /** Writes pending output immediately. */
  flush(): void {
    this.#isFlushScheduled = false;
    const buffer = this.#currentBuffer;
    if (buffer === undefined) return;
    const last = buffer.subarray(0, this.#usedBytes);
    const fullBuffers = this.#fullBuffers;
    this.#currentBuffer = undefined;
    const socket = this.#socket;
    if (fullBuffers.length > 0) {
      this.#fullBuffers = [];
      this.#fullBytes = 0;
      fullBuffers.push(last);
    }
    if (socket.destroyed || !socket.writable) return;
    socket.write(fullBuffers.length === 0 ? last : Buffer.concat(fullBuffers));
    if (socket.writableLength > maxWaitingBytes) socket.destroy();
    else this.#notifyDrained();
  }
}
