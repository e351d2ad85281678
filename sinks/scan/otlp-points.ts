import {
  createMalformedError,
  decodeZigzag,
  readIdStart,
  toSignedNumber,
  type WireCursor,
} from '../../schemas/protobuf/cursor.ts';
import type { Int64Column } from '../native/fixed-size-columns.ts';
import type { ArrayColumn } from '../native/nested-columns.ts';
import { Murmur } from './hash.ts';
import type { MetricTables } from './point-columns.ts';
import type { SeriesContext, SeriesRows } from './series-rows.ts';
import { maxTimeHigh, type RowSource, toNanosecondWords } from './source.ts';

/** Prometheus's staleness marker, which is also used for a point without a recorded value. */
export const staleLow = 2;
export const staleHigh = 0x7ff00000;

/** Tags of the fields that the kinds of points share. `words`: count, sum, min, max, zero count, zero threshold. */
const layouts = {
  number: { attributes: 0x3a, exemplars: 0x2a, flags: 0x40, words: [] },
  histogram: { attributes: 0x4a, exemplars: 0x42, flags: 0x50, words: [0x21, 0x29, 0x59, 0x61] },
  exponential: { attributes: 0x0a, exemplars: 0x5a, flags: 0x50, words: [0x21, 0x29, 0x61, 0x69, 0x39, 0x71] },
  summary: { attributes: 0x3a, exemplars: 0, flags: 0x40, words: [0x21, 0x29] },
} as const satisfies Record<string, Layout>;

interface Layout {
  readonly attributes: number;
  readonly exemplars: number;
  readonly flags: number;
  readonly words: readonly number[];
}

type Words = ArrayColumn<Int64Column>;

/** Count, sum, min, max and the two zero fields of a histogram: optional 64-bit fields. */
class HistogramBaseFields {
  readonly #words = new Uint32Array(12);
  #present = 0;

  clear(): this {
    this.#words.fill(0);
    this.#present = 0;
    return this;
  }

  /** Reads the field with that index. Returns `false` for a negative index. */
  read(reader: WireCursor, index: number): boolean {
    if (index < 0) return false;
    reader.readFixed64();
    this.#words[index * 2] = reader.low;
    this.#words[index * 2 + 1] = reader.high;
    this.#present |= 1 << index;
    return true;
  }

  getLowWord(index: number): number {
    return this.#words[index * 2] as number;
  }

  getHighWord(index: number): number {
    return this.#words[index * 2 + 1] as number;
  }

