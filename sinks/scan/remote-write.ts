import { decodeText } from '../../schemas/otlp/any-value.ts';
import { toSignedNumber, WireCursor } from '../../schemas/protobuf/cursor.ts';
import type { Format } from '../../schemas/telemetry-message.ts';
import { Murmur } from './hash.ts';
import type { MessageUsage } from './message-usage.ts';
import type { MetadataRows } from './metadata-rows.ts';
import { NativeHistogram } from './native-histogram.ts';
import { staleHigh, staleLow } from './otlp-points.ts';
import type { MetricTables } from './point-columns.ts';
import { JobNames, Labels, SymbolTable } from './remote-write-labels.ts';
import { emptyMetadata, getKindName, type Metadata, MetadataCache } from './remote-write-metadata.ts';
import type { SeriesContext, SeriesRows } from './series-rows.ts';
import { type RowSource, toNanosecondWords } from './source.ts';

/** Tags that differ between the two versions. */
const versionTags = {
  'remote-write-1': { series: 0x0a, exemplars: 0x1a, histograms: 0x22 },
  'remote-write-2': { series: 0x2a, exemplars: 0x22, histograms: 0x1a },
} as const;

/** Scans remote-write requests into rows of samples, native histograms and exemplars, and of their series. */
export class RemoteWrite {
  readonly #series: SeriesRows;
  readonly #metadataRows: MetadataRows;
  readonly #tables: MetricTables;
  readonly #usage: MessageUsage;
  readonly #metadataCache = new MetadataCache();
  readonly #symbols = new SymbolTable();
  readonly #labels = new Labels();
  readonly #jobs = new JobNames();
  readonly #exemplarLabels = new Labels();
  readonly #histogram = new NativeHistogram();
  readonly #rawHash = new Murmur();
  readonly #projectHash = new Murmur();
  readonly #times = new Uint32Array(4);
  #version: (typeof versionTags)[keyof typeof versionTags] = versionTags['remote-write-1'];
  #source: RowSource | undefined;
  #reader = new WireCursor(new Uint8Array(0));
  #metadata: Metadata | undefined;
  #hasHistograms = false;
  #createdMs = 0;
  /** Time range of the points in the current series */
  #oldestMs = Number.POSITIVE_INFINITY;
  #newestMs = Number.NEGATIVE_INFINITY;
  /** Last converted time: the samples of a request mostly have the same time */
  #lastMs = Number.NaN;
  #lastTime = toNanosecondWords(0);
  readonly #fillSortedLabels = (): void => this.#sortLabels();
  readonly #getContext = (): SeriesContext => this.#createContext();

  constructor(series: SeriesRows, metadataRows: MetadataRows, tables: MetricTables, usage: MessageUsage) {
    this.#series = series;
    this.#metadataRows = metadataRows;
    this.#tables = tables;
    this.#usage = usage;
  }

