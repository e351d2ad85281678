import { WireCursor } from '../../schemas/protobuf/cursor.ts';
import { Int64Column, NumberColumn } from '../native/fixed-size-columns.ts';
import { MapColumn } from '../native/nested-columns.ts';
import type { TableWriters } from '../native/rows.ts';
import { DictionaryColumn } from '../native/strings.ts';
import { AttributeWriter, getAttributeColumns } from './attributes.ts';
import { type CountedFields, FieldCounts, type RecordShape } from './field-counts.ts';
import { MessageUsage } from './message-usage.ts';
import { OriginColumns } from './origin-columns.ts';
import { type OtlpVisitor, OtlpWalker } from './otlp-walker.ts';
import { ResourceRows } from './resource-rows.ts';
import { type Scanner, scanMembers } from './scanner.ts';
import { type ByteRange, ScopeColumns } from './scope-columns.ts';
import { ShapeCache } from './shapes.ts';
import { type RowSource, toNanosecondWords } from './source.ts';

/** Returns whether there is an ID at `start` that is not all zeros. */
export const isId = (bytes: Uint8Array, start: number, width: number): boolean => {
  if (start < 0) return false;
  for (let position = start; position < start + width; position++) if (bytes[position] !== 0) return true;
  return false;
};

/**
 * Common base of the scanners of log records and spans: the columns that repeat over a scope, filled once per run after
 * counting its rows, and the attributes.
 */
export abstract class RecordScanner implements OtlpVisitor {
  readonly #resources = new ResourceRows();
  readonly #usage = new MessageUsage();
  readonly #origin = new OriginColumns();
  readonly #scope = new ScopeColumns();
  readonly #recordColumns = {
    timestamp: new Int64Column("DateTime64(9, 'UTC')"),
    ordinal: new NumberColumn('UInt32'),
    service: new DictionaryColumn(),
    resource_id: new Int64Column('UInt64'),
  } as const;
  readonly #map = new MapColumn();
  readonly #types = new DictionaryColumn();
  readonly #walker = new OtlpWalker(this.#resources, this.#recordColumns.service, this.#usage);
  readonly #shapeCache = new ShapeCache();
  readonly #runFieldFactor: number;
  #service = 0;
  #resourceShape: RecordShape = [];
  protected readonly sharedColumns = {
    ...this.#origin.columns,
    ...this.#recordColumns,
    ...this.#scope.columns,
    ...getAttributeColumns(this.#map, this.#types),
  } as const;
  protected readonly attributes = new AttributeWriter(this.#map, this.#types, { hasNestedValues: true });
  /** The record's time. */
  protected readonly timestamp = this.#recordColumns.timestamp;
  /** Reception time of the request. */
  protected receivedTime = toNanosecondWords(0);
  protected abstract readonly rows: TableWriters;
  protected readonly counts: FieldCounts;

  /**
   * `optional` names the fields that a record may lack, which `counts.optionalFields` reports. The optional fields of
   * the resource and the scope are added here.
   */
  constructor({ topic, optional, always }: CountedFields) {
    this.#runFieldFactor = 2 ** optional.length;
    this.counts = new FieldCounts(
      { topic, optional: [...optional, 'service', 'scope.name', 'scope.version'], always: [...always, 'projectId'] },
      { timestamp: this.#recordColumns.timestamp, map: this.#map, types: this.#types },
    );
  }

  /** Reads one record up to its end and appends its row. */
  protected abstract pushRecord(reader: WireCursor, end: number): void;

  discardRow(): void {
    this.attributes.discardRow();
  }

  visitResource(service: number, bytes: Uint8Array, start: number, end: number): void {
    this.#service = service;
    this.#resourceShape = this.#shapeCache.getResourceShape(
      this.#resources.low,
      this.#resources.high,
      bytes,
      start,
      end,
    );
  }

  visitScope(reader: WireCursor, end: number, source: RowSource): void {
    let scope: ByteRange = [reader.position, reader.position];
    let schemaUrl: ByteRange = scope;
    let count = 0;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x12) {
        this.pushRecord(reader, reader.readEnd(end));
        count++;
      } else if (tag === 0x0a || tag === 0x1a) {
        const stop = reader.readEnd(end);
        if (tag === 0x0a) scope = [reader.position, stop];
        else schemaUrl = [reader.position, stop];
        reader.position = stop;
      } else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    this.#scope.read(reader, scope, schemaUrl);
    this.#origin.fill(source, count);
    this.#recordColumns.ordinal.pushSequence(source.ordinal, count);
    source.ordinal += count;
    this.#recordColumns.service.pushRepeated(this.#service, count);
    this.#recordColumns.resource_id.pushRepeated(this.#resources.low, this.#resources.high, count);
    this.#scope.repeatScope(count);
    this.#countFields(count);
  }

  #countFields(count: number): void {
    const { rows } = this.#recordColumns.timestamp;
    const runFields =
      (this.#recordColumns.service.isEmpty(this.#service) ? 0 : 1) +
      (this.#scope.hasName ? 2 : 0) +
      (this.#scope.hasVersion ? 4 : 0);
    const shapes = [this.#resourceShape, this.#shapeCache.getScopeShape(this.#scope.attributes)];
    this.counts.recordRun(rows - count, rows, shapes, runFields * this.#runFieldFactor);
  }

  createScanner(): Scanner {
    const scanMessage = scanMembers(this.#usage, (body, _format, source) => {
      this.receivedTime = toNanosecondWords(source.receivedAtMs);
      this.counts.setSource(source);
      this.#walker.walkRequest(new WireCursor(body), body.length, source, this);
    });
    return {
      tables: [this.#resources.rows, this.rows, this.counts.rows, this.#usage.rows],
      landedHours: [this.#resources.landedHours],
      scan: (message, partition) => {
        this.counts.begin();
        scanMessage(message, partition);
        this.counts.end();
      },
      discardRow: () => this.discardRow(),
      finish: (first, last) => this.counts.finish(first, last),
    };
  }
}
