import { decodeText, readAttributesJson } from '../../schemas/otlp/any-value.ts';
import { WireCursor } from '../../schemas/protobuf/cursor.ts';
import { DictionaryColumn } from '../native/strings.ts';
import { Murmur } from './hash.ts';
import type { MessageUsage } from './message-usage.ts';
import { OtlpPoints } from './otlp-points.ts';
import { type OtlpVisitor, OtlpWalker } from './otlp-walker.ts';
import type { MetricTables } from './point-columns.ts';
import type { ResourceRows } from './resource-rows.ts';
import { type ByteRange, findScope, ScopeColumns } from './scope-columns.ts';
import type { SeriesContext, SeriesRows } from './series-rows.ts';
import type { RowSource } from './source.ts';

/** Tags of Metric's alternatives → series type, and how to read the points */
const kindsByTag = new Map([
  [0x2a, 'gauge'],
  [0x3a, 'sum'],
  [0x4a, 'histogram'],
  [0x52, 'exponential_histogram'],
  [0x5a, 'summary'],
] as const);
const metadataTag = 0x62;
type KindTag = 0x2a | 0x3a | 0x4a | 0x52 | 0x5a;

/** Scans metrics of OTLP export requests into rows of points and of their series. */
export class OtlpMetrics implements OtlpVisitor {
  readonly #resources: ResourceRows;
  readonly #points: OtlpPoints;
  readonly #services = new DictionaryColumn();
  readonly #scopes = new ScopeColumns();
  readonly #walker: OtlpWalker;
  /** Hash of the shared data of a metric's points, and initial state of each point's hash */
  readonly #metricHash = new Murmur();
  readonly #projectHash = new Murmur();
  #context: SeriesContext | undefined;
  #service = '';
  #scopeRange: ByteRange = [0, 0];
  /** Ranges of the current metric, its name, its description and its unit */
  #metricRange: ByteRange = [0, 0];
  #name = [0, 0] as [number, number];
  #description = [0, 0] as [number, number];
  #unit = [0, 0] as [number, number];
  #bytes: Uint8Array = new Uint8Array(0);
  #tag: KindTag = 0x2a;
  #temporality = 0;
  #monotonic = false;
  #hasMetadata = false;

  constructor(resources: ResourceRows, series: SeriesRows, tables: MetricTables, usage: MessageUsage) {
    this.#resources = resources;
    this.#points = new OtlpPoints(series, tables, () => this.#createContext());
    this.#walker = new OtlpWalker(resources, this.#services, usage);
  }

  scanBody(bytes: Uint8Array, source: RowSource): void {
    this.#bytes = bytes;
    this.#services.reset();
    this.#scopes.reset();
    const project = Buffer.from(source.projectId, 'utf8');
    this.#projectHash.seed(0).update(project, 0, project.length);
    this.#points.begin(source);
    this.#walker.walkRequest(new WireCursor(bytes), bytes.length, source, this);
  }

  discardRow(): void {
    this.#points.discardRow();
  }

  visitResource(service: number): void {
    this.#service = this.#services.getText(service);
  }

  visitScope(reader: WireCursor, end: number): void {
    const { scope, schemaUrl } = findScope(reader, end);
    this.#scopes.read(reader, scope, schemaUrl);
    this.#scopeRange = scope;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x12) this.#readMetric(reader, reader.readEnd(end));
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
  }

  #readMetric(reader: WireCursor, end: number): void {
    this.#context = undefined;
    this.#name = [0, 0];
    this.#description = [0, 0];
    this.#unit = [0, 0];
    let kind = 0;
    let start = end;
    let stop = end;
    this.#metricRange = [reader.position, end];
    this.#hasMetadata = false;
    while (reader.position < end) {
      const tag = reader.readVarint();
      const fieldStart = reader.position;
      reader.skip(tag, end);
      if (tag === 0x0a) this.#name = getContentRange(reader, fieldStart);
      else if (tag === 0x12) this.#description = getContentRange(reader, fieldStart);
      else if (tag === 0x1a) this.#unit = getContentRange(reader, fieldStart);
      else if (tag === metadataTag) this.#hasMetadata = true;
      else if (kindsByTag.has(tag as KindTag)) {
        kind = tag;
        [start, stop] = getContentRange(reader, fieldStart);
      }
    }
    reader.expectPosition(end);
    if (kind === 0) return;
    this.#tag = kind as KindTag;
    reader.position = start;
    this.#readPoints(reader, stop);
    reader.position = end;
  }

  #readPoints(reader: WireCursor, end: number): void {
    const begin = reader.position;
    this.#temporality = 0;
    this.#monotonic = false;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x10) this.#temporality = Math.min(reader.readVarint(), 255);
      else if (tag === 0x18) this.#monotonic = reader.readVarint() !== 0;
      else reader.skip(tag, end);
    }
    this.#startHash();
    reader.position = begin;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x0a) {
        const stop = reader.readEnd(end);
        this.#points.push(reader, stop, this.#tag, this.#metricHash, this.#name);
      } else reader.skip(tag, end);
    }
    reader.expectPosition(end);
  }

  /** Starts the raw hash of the metric's series with everything except the labels that identifies them. */
  #startHash(): void {
    const bytes = this.#bytes;
    const flags = this.#tag | (this.#temporality << 8) | (this.#monotonic ? 65_536 : 0);
    this.#metricHash
      .seed(this.#resources.low, this.#resources.high, this.#projectHash.a, this.#projectHash.b ^ flags)
      .update(bytes, ...this.#scopeRange)
      .update(bytes, ...this.#unit)
      .update(bytes, ...this.#name);
  }

  #readMetadata(): string {
    if (!this.#hasMetadata) return '';
    const [start, end] = this.#metricRange;
    return readAttributesJson(new WireCursor(this.#bytes, start), end, metadataTag);
  }

  #createContext(): SeriesContext {
    const bytes = this.#bytes;
    this.#context ??= {
      metric: decodeText(bytes, ...this.#name),
      kind: kindsByTag.get(this.#tag) ?? '',
      temporality: this.#temporality,
      monotonic: this.#monotonic,
      unit: decodeText(bytes, ...this.#unit),
      description: decodeText(bytes, ...this.#description),
      source: 'otlp',
      service: this.#service,
      resourceLow: this.#resources.low,
      resourceHigh: this.#resources.high,
      ...this.#scopes.toTexts(),
      metadata: this.#readMetadata(),
    };
    return this.#context;
  }
}

/** Bounds of the length-delimited field just skipped, whose length starts at `from`. */
const getContentRange = (reader: WireCursor, from: number): [number, number] => {
  const stop = reader.position;
  reader.position = from;
  reader.readVarint();
  const start = reader.position;
  reader.position = stop;
  return [start, stop];
};