  scanBody(bytes: Uint8Array, format: Format, source: RowSource): void {
    this.#version = format === 'remote-write-2' ? versionTags[format] : versionTags['remote-write-1'];
    this.#source = source;
    this.#jobs.reset();
    this.#reader = new WireCursor(bytes);
    const project = Buffer.from(source.projectId, 'utf8');
    this.#projectHash.seed(1).update(project, 0, project.length);
    this.#readSymbolsAndMetadata(bytes.length, source);
    const reader = this.#reader;
    reader.position = 0;
    while (reader.position < bytes.length) {
      const { position } = reader;
      const tag = reader.readVarint();
      if (tag === this.#version.series) {
        const { ordinal } = source;
        this.#readTimeSeries(reader, reader.readEnd(bytes.length));
        this.#usage.countLanded(
          this.#jobs.findJob(bytes, this.#labels),
          source.ordinal - ordinal,
          reader.position - position,
        );
      } else reader.skip(tag, bytes.length);
    }
    this.#tables.fillOrigins(source);
  }

  discardRow(): void {
    this.#tables.exemplars.attributes.discardRow();
  }

  /** Symbols and metadata may follow the series that need them. */
  #readSymbolsAndMetadata(end: number, source: RowSource): void {
    const reader = this.#reader;
    const isFirstVersion = this.#version === versionTags['remote-write-1'];
    this.#symbols.clear();
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x22 && !isFirstVersion) {
        const stop = reader.readEnd(end);
        this.#symbols.add(reader.bytes, reader.position, stop);
        reader.position = stop;
      } else if (tag === 0x1a && isFirstVersion) this.#readFamilyMetadata(reader, reader.readEnd(end), source);
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
  }

  #readFamilyMetadata(reader: WireCursor, end: number, source: RowSource): void {
    let type = 0;
    const texts = { family: '', description: '', unit: '' };
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x08) type = reader.readVarint();
      else if (tag === 0x12) texts.family = readText(reader, end);
      else if (tag === 0x22) texts.description = readText(reader, end);
      else if (tag === 0x2a) texts.unit = readText(reader, end);
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    const { family, description, unit } = texts;
    const metadata = { kind: getKindName(type), description, unit };
    this.#metadataCache.store(source.tenantId, source.projectId, family, metadata);
    this.#metadataRows.write(family, metadata, source);
  }

  #readTimeSeries(reader: WireCursor, end: number): void {
    const source = this.#source;
    if (source === undefined) return;
    const begin = reader.position;
    this.#labels.clear();
    this.#metadata = undefined;
    this.#hasHistograms = false;
    this.#createdMs = 0;
    this.#oldestMs = Number.POSITIVE_INFINITY;
    this.#newestMs = Number.NEGATIVE_INFINITY;
    this.#rawHash.seed(this.#projectHash.a, this.#projectHash.b);
    if (this.#version === versionTags['remote-write-1']) this.#readFirstVersion(reader, end);
    else this.#readSecondVersion(reader, end);
    reader.expectPosition(end);
    // Histograms have their own ID: rows with the same ID merge, and a row of plain samples would hide the
    // histograms.
    if (this.#hasHistograms) this.#rawHash.b = ~this.#rawHash.b;
    this.#series.identify(this.#rawHash, source, this.#fillSortedLabels, this.#getContext);
    reader.position = begin;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x12) this.#readSample(reader, reader.readEnd(end));
      else if (tag === this.#version.histograms) this.#readNativeHistogram(reader, reader.readEnd(end));
      else if (tag === this.#version.exemplars) this.#readExemplar(reader, reader.readEnd(end));
      else reader.skip(tag, end);
    }
    // One row for all points: labels are sent once for many points. Exemplars may arrive without a point.
    const [first, last] =
      this.#oldestMs <= this.#newestMs ? [this.#oldestMs, this.#newestMs] : [source.receivedAtMs, source.receivedAtMs];
    this.#series.recordPoints(first, last, source, this.#fillSortedLabels, this.#getContext);
  }

  #readFirstVersion(reader: WireCursor, end: number): void {
    let labelsStart = -1;
    while (reader.position < end) {
      const start = reader.position;
      const tag = reader.readVarint();
      if (tag === 0x0a) {
        if (labelsStart < 0) labelsStart = start;
        this.#labels.read(reader, reader.readEnd(end));
        continue;
      }
      if (labelsStart >= 0) this.#rawHash.update(reader.bytes, labelsStart, start);
      labelsStart = -1;
      this.#hasHistograms ||= tag === this.#version.histograms;
      reader.skip(tag, end);
    }
    if (labelsStart >= 0) this.#rawHash.update(reader.bytes, labelsStart, end);
  }

  #readSecondVersion(reader: WireCursor, end: number): void {
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x0a) this.#labels.addReferences(reader, reader.readEnd(end), this.#symbols, this.#rawHash);
      else if (tag === 0x2a) this.#readMetadata(reader, reader.readEnd(end));
      else if (tag === 0x08) this.#labels.addReference(reader, this.#symbols, this.#rawHash);
      else if (tag === 0x30) this.#readCreated(reader);
      else {
        this.#hasHistograms ||= tag === this.#version.histograms;
        reader.skip(tag, end);
      }
    }
  }

  /** Up to 2.0-rc.3 the series contained the start of all its samples. */
  #readCreated(reader: WireCursor): void {
    reader.readVarint64();
    this.#createdMs = toSignedNumber(reader.low, reader.high);
  }

  #readMetadata(reader: WireCursor, end: number): void {
    let type = 0;
    let help = 0;
    let unit = 0;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x08) type = reader.readVarint();
      else if (tag === 0x18) help = reader.readVarint();
      else if (tag === 0x20) unit = reader.readVarint();
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    this.#metadataNumbers.type = type;
    this.#metadataNumbers.help = help;
    this.#metadataNumbers.unit = unit;
    this.#metadata = emptyMetadata;
  }

  /** Numbers of a 2.0 series' metadata; its texts are only read when a row is written */
  readonly #metadataNumbers = { type: 0, help: 0, unit: 0 };

  #readSample(reader: WireCursor, end: number): void {
    const { samples } = this.#tables;
    let low = 0;
    let high = 0;
    let milliseconds = 0;
    let startMs = 0;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x09) {
        reader.readFixed64();
        low = reader.low;
        high = reader.high;
      } else if (tag === 0x10) {
        reader.readVarint64();
        milliseconds = toSignedNumber(reader.low, reader.high);
      } else if (tag === 0x18) {
        reader.readVarint64();
        startMs = toSignedNumber(reader.low, reader.high);
      } else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    samples.pushDouble(low, high);
    this.#pushPoint(samples, milliseconds, startMs, low === staleLow && high === staleHigh);
  }

  #readNativeHistogram(reader: WireCursor, end: number): void {
    const { histograms } = this.#tables;
    this.#histogram.read(reader, end);
    this.#histogram.write(histograms);
    histograms.endRow();
    this.#pushPoint(histograms, this.#histogram.timestampMs, this.#histogram.startMs, this.#histogram.isStale);
  }

  #pushPoint(
    columns: MetricTables['samples'] | MetricTables['histograms'],
    milliseconds: number,
    startMs: number,
    isStale: boolean,
  ): void {
    const { nameStart, nameEnd } = this.#labels;
    columns.push(this.#reader.bytes, nameStart, nameEnd, this.#series.low, this.#series.high);
    if (milliseconds < this.#oldestMs) this.#oldestMs = milliseconds;
    if (milliseconds > this.#newestMs) this.#newestMs = milliseconds;
    const time = this.#toTime(milliseconds);
    this.#times[0] = time.low;
    this.#times[1] = time.high;
    const startOrCreatedMs = startMs === 0 ? this.#createdMs : startMs;
    const start = startOrCreatedMs === 0 ? undefined : toNanosecondWords(startOrCreatedMs);
    this.#times[2] = start?.low ?? 0;
    this.#times[3] = start?.high ?? 0;
    columns.pushTimes(this.#times, isStale ? 1 : 0);
    if (this.#source !== undefined) this.#source.ordinal++;
  }

  #toTime(milliseconds: number): { readonly low: number; readonly high: number } {
    if (milliseconds !== this.#lastMs) {
      this.#lastMs = milliseconds;
      this.#lastTime = toNanosecondWords(milliseconds);
    }
    return this.#lastTime;
  }

  #readExemplar(reader: WireCursor, end: number): void {
    const { exemplars } = this.#tables;
    const labels = this.#exemplarLabels;
    labels.clear();
    let low = 0;
    let high = 0;
    let milliseconds = 0;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x0a && this.#version === versionTags['remote-write-1']) labels.read(reader, reader.readEnd(end));
      else if (tag === 0x0a) labels.addReferences(reader, reader.readEnd(end), this.#symbols);
      else if (tag === 0x08) labels.addReference(reader, this.#symbols);
      else if (tag === 0x11) {
        reader.readFixed64();
        low = reader.low;
        high = reader.high;
      } else if (tag === 0x18) {
        reader.readVarint64();
        milliseconds = toSignedNumber(reader.low, reader.high);
      } else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    const { bytes } = reader;
    exemplars.push(bytes, this.#labels.nameStart, this.#labels.nameEnd, this.#series.low, this.#series.high);
    const time = this.#toTime(milliseconds);
    exemplars.pushTime(time.low, time.high);
    exemplars.value.push(low, high);
    this.#pushId('trace_id', 16);
    this.#pushId('span_id', 8);
    for (let at = 0; at < labels.count * 4; at += 4) {
      const [keyStart = 0, keyEnd = 0, start = 0, stop = 0] = labels.ranges.subarray(at, at + 4);
      exemplars.attributes.pushText(bytes, keyStart, keyEnd, start, stop);
    }
    exemplars.attributes.endRow();
  }

  /** Clients put the trace into labels with these names, in hexadecimal. */
  #pushId(name: 'trace_id' | 'span_id', width: number): void {
    const labels = this.#exemplarLabels;
    const { bytes } = this.#reader;
    for (let at = 0; at < labels.count * 4; at += 4) {
      const [keyStart = 0, keyEnd = 0, start = 0, stop = 0] = labels.ranges.subarray(at, at + 4);
      if (stop - start !== width * 2 || decodeText(bytes, keyStart, keyEnd) !== name) continue;
      const id = Buffer.from(decodeText(bytes, start, stop), 'hex');
      if (id.length !== width) continue;
      this.#tables.exemplars[name].push(id, 0);
      return;
    }
    this.#tables.exemplars[name].push(bytes, -1);
  }

  #sortLabels(): void {
    const { ranges, count } = this.#labels;
    const { bytes } = this.#reader;
    for (let at = 0; at < count * 4; at += 4) {
      const [keyStart = 0, keyEnd = 0, start = 0, stop = 0] = ranges.subarray(at, at + 4);
      // Prometheus treats a label with an empty value as absent.
      if (start < stop) this.#series.sortedLabels.addText(bytes, keyStart, keyEnd, start, stop);
    }
  }

  #createContext(): SeriesContext {
    const metric = decodeText(this.#reader.bytes, this.#labels.nameStart, this.#labels.nameEnd);
    const { kind, unit, description } = this.#findMetadata(metric);
    return {
      metric,
      kind: this.#hasHistograms ? 'exponential_histogram' : kind,
      temporality: this.#hasHistograms || kind === 'counter' || kind === 'histogram' ? 2 : 0,
      monotonic: kind === 'counter',
      unit,
      description,
      source: 'prometheus',
      service: this.#series.sortedLabels.findText('job'),
      resourceLow: 0,
      resourceHigh: 0,
      scopeName: '',
      scopeVersion: '',
      scopeAttributes: '',
      scopeDroppedAttributes: 0,
      scopeSchemaUrl: '',
      metadata: '',
    };
  }

  #findMetadata(metric: string): Metadata {
    const source = this.#source;
    if (source === undefined) return emptyMetadata;
    if (this.#metadata === undefined) return this.#metadataCache.find(source.tenantId, source.projectId, metric);
    return {
      kind: getKindName(this.#metadataNumbers.type),
      unit: this.#getSymbolText(this.#metadataNumbers.unit),
      description: this.#getSymbolText(this.#metadataNumbers.help),
    };
  }

  #getSymbolText(symbol: number): string {
    this.#symbols.requireSymbol(symbol, this.#reader.position);
    return decodeText(this.#reader.bytes, this.#symbols.getStart(symbol), this.#symbols.getEnd(symbol));
  }
}

const readText = (reader: WireCursor, limit: number): string => {
  const end = reader.readEnd(limit);
  const text = decodeText(reader.bytes, reader.position, end);
  reader.position = end;
  return text;
};
