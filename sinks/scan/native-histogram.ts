import { PermanentError } from '../../schemas/errors.ts';
import { decodeZigzag, toDouble, toSignedNumber, type WireCursor } from '../../schemas/protobuf/cursor.ts';
import type { Int64Column } from '../native/fixed-size-columns.ts';
import type { ArrayColumn } from '../native/nested-columns.ts';
import type { HistogramColumns } from './point-columns.ts';

/**
 * Above the number of buckets of any client. Wide gaps between spans are filled with zeros, and must not exhaust the
 * memory.
 */
const maxBuckets = 65_536;
/** Schema of histograms with explicit bounds. */
const customBoundsSchema = -53;
/** The last reset hint. */
const gaugeResetHint = 3;

/** Spans and counts of one sign */
class SignedBuckets {
  readonly spans: number[] = [];
  /** Deltas of integer histograms, which `convertDeltas` converts to counts */
  readonly deltas: number[] = [];
  readonly counts: number[] = [];

  clear(): void {
    this.spans.length = 0;
    this.deltas.length = 0;
    this.counts.length = 0;
  }

  convertDeltas(): void {
    if (this.counts.length > 0) return;
    let sum = 0;
    for (const delta of this.deltas) {
      sum += delta;
      this.counts.push(sum);
    }
  }

  /**
   * Writes every bucket from the first to the last as a count, gaps as zeros, and returns the index of the first.
   * `exact` receives the unrounded counts.
   */
  write(column: ArrayColumn<Int64Column>, exact?: ArrayColumn<Int64Column>): number {
    const first = this.spans[0] ?? 0;
    let bucketCount = 0;
    let nextCount = 0;
    for (let spanIndex = 0; spanIndex < this.spans.length; spanIndex += 2) {
      const gap = spanIndex === 0 ? 0 : (this.spans[spanIndex] as number);
      const length = this.spans[spanIndex + 1] as number;
      bucketCount += gap + length;
      if (gap < 0 || bucketCount > maxBuckets) {
        throw new PermanentError('too-many-buckets', `a native histogram spans more than ${maxBuckets} buckets`);
      }
      for (let zero = 0; zero < gap; zero++) {
        column.elements.push(0, 0);
        exact?.elements.push(0, 0);
      }
      for (let bucket = 0; bucket < length; bucket++) {
        const count = this.counts[nextCount++] ?? 0;
        column.elements.pushInteger(roundCount(count));
        exact?.elements.pushDouble(count);
      }
    }
    return first;
  }
}

/** The nearest integer, since the table stores integer counts. */
const roundCount = (count: number): number => (count > 0 ? Math.min(Math.round(count), Number.MAX_SAFE_INTEGER) : 0);
const isStorableInteger = (count: number): boolean => count === roundCount(count);

/**
 * Converts Prometheus's native histograms to the form of OTLP's exponential histograms. Prometheus's bucket `i` ends
 * where OTLP's begins, so the offset is one less. Histograms with custom bounds become explicit ones.
 */
export class NativeHistogram {
  /** Milliseconds of the sample and, in 2.0, of the series' start. */
  timestampMs = 0;
  startMs = 0;
  isStale = false;
  readonly #positive = new SignedBuckets();
  readonly #negative = new SignedBuckets();
  #count = 0;
  #zeroCount = 0;
  #sumLow = 0;
  #sumHigh = 0;
  #threshold = 0;
  #schema = 0;
  #resetHint = 0;
  #bounds: number[] = [];

