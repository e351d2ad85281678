import { WireCursor } from '../../schemas/protobuf/cursor.ts';
import { NumberColumn, WordsColumn } from '../native/fixed.ts';
import { MapColumn } from '../native/nested.ts';
import type { Rows } from '../native/rows.ts';
import { DictionaryColumn } from '../native/strings.ts';
import { AttributeWriter, attributeColumns } from './attributes.ts';
import { MessageUsage } from './message-usage.ts';
import { OriginColumns } from './origin-columns.ts';
import { type OtlpVisitor, OtlpWalker } from './otlp-walker.ts';
import { ResourceRows } from './resource-rows.ts';
import { type Scanner, scanMembers } from './scanner.ts';
import { type Run, ScopeColumns } from './scope-columns.ts';
import { nanosecondWords, type RowSource } from './source.ts';

/**
 * What the scanners of log records and of spans share: the columns that repeat over a scope, filled once a run when its
 * rows have been counted, and the attributes.
 */
export abstract class RecordScanner implements OtlpVisitor {
  readonly #resources = new ResourceRows();
  readonly #usage = new MessageUsage();
  readonly #origin = new OriginColumns();
  readonly #scope = new ScopeColumns();
  readonly #own = {
    ordinal: new NumberColumn('UInt32'),
    service: new DictionaryColumn(),
    resource_id: new WordsColumn('UInt64'),
  } as const;
  readonly #map = new MapColumn();
  readonly #types = new DictionaryColumn();
  readonly #walker = new OtlpWalker(this.#resources, this.#own.service, this.#usage);
  #service = 0;
  protected readonly sharedColumns = {
    ...this.#origin.columns,
    ...this.#own,
    ...this.#scope.columns,
    ...attributeColumns(this.#map, this.#types),
  } as const;
  protected readonly attributes = new AttributeWriter(this.#map, this.#types);
  /** When the request was received. */
  protected received = nanosecondWords(0);
  protected abstract readonly rows: Rows;

  /** Reads one record up to its end and appends its row. */
  protected abstract record(reader: WireCursor, end: number): void;

  abandon(): void {
    this.attributes.abandon();
  }

  resource(service: number): void {
    this.#service = service;
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
  }

  scanner(): Scanner {
    return {
      tables: [this.#resources.rows, this.rows, this.#usage.rows],
      seen: [this.#resources.seen],
      scan: scanMembers(this.#usage, (body, _format, source) => {
        this.received = nanosecondWords(source.receivedAtMs);
        this.#walker.walk(new WireCursor(body), body.length, source, this);
      }),
      abandon: () => this.abandon(),
    };
  }
}
