/** Header blocks in HEADERS and CONTINUATION, RFC 9113 sections 6.2 and 6.10. */
import { createAbuseError, createFrameSizeError, createProtocolError } from './errors.ts';
import { removePadding } from './frame-reader.ts';
import { flag } from './frames.ts';
import type { Http2Options } from './options.ts';

/** A block, complete or not. */
export interface HeaderBlock {
  readonly stream: number;
  readonly endStream: boolean;
  readonly bytes: Buffer;
}

export class HeaderBlocks {
  readonly #options: Http2Options;
  #partialBlock: { readonly stream: number; readonly endStream: boolean; readonly parts: Buffer[] } | undefined;
  #partialBytes = 0;

  constructor(options: Http2Options) {
    this.#options = options;
  }

  /** Reads a HEADERS frame; returns the block if it is complete. */
  readHeaders(stream: number, flags: number, payload: Buffer): HeaderBlock | undefined {
    if (stream % 2 === 0) throw createProtocolError('a client’s streams have odd numbers');
    let bytes = removePadding(payload, flags);
    if ((flags & flag.priority) !== 0) {
      if (bytes.length < 5) throw createFrameSizeError('HEADERS is too short for its priority');
      if ((bytes.readUInt32BE(0) & 0x7fffffff) === stream) throw createProtocolError('a stream depends on itself');
      bytes = bytes.subarray(5);
    }
    const endStream = (flags & flag.endStream) !== 0;
    if ((flags & flag.endHeaders) !== 0) return { stream, endStream, bytes };
    this.#partialBlock = { stream, endStream, parts: [bytes] };
    this.#partialBytes = bytes.length;
    return undefined;
  }

  /** Reads a CONTINUATION frame; returns the block if it is complete. */
  readContinuation(stream: number, flags: number, payload: Buffer): HeaderBlock | undefined {
    const partialBlock = this.#partialBlock;
    if (partialBlock?.stream !== stream)
      throw createProtocolError('CONTINUATION is of another stream than its beginning');
    partialBlock.parts.push(payload);
    this.#partialBytes += payload.length;
    const { maxBlockBytes, maxBlockFrames } = this.#options;
    if (this.#partialBytes > maxBlockBytes || partialBlock.parts.length > maxBlockFrames)
      throw createAbuseError('a header block is too large');
    if ((flags & flag.endHeaders) === 0) return undefined;
    this.#partialBlock = undefined;
    return { stream, endStream: partialBlock.endStream, bytes: Buffer.concat(partialBlock.parts) };
  }
}
