/** Messages of the bus on their way to a thread: their values in one piece of memory. */
import type { BusRecord } from '../schemas/ports/bus.ts';
import { copyRun, type Memory } from './memory.ts';

export interface PackedRecords {
  readonly offsets: readonly number[];
  readonly timestamps: readonly number[];
  readonly lengths: readonly number[];
  readonly headers: readonly BusRecord['headers'][];
  readonly values: ArrayBufferLike;
}

/** The values are copied; their memory belongs to the thread until it replies, and then back to `memory`. */
export const packedRecords = (records: readonly BusRecord[], memory: Memory): PackedRecords => {
  let bytes = 0;
  for (const { value } of records) bytes += value.length;
  const values = memory.take(bytes);
  const whole = new Uint8Array(values);
  let at = 0;
  for (const { value } of records) {
    copyRun(value, 0, value.length, whole, at);
    at += value.length;
  }
  return {
    offsets: records.map(({ offset }) => offset),
    timestamps: records.map(({ timestampMs }) => timestampMs),
    lengths: records.map(({ value }) => value.length),
    headers: records.map(({ headers }) => headers),
    values,
  };
};

/** The messages, whose values lie in that memory. Keys stay behind. */
export function* unpackedRecords({
  offsets,
  timestamps,
  lengths,
  headers,
  values,
}: PackedRecords): Generator<Omit<BusRecord, 'key'>, void, undefined> {
  let at = 0;
  for (const [index, offset] of offsets.entries()) {
    const length = lengths[index] ?? 0;
    yield {
      offset,
      timestampMs: timestamps[index] ?? 0,
      headers: headers[index] ?? {},
      value: Buffer.from(values, at, length),
    };
    at += length;
  }
}