  /** Writes count, and sum, min and max or null. */
  write(columns: MetricTables['histograms']['histogramColumns']): void {
    columns.count.push(this.getLowWord(0), this.getHighWord(0));
    for (const [index, column] of [columns.sum, columns.min, columns.max].entries()) {
      if ((this.#present & (2 << index)) === 0) column.pushNull();
      else column.push(this.getLowWord(index + 1), this.getHighWord(index + 1));
    }
  }
}

const toMilliseconds = (low = 0, high = 0): number => Math.floor((high * 4_294_967_296 + low) / 1_000_000);

/** Scans data points of all kinds. A point is read once, and its exemplars again when its series is known. */
export class OtlpPoints {
  readonly #series: SeriesRows;
  readonly #tables: MetricTables;
  readonly #createContext: () => SeriesContext;
  readonly #rawHash = new Murmur();
  readonly #baseFields = new HistogramBaseFields();
  readonly #times = new Uint32Array(4);
  #received = toNanosecondWords(0);
  #source: RowSource | undefined;
  #flags = 0;
  #hasExemplars = false;
  #layout: Layout = layouts.number;
  #reader: WireCursor | undefined;
  #start = 0;
  #end = 0;
  /** Called by `SeriesRows` for a new series. Created once, not for each point. */
  readonly #fillSortedAttributes = (): void => this.#sortAttributes();

  constructor(series: SeriesRows, tables: MetricTables, context: () => SeriesContext) {
    this.#series = series;
    this.#tables = tables;
    this.#createContext = context;
  }

  begin(source: RowSource): void {
    this.#source = source;
    this.#received = toNanosecondWords(source.receivedAtMs);
  }

  discardRow(): void {
    this.#tables.exemplars.attributes.discardRow();
  }

  /** Reads the point between the reader's position and `end`. */
  push(reader: WireCursor, end: number, kind: number, metricHash: Murmur, name: readonly [number, number]): void {
    this.#rawHash.seed(metricHash.a, metricHash.b, metricHash.c, metricHash.d);
    this.#times.fill(0);
    this.#flags = 0;
    this.#hasExemplars = false;
    this.#reader = reader;
    this.#start = reader.position;
    this.#end = end;
    const source = this.#source;
    if (source === undefined) return;
    const columns = this.#readPoint(reader, end, kind);
    reader.expectPosition(end);
    if (this.#times[0] === 0 && this.#times[1] === 0) {
      this.#times[0] = this.#received.low;
      this.#times[1] = this.#received.high;
    }
    this.#series.identify(this.#rawHash, source, this.#fillSortedAttributes, this.#createContext);
    const ms = toMilliseconds(this.#times[0], this.#times[1]);
    this.#series.recordPoints(ms, ms, source, this.#fillSortedAttributes, this.#createContext);
    columns.push(reader.bytes, name[0], name[1], this.#series.low, this.#series.high);
    columns.pushTimes(this.#times, this.#flags);
    if (this.#hasExemplars) this.#readExemplars(reader, end, name);
    columns.fillOrigin(source);
    source.ordinal++;
  }

  #readPoint(reader: WireCursor, end: number, kind: number) {
    if (kind === 0x4a) return this.#readHistogram(reader, end);
    if (kind === 0x52) return this.#readExponentialHistogram(reader, end);
    if (kind === 0x5a) return this.#readSummary(reader, end);
    return this.#readNumber(reader, end);
  }

  /** Reads a field that all kinds share. Returns `false` for other fields. */
  #readSharedField(reader: WireCursor, tag: number, end: number): boolean {
    if (tag === this.#layout.attributes) this.#hashAttributes(reader, tag, end);
    else if (tag === 0x19) this.#readTime(reader, 0);
    else if (tag === 0x11) this.#readTime(reader, 2);
    else if (tag === this.#layout.flags) this.#flags = reader.readVarint();
    else if (tag === this.#layout.exemplars) {
      this.#hasExemplars = true;
      reader.skip(tag, end);
    } else return false;
    return true;
  }

  #readTime(reader: WireCursor, index: number): void {
    reader.readFixed64();
    const isOutOfRange = reader.high > maxTimeHigh;
    this.#times[index] = isOutOfRange ? 0xffffffff : reader.low;
    this.#times[index + 1] = isOutOfRange ? maxTimeHigh : reader.high;
  }

  /** Hashes adjacent attributes in one run, including tags and lengths. */
  #hashAttributes(reader: WireCursor, tag: number, end: number): void {
    const start = reader.position;
    reader.position = reader.readEnd(end);
    while (reader.position < end && reader.bytes[reader.position] === tag) {
      reader.position++;
      reader.position = reader.readEnd(end);
    }
    this.#rawHash.update(reader.bytes, start, reader.position);
  }

  #sortAttributes(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    const { position } = reader;
    reader.position = this.#start;
    while (reader.position < this.#end) {
      const tag = reader.readVarint();
      if (tag === this.#layout.attributes) this.#series.sortedLabels.add(reader, reader.readEnd(this.#end));
      else reader.skip(tag, this.#end);
    }
    reader.position = position;
  }

  #readNumber(reader: WireCursor, end: number) {
    this.#layout = layouts.number;
    const { samples } = this.#tables;
    let low = 0;
    let high = 0;
    let isInteger = false;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x21 || tag === 0x31) {
        reader.readFixed64();
        low = reader.low;
        high = reader.high;
        isInteger = tag === 0x31;
      } else if (!this.#readSharedField(reader, tag, end)) reader.skip(tag, end);
    }
    if ((this.#flags & 1) !== 0) samples.pushDouble(staleLow, staleHigh);
    else if (isInteger) samples.pushInteger(low, high);
    else samples.pushDouble(low, high);
    return samples;
  }

  #readHistogram(reader: WireCursor, end: number) {
    this.#layout = layouts.histogram;
    const { histograms } = this.#tables;
    const { histogramColumns } = histograms;
    const basics = this.#baseFields.clear();
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (basics.read(reader, this.#layout.words.indexOf(tag))) continue;
      if (tag === 0x32 || tag === 0x31) pushWords(reader, tag, end, histogramColumns.counts);
      else if (tag === 0x3a || tag === 0x39) pushWords(reader, tag, end, histogramColumns.bounds);
      else if (!this.#readSharedField(reader, tag, end)) reader.skip(tag, end);
    }
    basics.write(histogramColumns);
    histogramColumns.scale.push(0);
    histogramColumns.zero_count.push(0, 0);
    histogramColumns.zero_threshold.push(0, 0);
    histogramColumns.positive_offset.push(0);
    histogramColumns.negative_offset.push(0);
    histogramColumns.reset_hint.push(0);
    histograms.endRow();
    return histograms;
  }

  #readExponentialHistogram(reader: WireCursor, end: number) {
    this.#layout = layouts.exponential;
    const { histograms } = this.#tables;
    const { histogramColumns } = histograms;
    const basics = this.#baseFields.clear();
    let scale = 0;
    let positiveOffset = 0;
    let negativeOffset = 0;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (basics.read(reader, this.#layout.words.indexOf(tag))) continue;
      if (tag === 0x30) scale = decodeZigzag(reader.readVarint());
      else if (tag === 0x42)
        positiveOffset = pushBuckets(reader, reader.readEnd(end), histogramColumns.positive_counts);
      else if (tag === 0x4a)
        negativeOffset = pushBuckets(reader, reader.readEnd(end), histogramColumns.negative_counts);
      else if (!this.#readSharedField(reader, tag, end)) reader.skip(tag, end);
    }
    basics.write(histogramColumns);
    histogramColumns.scale.push(scale);
    histogramColumns.zero_count.push(basics.getLowWord(4), basics.getHighWord(4));
    histogramColumns.zero_threshold.push(basics.getLowWord(5), basics.getHighWord(5));
    histogramColumns.positive_offset.push(positiveOffset);
    histogramColumns.negative_offset.push(negativeOffset);
    histogramColumns.reset_hint.push(0);
    histograms.endRow();
    return histograms;
  }

  #readSummary(reader: WireCursor, end: number) {
    this.#layout = layouts.summary;
    const { summaries } = this.#tables;
    const { summaryColumns } = summaries;
    const basics = this.#baseFields.clear();
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (basics.read(reader, this.#layout.words.indexOf(tag))) continue;
      if (tag === 0x32)
        pushQuantile(reader, reader.readEnd(end), summaryColumns.quantiles, summaryColumns.quantile_values);
      else if (!this.#readSharedField(reader, tag, end)) reader.skip(tag, end);
    }
    summaryColumns.count.push(basics.getLowWord(0), basics.getHighWord(0));
    summaryColumns.sum.push(basics.getLowWord(1), basics.getHighWord(1));
    summaryColumns.quantiles.endRow();
    summaryColumns.quantile_values.endRow();
    return summaries;
  }

  #readExemplars(reader: WireCursor, end: number, name: readonly [number, number]): void {
    const source = this.#source;
    const { exemplars } = this.#tables;
    reader.position = this.#start;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag !== this.#layout.exemplars) {
        reader.skip(tag, end);
        continue;
      }
      this.#readExemplar(reader, reader.readEnd(end));
      exemplars.push(reader.bytes, name[0], name[1], this.#series.low, this.#series.high);
    }
    if (source !== undefined) exemplars.fillOrigin(source);
  }

  #readExemplar(reader: WireCursor, end: number): void {
    const { exemplars } = this.#tables;
    const times = this.#times;
    let low = 0;
    let high = 0;
    let isInteger = false;
    let traceStart = -1;
    let spanStart = -1;
    // The point's times were already written.
    times.fill(0);
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x3a) exemplars.attributes.push(reader, reader.readEnd(end));
      else if (tag === 0x11) this.#readTime(reader, 0);
      else if (tag === 0x19 || tag === 0x31) {
        reader.readFixed64();
        low = reader.low;
        high = reader.high;
        isInteger = tag === 0x31;
      } else if (tag === 0x22) spanStart = readIdStart(reader, end, 8);
      else if (tag === 0x2a) traceStart = readIdStart(reader, end, 16);
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    exemplars.pushTime(times[0] as number, times[1] as number);
    if (isInteger) exemplars.value.pushDouble(toSignedNumber(low, high));
    else exemplars.value.push(low, high);
    exemplars.trace_id.push(reader.bytes, traceStart);
    exemplars.span_id.push(reader.bytes, spanStart);
    exemplars.attributes.endRow();
  }
}

/** A repeated fixed64 or double, packed or separate, whose bytes are those of the column. */
const pushWords = (reader: WireCursor, tag: number, end: number, column: Words): void => {
  const stop = (tag & 7) === 2 ? reader.readEnd(end) : reader.position + 8;
  if (stop > end || (stop - reader.position) % 8 !== 0)
    throw createMalformedError('packed numbers end in the middle of a number', stop);
  column.elements.pushWireBytes(reader.bytes, reader.position, stop);
  reader.position = stop;
};

/** Pushes buckets of one sign and returns their offset. */
const pushBuckets = (reader: WireCursor, end: number, column: Words): number => {
  let offset = 0;
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag === 0x08) offset = decodeZigzag(reader.readVarint());
    else if (tag === 0x10) pushVarint(reader, column);
    else if (tag === 0x12) {
      const stop = reader.readEnd(end);
      while (reader.position < stop) pushVarint(reader, column);
      reader.expectPosition(stop);
    } else reader.skip(tag, end);
  }
  reader.expectPosition(end);
  return offset;
};

const pushVarint = (reader: WireCursor, column: Words): void => {
  reader.readVarint64();
  column.elements.push(reader.low, reader.high);
};

const pushQuantile = (reader: WireCursor, end: number, quantiles: Words, values: Words): void => {
  let quantileLow = 0;
  let quantileHigh = 0;
  let low = 0;
  let high = 0;
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag === 0x09) {
      reader.readFixed64();
      quantileLow = reader.low;
      quantileHigh = reader.high;
    } else if (tag === 0x11) {
      reader.readFixed64();
      low = reader.low;
      high = reader.high;
    } else reader.skip(tag, end);
  }
  reader.expectPosition(end);
  quantiles.elements.push(quantileLow, quantileHigh);
  values.elements.push(low, high);
};
