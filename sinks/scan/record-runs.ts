import type { WireCursor } from '../../schemas/protobuf/cursor.ts';
import { NumberColumn, WordsColumn } from '../native/fixed.ts';
import { DictionaryColumn } from '../native/strings.ts';
import { OriginColumns } from './origin-columns.ts';
import type { ResourceRows } from './resource-rows.ts';
import { type Run, ScopeColumns } from './scope-columns.ts';
import type { RowSource } from './source.ts';

/** Columns of log records and spans that repeat over a scope: filled once a run, when its rows have been counted. */
export class RecordRuns {
  readonly #origin = new OriginColumns();
  readonly #scope = new ScopeColumns();
  readonly #resources: ResourceRows;
  readonly #own = {
    ordinal: new NumberColumn('UInt32'),
    service: new DictionaryColumn(),
    resource_id: new WordsColumn('UInt64'),
  } as const;
  readonly columns = { ...this.#origin.columns, ...this.#own, ...this.#scope.columns } as const;
  #service = 0;

  constructor(resources: ResourceRows) {
    this.#resources = resources;
  }

  /** A resource begins; the index of its service. */
  resource(service: number): void {
    this.#service = service;
  }

  /** Gives `record` the end of each record, at which it leaves the reader, and fills the columns for all of them. */
  scope(reader: WireCursor, end: number, source: RowSource, record: (reader: WireCursor, end: number) => void): void {
    let scope: Run = [reader.at, reader.at];
    let schemaUrl: Run = scope;
    let count = 0;
    while (reader.at < end) {
      const tag = reader.varint();
      if (tag === 0x12) {
        record(reader, reader.end(end));
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
}
