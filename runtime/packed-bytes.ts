/** Bytes in compressed parts: a large text takes a fraction of its memory. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const partBytes = 256 * 1024;
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Frees the memory of bytes, which garbage collection would do much later. Memory that other bytes share is not freed. */
const freeBytes = ({ buffer, byteLength }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength > 0) buffer.transfer(0);
};

export class PackedBytes {
  readonly parts: Uint8Array[] = [];
  readonly #pending = Buffer.allocUnsafeSlow(partBytes);
  #pendingBytes = 0;

  add(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length; ) {
      const bytes = chunk.subarray(start, start + partBytes - this.#pendingBytes);
      this.#pending.set(bytes, this.#pendingBytes);
      this.#pendingBytes += bytes.length;
      start += bytes.length;
      if (this.#pendingBytes === partBytes) this.end();
    }
  }

  /** Adds a chunk, and frees its memory. */
  take(chunk: Uint8Array): void {
    this.add(chunk);
    freeBytes(chunk);
  }

  /** Compresses what was added last. */
  end(): void {
    if (this.#pendingBytes > 0)
      this.parts.push(zstdCompressSync(this.#pending.subarray(0, this.#pendingBytes), options));
    this.#pendingBytes = 0;
  }
}

export const packBytes = (bytes: Uint8Array): PackedBytes => {
  const packed = new PackedBytes();
  packed.add(bytes);
  packed.end();
  return packed;
};

/** Returns the bytes of the parts, one part after the other. The bytes of a part are freed with the next one. */
export function* unpackBytes(parts: readonly Uint8Array[]): Generator<Buffer> {
  for (const part of parts) {
    const bytes = zstdDecompressSync(part);
    yield bytes;
    freeBytes(bytes);
  }
}
