import { readAttributesJson } from '../../schemas/otlp/any-value.ts';
import type { WireCursor } from '../../schemas/protobuf/cursor.ts';
import { NumberColumn } from '../native/fixed-size-columns.ts';
import { DictionaryColumn } from '../native/strings.ts';

/** A range of bytes; empty if both positions are equal. */
export type ByteRange = readonly [start: number, end: number];

/**
 * Returns the ranges of the scope and its schema URL. The reader does not move: they may follow the
 * records.
 */
export const findScope = (
  reader: WireCursor,
  end: number,
): { readonly scope: ByteRange; readonly schemaUrl: ByteRange } => {
  const begin = reader.position;
  let scope: ByteRange = [begin, begin];
  let schemaUrl: ByteRange = scope;
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag !== 0x0a && tag !== 0x1a) {
      reader.skip(tag, end);
      continue;
    }
    const stop = reader.readEnd(end);
    if (tag === 0x0a) scope = [reader.position, stop];
    else schemaUrl = [reader.position, stop];
    reader.position = stop;
  }
  reader.expectPosition(end);
  reader.position = begin;
  return { scope, schemaUrl };
};

/** The scope columns of a table. Texts are in dictionaries, so that a scope is looked up once and then filled in. */
export class ScopeColumns {
  readonly columns = {
    scope_name: new DictionaryColumn(),
    scope_version: new DictionaryColumn(),
    scope_attributes: new DictionaryColumn(),
    scope_dropped_attributes: new NumberColumn('UInt32'),
    scope_schema_url: new DictionaryColumn(),
  } as const;
  #name = 0;
  #version = 0;
  #attributes = 0;
  #droppedAttributes = 0;
  #schemaUrl = 0;

  /** Reads the InstrumentationScope in the range `scope`. The reader does not move. */
  read(reader: WireCursor, [start, end]: ByteRange, schemaUrl: ByteRange): void {
    const { scope_name, scope_version, scope_attributes, scope_schema_url } = this.columns;
    const { bytes, position } = reader;
    this.#name = scope_name.findOrAdd(bytes, 0, 0);
    this.#version = scope_version.findOrAdd(bytes, 0, 0);
    this.#attributes = scope_attributes.findOrAdd(bytes, 0, 0);
    this.#droppedAttributes = 0;
    this.#schemaUrl = scope_schema_url.findOrAdd(bytes, ...schemaUrl);
    let hasAttributes = false;
    reader.position = start;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x20) {
        this.#droppedAttributes = reader.readVarint();
        continue;
      }
      const from = reader.position;
      reader.skip(tag, end);
      hasAttributes ||= tag === 0x1a;
      if (tag === 0x0a) this.#name = scope_name.findOrAdd(bytes, getContentStart(reader, from), reader.position);
      else if (tag === 0x12)
        this.#version = scope_version.findOrAdd(bytes, getContentStart(reader, from), reader.position);
    }
    reader.expectPosition(end);
    if (hasAttributes) {
      reader.position = start;
      this.#attributes = scope_attributes.findOrAddText(readAttributesJson(reader, end, 0x1a));
    }
    reader.position = position;
  }

  /** Appends the last scope for `count` rows. */
  repeatScope(count: number): void {
    const { columns } = this;
    columns.scope_name.pushRepeated(this.#name, count);
    columns.scope_version.pushRepeated(this.#version, count);
    columns.scope_attributes.pushRepeated(this.#attributes, count);
    columns.scope_dropped_attributes.pushRepeated(this.#droppedAttributes, count);
    columns.scope_schema_url.pushRepeated(this.#schemaUrl, count);
  }

  /** Attributes of the last scope, as JSON; empty without any. */
  get attributes(): string {
    const { scope_attributes } = this.columns;
    return scope_attributes.isEmpty(this.#attributes) ? '' : scope_attributes.getText(this.#attributes);
  }

  get hasName(): boolean {
    return !this.columns.scope_name.isEmpty(this.#name);
  }

  get hasVersion(): boolean {
    return !this.columns.scope_version.isEmpty(this.#version);
  }

  /** Returns the texts of the last scope. */
  toTexts(): ScopeTexts {
    const { columns } = this;
    return {
      scopeName: columns.scope_name.getText(this.#name),
      scopeVersion: columns.scope_version.getText(this.#version),
      scopeAttributes: columns.scope_attributes.getText(this.#attributes),
      scopeDroppedAttributes: this.#droppedAttributes,
      scopeSchemaUrl: columns.scope_schema_url.getText(this.#schemaUrl),
    };
  }

  /** Discards all texts. */
  reset(): void {
    for (const column of Object.values(this.columns)) column.reset();
  }
}

export interface ScopeTexts {
  readonly scopeName: string;
  readonly scopeVersion: string;
  /** Attributes as JSON, sorted by key; empty without any. */
  readonly scopeAttributes: string;
  readonly scopeDroppedAttributes: number;
  readonly scopeSchemaUrl: string;
}

/**
 * Returns the start of a length-delimited field's content, whose length is at `from`, and moves the reader after the
 * field.
 */
const getContentStart = (reader: WireCursor, from: number): number => {
  const { position: end } = reader;
  reader.position = from;
  reader.readVarint();
  const start = reader.position;
  reader.position = end;
  return start;
};
