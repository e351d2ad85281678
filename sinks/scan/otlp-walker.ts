/** Walks the three levels of every OTLP request: resources, scopes, and the records of the telemetry signal. */

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
  visitResource(service: number, bytes: Uint8Array, start: number, end: number): void;
  /**
   * The records of one scope, between the reader's position and `end`, which also contains the scope and its schema
   * URL.
   */
  visitScope(reader: WireCursor, end: number, source: RowSource): void;
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
    while (reader.position < end) {
      const { position: start } = reader;
      const { ordinal } = source;
      const tag = reader.readVarint();
      if (tag === 0x0a) {
        const service = this.#readResource(reader, reader.readEnd(end), source, visitor);
        this.#usage.countLanded(this.#services.getText(service), source.ordinal - ordinal, reader.position - start);
      } else reader.skip(tag, end);
    }
    reader.expectPosition(end);
  }

  /** Returns the index of the resource's service. */
  #readResource(reader: WireCursor, end: number, source: RowSource, visitor: OtlpVisitor): number {
    const begin = reader.position;
    let start = begin;
    let stop = begin;
    let schemaUrl: Uint8Array = noBytes;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x0a) {
        stop = reader.readEnd(end);
        start = reader.position;
        reader.position = stop;
      } else if (tag === 0x1a) {
        const schemaEnd = reader.readEnd(end);
        schemaUrl = reader.bytes.subarray(reader.position, schemaEnd);
        reader.position = schemaEnd;
      } else reader.skip(tag, end);
    }
    this.#resources.identify(reader.bytes, start, stop, schemaUrl, source);
    reader.position = start;
    const service = readService(reader, stop, this.#services, this.#scratch);
    visitor.visitResource(service, reader.bytes, start, stop);
    reader.position = begin;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x12) visitor.visitScope(reader, reader.readEnd(end), source);
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    return service;
  }
}
