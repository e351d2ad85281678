/** The three levels of every OTLP request: resources, scopes, and the records of the telemetry signal. */

import type { WireCursor } from '../../schemas/protobuf/cursor.ts';
import type { DictionaryColumn } from '../native/strings.ts';
import { StringColumn } from '../native/strings.ts';
import { readService } from './attributes.ts';
import type { MessageUsage } from './message-usage.ts';
import type { ResourceRows } from './resource-rows.ts';
import type { RowSource } from './source.ts';

const noBytes = new Uint8Array(0);

/** Callbacks of a signal's scanner for each level. */
export interface OtlpVisitor {
  /**
   * A resource begins. `resources.low` and `.high` contain its ID, `service` is the index in `services`. Its range is
   * `start` to `end`.
   */
  resource(service: number, bytes: Uint8Array, start: number, end: number): void;
  /**
   * The records of one scope, between the reader's position and `end`, which also contains the scope and its schema
   * URL.
   */
  scope(reader: WireCursor, end: number, source: RowSource): void;
}

/** Iterates over a request. The resource is read before its contents, even if it follows them on the wire. */
export class OtlpWalker {
  readonly #resources: ResourceRows;
  readonly #services: DictionaryColumn;
  readonly #usage: MessageUsage;
  readonly #scratch = new StringColumn();

  constructor(resources: ResourceRows, services: DictionaryColumn, usage: MessageUsage) {
    this.#resources = resources;
    this.#services = services;
    this.#usage = usage;
  }

  walkRequest(reader: WireCursor, end: number, source: RowSource, visitor: OtlpVisitor): void {
    while (reader.at < end) {
      const { at } = reader;
      const { ordinal } = source;
      const tag = reader.readVarint();
      if (tag === 0x0a) {
        const service = this.#readResource(reader, reader.readEnd(end), source, visitor);
        this.#usage.countLanded(this.#services.textAt(service), source.ordinal - ordinal, reader.at - at);
      } else reader.skip(tag, end);
    }
    reader.expectPosition(end);
  }

  /** Returns the index of the resource's service. */
  #readResource(reader: WireCursor, end: number, source: RowSource, visitor: OtlpVisitor): number {
    const begin = reader.at;
    let start = begin;
    let stop = begin;
    let schema: Uint8Array = noBytes;
    while (reader.at < end) {
      const tag = reader.readVarint();
      if (tag === 0x0a) {
        stop = reader.readEnd(end);
        start = reader.at;
        reader.at = stop;
      } else if (tag === 0x1a) {
        const schemaEnd = reader.readEnd(end);
        schema = reader.bytes.subarray(reader.at, schemaEnd);
        reader.at = schemaEnd;
      } else reader.skip(tag, end);
    }
    this.#resources.identify(reader.bytes, start, stop, schema, source);
    reader.at = start;
    const service = readService(reader, stop, this.#services, this.#scratch);
    visitor.resource(service, reader.bytes, start, stop);
    reader.at = begin;
    while (reader.at < end) {
      const tag = reader.readVarint();
      if (tag === 0x12) visitor.scope(reader, reader.readEnd(end), source);
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    return service;
  }
}
