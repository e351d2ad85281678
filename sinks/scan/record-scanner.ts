import { WireCursor } from '../../schemas/protobuf/cursor.ts';
import { NumberColumn, WordsColumn } from '../native/fixed.ts';
import { MapColumn } from '../native/nested.ts';
import type { Rows } from '../native/rows.ts';
import { DictionaryColumn } from '../native/strings.ts';
import { AttributeWriter, attributeColumns } from './attributes.ts';
import { type CountedFields, FieldCounts, type Shape } from './field-counts.ts';
import { MessageUsage } from './message-usage.ts';
import { OriginColumns } from './origin-columns.ts';
import { type OtlpVisitor, OtlpWalker } from './otlp-walker.ts';
import { ResourceRows } from './resource-rows.ts';
import { type Scanner, scanMembers } from './scanner.ts';
import { type Run, ScopeColumns } from './scope-columns.ts';
import { Shapes } from './shapes.ts';
import { nanosecondWords, type RowSource } from './source.ts';

/** Returns whether there is an ID at `start` that is not all zeros. */
export const isId = (bytes: Uint8Array, start: number, width: number): boolean => {
  if (start < 0) return false;
  for (let at = start; at < start + width; at++) if (bytes[at] !== 0) return true;
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
  readonly #own = {
    timestamp: new WordsColumn("DateTime64(9, 'UTC')"),
    ordinal: new NumberColumn('UInt32'),
    service: new DictionaryColumn(),
    resource_id: new WordsColumn('UInt64'),
  } as const;
  readonly #map = new MapColumn();
  readonly #types = new DictionaryColumn();
  readonly #walker = new OtlpWalker(this.#resources, this.#own.service, this.#usage);
  readonly #shapes = new Shapes();
  readonly #firstOfRun: number;
  #service = 0;
  #resource: Shape = [];
  protected readonly sharedColumns = {
    ...this.#origin.columns,
    ...this.#own,
    ...this.#scope.columns,
    ...attributeColumns(this.#map, this.#types),
  } as const;
  protected readonly attributes = new AttributeWriter(this.#map, this.#types);
  /** The record's time. */
  protected readonly timestamp = this.#own.timestamp;
  /** Reception time of the request. */
  protected received = nanosecondWords(0);
  protected abstract readonly rows: Rows;
  protected readonly counts: FieldCounts;

  /**
   * `optional` names the fields that records may lack, which `counts.present` reports. Those of resource and scope are
   * added here.
   */
  constructor({ topic, optional, always }: CountedFields) {
    this.#firstOfRun = 2 ** optional.length;
    this.counts = new FieldCounts(
      { topic, optional: [...optional, 'service', 'scope.name', 'scope.version'], always: [...always, 'projectId'] },
      { timestamp: this.#own.timestamp, map: this.#map, types: this.#types },
    );
  }

  /** Reads one record up to its end and appends its row. */
  protected abstract record(reader: WireCursor, end: number): void;

  abandon(): void {
    this.attributes.abandon();
  }

  resource(service: number, bytes: Uint8Array, start: number, end: number): void {
    this.#service = service;
    this.#resource = this.#shapes.resource(this.#resources.low, this.#resources.high, bytes, start, end);
  }

  scope(reader: WireCursor, end: number, source: RowSource): void {
    let scope: Run = [reader.at, reader.at];
    let schemaUrl: Run = scope;
    let count = 0;
    while (reader.at < end) {
      const tag = reader.varint();
      if (tag === 0x12) {
        this.record(reader, reader.end(end));
        count++;
      } else if (tag === 0x0a || tag === 0x1a) {
        const stop = reader.end(end);
        if (tag === 0x0a) scope = [reader.at, stop];
        else schemaUrl = [reader.at, stop];
        reader.at = stop;
      } else reader.skip(tag, end);
    }
    reader.expect(end);
    this.#scope.read(reader, scope, schemaUrl);
    this.#origin.fill(source, count);
    this.#own.ordinal.sequence(source.ordinal, count);
    source.ordinal += count;
    this.#own.service.fill(this.#service, count);
    this.#own.resource_id.fill(this.#resources.low, this.#resources.high, count);
    this.#scope.fill(count);
    this.#countFields(count);
  }

  #countFields(count: number): void {
    const { rows } = this.#own.timestamp;
    const ofRun =
      (this.#own.service.isEmpty(this.#service) ? 0 : 1) +
      (this.#scope.hasName ? 2 : 0) +
      (this.#scope.hasVersion ? 4 : 0);
    const shapes = [this.#resource, this.#shapes.scope(this.#scope.attributes)];
    this.counts.run(rows - count, rows, shapes, ofRun * this.#firstOfRun);
  }

  scanner(): Scanner {
    const scan = scanMembers(this.#usage, (body, _format, source) => {
      this.received = nanosecondWords(source.receivedAtMs);
      this.counts.source(source);
      this.#walker.walk(new WireCursor(body), body.length, source, this);
    });
    return {
      tables: [this.#resources.rows, this.rows, this.counts.rows, this.#usage.rows],
      seen: [this.#resources.seen],
      scan: (message, partition) => {
        this.counts.begin();
        scan(message, partition);
        this.counts.end();
      },
      abandon: () => this.abandon(),
      finish: (first, last) => this.counts.finish(first, last),
    };
  }
}
