/**
 * Shared data of the records of one resource and scope. The objects are reused for each group, and copied with a
 * record.
 */

import { decodeText, readAttributesJson } from '../otlp/any-value.ts';
import { WireCursor } from '../protobuf/cursor.ts';
import { type Attribute, type AttributeType, findLastAttributeText, readAttributes } from './attributes.ts';
import { buildServiceName } from './namespaced-name.ts';
import { type NestedValue, readNestedAttributes } from './nested-values.ts';

/** A range of bytes; empty if both positions are equal. */
export type ByteRange = readonly [start: number, end: number];
export const emptyRange: ByteRange = [0, 0];

/** Location of a record. Ordinals count records within the message over all its members, as in the tables. */
export interface RecordLocation {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly ordinal: number;
}

/** Tenant, location and reception time of a member. */
export interface RecordOrigin {
  readonly tenantId: string;
  readonly projectId: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly receivedAtMs: number;
}

/** Returns a copy of a range, which may outlive the memory of the bus. */
export const copyRange = (bytes: Uint8Array, [start, end]: ByteRange): Uint8Array =>
  Buffer.from(bytes.subarray(start, end));

const attributesTag = 0x0a;

/**
 * If several attributes have the same key, tables return the one that sorts first: by type, then by length and text.
 */
const isSortedBefore = (left: Attribute, right: Attribute): boolean => {
  if (left.type !== right.type) return left.type < right.type;
  return Buffer.compare(toLengthPrefixed(left.text), toLengthPrefixed(right.text)) < 0;
};

const toLengthPrefixed = (text: string): Buffer => {
  const bytes = Buffer.from(text, 'utf8');
  const length: number[] = [];
  let remaining = bytes.length;
  for (; remaining > 127; remaining >>>= 7) length.push((remaining & 127) | 128);
  return Buffer.concat([Buffer.of(...length, remaining), bytes]);
};

/** An OTLP resource. */
export class Resource {
  #cursor = new WireCursor(new Uint8Array(0));
  #range: ByteRange = emptyRange;
  #schemaUrlRange: ByteRange = emptyRange;
  #service: string | undefined;
  #attributes: Map<string, Attribute> | undefined;
  #nestedAttributes: readonly NestedValue[] | undefined;
  #copy: Resource | undefined;
  #wireText: string | undefined;