  /** Reads the message between the reader's position and `end`. */
  read(reader: WireCursor, end: number): void {
    this.#clear();
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (!(this.#readScalar(reader, tag) || this.#readBuckets(reader, tag, end))) reader.skip(tag, end);
    }
    reader.expectPosition(end);
    this.#positive.convertDeltas();
    this.#negative.convertDeltas();
  }

  write({ histogramColumns }: HistogramColumns): void {
    histogramColumns.count.pushInteger(roundCount(this.#count));
    histogramColumns.sum.push(this.#sumLow, this.#sumHigh);
    histogramColumns.min.pushNull();
    histogramColumns.max.pushNull();
    histogramColumns.zero_count.pushInteger(roundCount(this.#zeroCount));
    histogramColumns.zero_threshold.pushDouble(this.#threshold);
    histogramColumns.reset_hint.push(this.#resetHint);
    for (const number of this.#positive.spans) histogramColumns.positive_spans.elements.push(number);
    for (const number of this.#negative.spans) histogramColumns.negative_spans.elements.push(number);
    const counts = [this.#count, this.#zeroCount, ...this.#positive.counts, ...this.#negative.counts];
    const exactCounts = counts.every(isStorableInteger) ? undefined : histogramColumns.exact_counts;
    exactCounts?.elements.pushDouble(this.#count);
    exactCounts?.elements.pushDouble(this.#zeroCount);
    if (this.#schema === customBoundsSchema) {
      for (const bound of this.#bounds) histogramColumns.bounds.elements.pushDouble(bound);
      const previousCount = histogramColumns.counts.elements.rows;
      // Buckets before the first span are empty. Explicit histograms have one bucket more than bounds.
      for (let zero = 0; zero < Math.min(this.#positive.spans[0] ?? 0, maxBuckets); zero++) {
        histogramColumns.counts.elements.push(0, 0);
        exactCounts?.elements.push(0, 0);
      }
      this.#positive.write(histogramColumns.counts, exactCounts);
      while (histogramColumns.counts.elements.rows - previousCount < this.#bounds.length + 1)
        histogramColumns.counts.elements.push(0, 0);
      histogramColumns.scale.push(0);
      histogramColumns.positive_offset.push(0);
      histogramColumns.negative_offset.push(0);
      return;
    }
    histogramColumns.scale.push(this.#schema);
    histogramColumns.positive_offset.push(this.#positive.write(histogramColumns.positive_counts, exactCounts) - 1);
    histogramColumns.negative_offset.push(this.#negative.write(histogramColumns.negative_counts, exactCounts) - 1);
  }

  #clear(): void {
    this.#positive.clear();
    this.#negative.clear();
    this.#count = 0;
    this.#zeroCount = 0;
    this.#sumLow = 0;
    this.#sumHigh = 0;
    this.#threshold = 0;
    this.#schema = 0;
    this.#resetHint = 0;
    this.#bounds = [];
    this.timestampMs = 0;
    this.startMs = 0;
    this.isStale = false;
  }

  #readScalar(reader: WireCursor, tag: number): boolean {
    if (tag === 0x08) this.#count = readUnsigned(reader);
    else if (tag === 0x11) this.#count = readDouble(reader);
    else if (tag === 0x19) {
      reader.readFixed64();
      this.#sumLow = reader.low;
      this.#sumHigh = reader.high;
      this.isStale = reader.low === 2 && reader.high === 0x7ff00000;
    } else if (tag === 0x20) this.#schema = decodeZigzag(reader.readVarint());
    else if (tag === 0x29) this.#threshold = readDouble(reader);
    else if (tag === 0x30) this.#zeroCount = readUnsigned(reader);
    else if (tag === 0x39) this.#zeroCount = readDouble(reader);
    else if (tag === 0x70) this.#resetHint = normalizeResetHint(reader.readVarint());
    else if (tag === 0x78) this.timestampMs = readSigned(reader);
    else if (tag === 0x88) this.startMs = readSigned(reader);
    else return false;
    return true;
  }

  #readBuckets(reader: WireCursor, tag: number, end: number): boolean {
    if (tag === 0x42) readSpan(reader, reader.readEnd(end), this.#negative.spans);
    else if (tag === 0x5a) readSpan(reader, reader.readEnd(end), this.#positive.spans);
    else if (tag === 0x4a || tag === 0x48) readRepeated(reader, tag, end, this.#negative.deltas, readZigzag64);
    else if (tag === 0x62 || tag === 0x60) readRepeated(reader, tag, end, this.#positive.deltas, readZigzag64);
    else if (tag === 0x52 || tag === 0x51) readRepeated(reader, tag, end, this.#negative.counts, readDouble);
    else if (tag === 0x6a || tag === 0x69) readRepeated(reader, tag, end, this.#positive.counts, readDouble);
    else if (tag === 0x82 || tag === 0x81) readRepeated(reader, tag, end, this.#bounds, readDouble);
    else return false;
    return true;
  }
}

/** Unknown hints count as unspecified. */
const normalizeResetHint = (hint: number): number => (hint > gaugeResetHint ? 0 : hint);

const readUnsigned = (reader: WireCursor): number => {
  reader.readVarint64();
  return reader.high * 4_294_967_296 + reader.low;
};

const readSigned = (reader: WireCursor): number => {
  reader.readVarint64();
  return toSignedNumber(reader.low, reader.high);
};

const readDouble = (reader: WireCursor): number => {
  reader.readFixed64();
  return toDouble(reader.low, reader.high);
};

const readZigzag64 = (reader: WireCursor): number => {
  const value = readUnsigned(reader);
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
};

const readSpan = (reader: WireCursor, end: number, spans: number[]): void => {
  let offset = 0;
  let length = 0;
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag === 0x08) offset = decodeZigzag(reader.readVarint());
    else if (tag === 0x10) length = reader.readVarint();
    else reader.skip(tag, end);
  }
  reader.expectPosition(end);
  spans.push(offset, length);
};

const readRepeated = (
  reader: WireCursor,
  tag: number,
  end: number,
  values: number[],
  readValue: (reader: WireCursor) => number,
): void => {
  const isPacked = (tag & 7) === 2;
  const stop = isPacked ? reader.readEnd(end) : reader.position + 1;
  while (reader.position < stop) values.push(readValue(reader));
  if (isPacked) reader.expectPosition(stop);
};
