/** Splits a peer's bytes into frames, RFC 9113 sections 3.4 and 4; DATA is passed on as it arrives. */
import { frameSizeError, protocolError } from './errors.ts';
import { defaultMaxFrameBytes, flag, frameHeaderBytes, frameType, preface } from './frames.ts';

export interface FrameSink {
  prefaced(): void;
  /** Called with the first bytes of another protocol. Nothing is read afterwards. */
  isForeign(beginning: Buffer): void;
  /** Starts DATA without padding: its bytes follow in parts. */
  dataBegins(stream: number, flags: number, length: number): void;
  dataPart(bytes: Buffer): void;
  dataEnds(): void;
  /** Any other complete frame. */
  frame(type: number, flags: number, stream: number, payload: Buffer): void;
}

export class FrameReader {
  readonly #sink: FrameSink;
  #prefaced = false;
  #sawSettings = false;
  /** Bytes of an incomplete frame. */
  #rest: Buffer | undefined;
  /** Bytes of a DATA frame that have not arrived yet. */
  #dataLeft = 0;
  #inBlock = false;
  #hasAdvanced = false;
  #stopped = false;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Whether no frame is incomplete, except DATA. */
  get isWhole(): boolean {
    return this.#rest === undefined && !this.#inBlock;
  }

  /** Whether the last bytes completed a previously incomplete frame, so that any incomplete frame is new. */
  get hasAdvanced(): boolean {
    return this.#hasAdvanced;
  }

  /** Reads bytes. Throws a `ConnectionError` for an invalid sequence. */
  read(chunk: Buffer): void {
    if (this.#stopped) return;
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    const wasInBlock = this.#inBlock;
    let at = 0;
    if (!this.#prefaced) {
      if (!this.#isPrefaced(bytes)) return;
      at = preface.length;
    }
    while (at < bytes.length && !this.#stopped) {
      const next = this.#dataLeft > 0 ? this.#data(bytes, at) : this.#frame(bytes, at);
      if (next === at) break;
      at = next;
    }
    if (at < bytes.length && !this.#stopped) this.#rest = bytes.subarray(at);
    this.#hasAdvanced = at > 0 && !(wasInBlock && this.#inBlock);
  }

  /** Stops reading. */
  stop(): void {
    this.#stopped = true;
    this.#rest = undefined;
  }

  #isPrefaced(bytes: Buffer): boolean {
    const length = Math.min(bytes.length, preface.length);
    if (bytes.compare(preface, 0, length, 0, length) !== 0) {
      this.stop();
      this.#sink.isForeign(bytes);
    } else if (length < preface.length) this.#rest = bytes;
    else {
      this.#prefaced = true;
      this.#sink.prefaced();
    }
    return this.#prefaced;
  }

  /** Both functions return the new position: `at` if more bytes are needed. */
  #data(bytes: Buffer, at: number): number {
    const length = Math.min(this.#dataLeft, bytes.length - at);
    this.#dataLeft -= length;
    this.#sink.dataPart(length === bytes.length ? bytes : bytes.subarray(at, at + length));
    if (this.#dataLeft === 0) this.#sink.dataEnds();
    return at + length;
  }

  #frame(bytes: Buffer, at: number): number {
    if (bytes.length - at < frameHeaderBytes) return at;
    const length = (bytes.readUInt16BE(at) << 8) | (bytes[at + 2] as number);
    const type = bytes[at + 3] as number;
    const flags = bytes[at + 4] as number;
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff;
    this.#mayCome(type, flags, length);
    const from = at + frameHeaderBytes;
    if (type === frameType.data && (flags & flag.padded) === 0) {
      this.#dataLeft = length;
      this.#sink.dataBegins(stream, flags, length);
      if (length === 0) this.#sink.dataEnds();
      return from;
    }
    if (bytes.length - from < length) return at;
    if (type === frameType.headers || type === frameType.continuation) this.#inBlock = (flags & flag.endHeaders) === 0;
    this.#sink.frame(type, flags, stream, bytes.subarray(from, from + length));
    return from + length;
  }

  #mayCome(type: number, flags: number, length: number): void {
    if (length > defaultMaxFrameBytes)
      throw frameSizeError(`a frame of ${length} bytes is above ${defaultMaxFrameBytes}`);
    if (!this.#sawSettings && (type !== frameType.settings || (flags & flag.ack) !== 0))
      throw protocolError('the first frame must be SETTINGS');
    this.#sawSettings = true;
    if (this.#inBlock !== (type === frameType.continuation))
      throw protocolError(this.#inBlock ? 'a frame interrupts a header block' : 'CONTINUATION without a header block');
  }
}

/** Returns the payload without its padding, section 6.1. */
export const unpadded = (payload: Buffer, flags: number): Buffer => {
  if ((flags & flag.padded) === 0) return payload;
  const padding = payload[0];
  if (padding === undefined) throw frameSizeError('a frame is too short for its padding');
  if (padding >= payload.length) throw protocolError('a frame has more padding than bytes');
  return payload.subarray(1, payload.length - padding);
};