  moveTo(bytes: Uint8Array, range: ByteRange, schemaUrlRange: ByteRange): void {
    if (this.#cursor.bytes === bytes && this.#range === range && this.#schemaUrlRange === schemaUrlRange) return;
    this.#cursor.bytes = bytes;
    this.#range = range;
    this.#schemaUrlRange = schemaUrlRange;
    this.#service = undefined;
    this.#attributes = undefined;
    this.#nestedAttributes = undefined;
    this.#copy = undefined;
    this.#wireText = undefined;
  }

  /** The bytes as a binary string. If two resources have the same string, they have the same attributes. */
  get wireText(): string {
    const [start, end] = this.#range;
    this.#wireText ??= Buffer.prototype.latin1Slice.call(this.#cursor.bytes, start, end) as string;
    return this.#wireText;
  }

  /** The service, or an empty string. If an attribute is repeated, the last one on the wire counts, as in the tables. */
  get service(): string {
    this.#service ??= buildServiceName(this.#findText('service.name'), this.#findText('service.namespace'));
    return this.#service;
  }

  #findText(name: string): string {
    return findLastAttributeText(this.#cursor, attributesTag, ...this.#range, name) ?? '';
  }

  get schemaUrl(): string {
    return decodeText(this.#cursor.bytes, ...this.#schemaUrlRange);
  }

  /** Number of attributes that the sender dropped. */
  get droppedAttributes(): number {
    const cursor = this.#cursor;
    const [start, end] = this.#range;
    let dropped = 0;
    cursor.position = start;
    while (cursor.position < end) {
      const tag = cursor.readVarint();
      if (tag === 0x10) dropped = cursor.readVarint();
      else cursor.skip(tag, end);
    }
    return dropped;
  }

  get(key: string): string | undefined {
    return this.attributes.get(key)?.text;
  }

  getType(key: string): AttributeType | undefined {
    return this.attributes.get(key)?.type;
  }

  /** All attributes by key, decoded once for all records of the resource. */
  get attributes(): ReadonlyMap<string, Attribute> {
    if (this.#attributes !== undefined) return this.#attributes;
    const attributes = new Map<string, Attribute>();
    for (const attribute of readAttributes(this.#cursor, attributesTag, ...this.#range)) {
      const existingAttribute = attributes.get(attribute.key);
      if (existingAttribute === undefined || isSortedBefore(attribute, existingAttribute))
        attributes.set(attribute.key, attribute);
    }
    this.#attributes = attributes;
    return attributes;
  }

  /** Values inside the attributes that are arrays or maps, as far as they land; in the order of the keys' bytes. */
  get nestedAttributes(): readonly NestedValue[] {
    if (this.#nestedAttributes !== undefined) return this.#nestedAttributes;
    const compoundAttributes = [...this.attributes.values()]
      .filter(({ type }) => type === 'j')
      .sort((left, right) => Buffer.compare(Buffer.from(left.key), Buffer.from(right.key)));
    this.#nestedAttributes = readNestedAttributes(compoundAttributes).values;
    return this.#nestedAttributes;
  }

  /** Returns a copy that outlives the batch. All records of the resource share it. */
  copy(): Resource {
    if (this.#copy !== undefined) return this.#copy;
    const { bytes } = this.#cursor;
    const content = copyRange(bytes, this.#range);
    const copy = new Resource();
    const copiedBytes = Buffer.concat([content, copyRange(bytes, this.#schemaUrlRange)]);
    copy.moveTo(copiedBytes, [0, content.length], [content.length, copiedBytes.length]);
    this.#copy = copy;
    copy.#copy = copy;
    return copy;
  }
}

/** An instrumentation scope. */
export class Scope {
  #cursor = new WireCursor(new Uint8Array(0));
  #range: ByteRange = emptyRange;
  #schemaUrlRange: ByteRange = emptyRange;
  #isRead = false;
  #name = '';
  #version = '';
  #dropped = 0;
  #attributes: Map<string, Attribute> | undefined;
  #copy: Scope | undefined;

  moveTo(bytes: Uint8Array, range: ByteRange, schemaUrlRange: ByteRange): void {
    if (this.#cursor.bytes === bytes && this.#range === range && this.#schemaUrlRange === schemaUrlRange) return;
    this.#cursor.bytes = bytes;
    this.#range = range;
    this.#schemaUrlRange = schemaUrlRange;
    this.#isRead = false;
    this.#attributes = undefined;
    this.#copy = undefined;
  }

  get name(): string {
    return this.#readOnce().#name;
  }

  get version(): string {
    return this.#readOnce().#version;
  }

  get droppedAttributes(): number {
    return this.#readOnce().#dropped;
  }

  get schemaUrl(): string {
    return decodeText(this.#cursor.bytes, ...this.#schemaUrlRange);
  }

  get(key: string): string | undefined {
    return this.attributes.get(key)?.text;
  }

  /** All attributes by key. The first with a key counts. */
  get attributes(): ReadonlyMap<string, Attribute> {
    if (this.#attributes !== undefined) return this.#attributes;
    const attributes = new Map<string, Attribute>();
    for (const attribute of readAttributes(this.#cursor, 0x1a, ...this.#range))
      if (!attributes.has(attribute.key)) attributes.set(attribute.key, attribute);
    this.#attributes = attributes;
    return attributes;
  }

  /** Attributes as in the tables: JSON sorted by key, empty without attributes. */
  get attributesJson(): string {
    if (this.attributes.size === 0) return '';
    this.#cursor.position = this.#range[0];
    return readAttributesJson(this.#cursor, this.#range[1], 0x1a);
  }

  copy(): Scope {
    if (this.#copy !== undefined) return this.#copy;
    const { bytes } = this.#cursor;
    const content = copyRange(bytes, this.#range);
    const copy = new Scope();
    const copiedBytes = Buffer.concat([content, copyRange(bytes, this.#schemaUrlRange)]);
    copy.moveTo(copiedBytes, [0, content.length], [content.length, copiedBytes.length]);
    this.#copy = copy;
    copy.#copy = copy;
    return copy;
  }

  #readOnce(): this {
    if (this.#isRead) return this;
    this.#isRead = true;
    this.#name = '';
    this.#version = '';
    this.#dropped = 0;
    const cursor = this.#cursor;
    const [start, end] = this.#range;
    cursor.position = start;
    while (cursor.position < end) {
      const tag = cursor.readVarint();
      if (tag === 0x20) this.#dropped = cursor.readVarint();
      else if (tag === 0x0a || tag === 0x12) {
        const stop = cursor.readEnd(end);
        const text = decodeText(cursor.bytes, cursor.position, stop);
        if (tag === 0x0a) this.#name = text;
        else this.#version = text;
        cursor.position = stop;
      } else cursor.skip(tag, end);
    }
    return this;
  }
}
