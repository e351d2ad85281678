/** Packs bus messages for a transfer to a thread. */
import type { BusRecord } from '../schemas/ports/bus.ts';
import { copyRange, isShared, type TransferMemoryPool } from './memory.ts';

export interface PackedRecords {
  readonly offsets: readonly number[];
  readonly timestamps: readonly number[];
  readonly headers: readonly BusRecord['headers'][];
  readonly values: readonly Uint8Array[];
}

export interface PackedTransfer {
  readonly records: PackedRecords;
  /** Buffers with the copied values. They belong to the thread until it replies, and then return to the `TransferMemoryPool`. */
  readonly copies: readonly ArrayBufferLike[];
  /** Whether some values were not copied. Their buffers must not be reused until the thread replies. */
  readonly isInPlace: boolean;
}

/**
 * Packs records. With `shareInPlace`, values in shared memory are not copied. All other values are copied into one buffer.
 */
export const packRecords = (
  records: readonly BusRecord[],
  memory: TransferMemoryPool,
  shareInPlace: boolean,
): PackedTransfer => {
  let bytes = 0;
  for (const { value } of records) if (!(shareInPlace && isShared(value))) bytes += value.length;
  const copies = bytes === 0 ? [] : [memory.allocate(bytes)];
  const [copyBuffer = new ArrayBuffer(0)] = copies;
  const copyBytes = new Uint8Array(copyBuffer);
  let position = 0;
  const values = records.map(({ value }) => {
    const { buffer, byteOffset, length } = value;
    if (shareInPlace && isShared(value)) return new Uint8Array(buffer, byteOffset, length);
    copyRange(value, 0, length, copyBytes, position);
    position += length;
    return new Uint8Array(copyBuffer, position - length, length);
  });
  return {
    records: {
      offsets: records.map(({ offset }) => offset),
      timestamps: records.map(({ timestampMs }) => timestampMs),
      headers: records.map(({ headers }) => headers),
      values,
    },
    copies,
    isInPlace: shareInPlace && records.some(({ value }) => isShared(value)),
  };
};

/** Iterates over the messages, without their keys. */
export function* unpackRecords({
  offsets,
  timestamps,
  headers,
  values,
}: PackedRecords): Generator<Omit<BusRecord, 'key'>, void, undefined> {
  for (const [index, offset] of offsets.entries()) {
    const { buffer, byteOffset, length } = values[index] ?? new Uint8Array(0);
    yield {
      offset,
      timestampMs: timestamps[index] ?? 0,
      headers: headers[index] ?? {},
      value: Buffer.from(buffer, byteOffset, length),
    };
  }
}
