/** Splits a peer's bytes into frames, RFC 9113 sections 3.4 and 4; DATA is passed on when it arrives. */
import { createFrameSizeError, createProtocolError } from './errors.ts';
import { defaultMaxFrameBytes, flag, frameHeaderBytes, frameType, preface } from './frames.ts';

export interface FrameSink {
  onPreface(): void;
  /** Called with the first bytes of another protocol. Nothing is read afterwards. */
  onForeignProtocol(beginning: Buffer): void;
  /** Starts DATA without padding: its bytes follow in parts. */
  onDataStart(stream: number, flags: number, length: number): void;
  onDataPart(bytes: Buffer): void;
  onDataEnd(): void;
  /** Any other complete frame. */
  frame(type: number, flags: number, stream: number, payload: Buffer): void;
}

export class FrameReader {
  readonly #sink: FrameSink;
  #hasPreface = false;
  #hasSettings = false;
  /** Bytes of an incomplete frame. */
  #incompleteFrame: Buffer | undefined;
  /** Bytes of a DATA frame that have not arrived yet. */
  #remainingDataBytes = 0;
  #isInBlock = false;
  #hasAdvanced = false;
  #isStopped = false;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Whether no frame is incomplete, except DATA. */
  get isComplete(): boolean {
    return this.#incompleteFrame === undefined && !this.#isInBlock;
  }

  /** Whether the last bytes completed a previously incomplete frame, so that any incomplete frame is new. */
  get hasAdvanced(): boolean {
    return this.#hasAdvanced;
  }

  /** Reads bytes. Throws a `ConnectionError` for an invalid sequence. */
  read(chunk: Buffer): void {
    if (this.#isStopped) return;
    const bytes = this.#incompleteFrame === undefined ? chunk : Buffer.concat([this.#incompleteFrame, chunk]);
    this.#incompleteFrame = undefined;
    const wasInBlock = this.#isInBlock;
    let at = 0;
    if (!this.#hasPreface) {
      if (!this.#readPreface(bytes)) return;
      at = preface.length;
    }
    while (at < bytes.length && !this.#isStopped) {
      const next = this.#remainingDataBytes > 0 ? this.#readData(bytes, at) : this.#readFrame(bytes, at);
      if (next === at) break;
      at = next;
    }
    if (at < bytes.length && !this.#isStopped) this.#incompleteFrame = bytes.subarray(at);
    this.#hasAdvanced = at > 0 && !(wasInBlock && this.#isInBlock);
  }

  /** Stops reading. */
  stop(): void {
    this.#isStopped = true;
    this.#incompleteFrame = undefined;
  }

  #readPreface(bytes: Buffer): boolean {
    const length = Math.min(bytes.length, preface.length);
    if (bytes.compare(preface, 0, length, 0, length) !== 0) {
      this.stop();
      this.#sink.onForeignProtocol(bytes);
    } else if (length < preface.length) this.#incompleteFrame = bytes;
    else {
      this.#hasPreface = true;
      this.#sink.onPreface();
    }
    return this.#hasPreface;
  }

  /** `#data` and `#frame` return the new position, or `at` if more bytes are needed. */
  #readData(bytes: Buffer, at: number): number {
    const length = Math.min(this.#remainingDataBytes, bytes.length - at);
    this.#remainingDataBytes -= length;
    this.#sink.onDataPart(length === bytes.length ? bytes : bytes.subarray(at, at + length));
    if (this.#remainingDataBytes === 0) this.#sink.onDataEnd();
    return at + length;
  }

  #readFrame(bytes: Buffer, at: number): number {
    if (bytes.length - at < frameHeaderBytes) return at;
    const length = (bytes.readUInt16BE(at) << 8) | (bytes[at + 2] as number);
    const type = bytes[at + 3] as number;
    const flags = bytes[at + 4] as number;
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff;
    this.#checkSequence(type, flags, length);
    const from = at + frameHeaderBytes;
    if (type === frameType.data && (flags & flag.padded) === 0) {
      this.#remainingDataBytes = length;
      this.#sink.onDataStart(stream, flags, length);
      if (length === 0) this.#sink.onDataEnd();
      return from;
    }
    if (bytes.length - from < length) return at;
    if (type === frameType.headers || type === frameType.continuation)
      this.#isInBlock = (flags & flag.endHeaders) === 0;
    this.#sink.frame(type, flags, stream, bytes.subarray(from, from + length));
    return from + length;
  }

  #checkSequence(type: number, flags: number, length: number): void {
    if (length > defaultMaxFrameBytes)
      throw createFrameSizeError(`a frame of ${length} bytes is above ${defaultMaxFrameBytes}`);
    if (!this.#hasSettings && (type !== frameType.settings || (flags & flag.ack) !== 0))
      throw createProtocolError('the first frame must be SETTINGS');
    this.#hasSettings = true;
    if (this.#isInBlock !== (type === frameType.continuation))
      throw createProtocolError(
        this.#isInBlock ? 'a frame interrupts a header block' : 'CONTINUATION without a header block',
      );
  }
}

/** Returns the payload without its padding, section 6.1. */
export const removePadding = (payload: Buffer, flags: number): Buffer => {
  if ((flags & flag.padded) === 0) return payload;
  const padding = payload[0];
  if (padding === undefined) throw createFrameSizeError('a frame is too short for its padding');
  if (padding >= payload.length) throw createProtocolError('a frame has more padding than bytes');
  return payload.subarray(1, payload.length - padding);
};
