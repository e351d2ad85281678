import { equalsAt } from '../../schemas/equal-bytes.ts';
import { typeCodes } from '../../schemas/otlp/any-value.ts';
import type { WireCursor } from '../../schemas/protobuf/cursor.ts';
import { buildServiceName } from '../../schemas/records/namespaced-name.ts';
import { type NestedValue, type NestedValues, readNestedAttributes } from '../../schemas/records/nested-values.ts';
import { nestedMarks, nestedTypeOffset } from '../../schemas/tables/parts.ts';
import type { Column } from '../native/column.ts';
import type { MapColumn } from '../native/nested-columns.ts';
import { type DictionaryColumn, StringColumn, skipVarint } from '../native/strings.ts';
import { pushAnyValue } from './any-value.ts';

const serviceName = Buffer.from('service.name', 'utf8');
const serviceNamespace = Buffer.from('service.namespace', 'utf8');

/** Writes the two attribute columns of a table: the map, and the type characters of the values. */
export class AttributeWriter {
  readonly #map: MapColumn;
  readonly #types: DictionaryColumn;
  readonly #hasNestedValues: boolean;
  #typeCodes = new Uint8Array(128);
  #count = 0;
  /** Indexes of the row's arrays and maps, and the positions of their JSON. */
  #jsonIndexes: number[] = [];
  #jsonPositions: number[] = [];

  /** With `hasNestedValues`, the values inside arrays and maps follow the attributes of a row. */
  constructor(map: MapColumn, types: DictionaryColumn, { hasNestedValues = false } = {}) {
    this.#map = map;
    this.#types = types;
    this.#hasNestedValues = hasNestedValues;
  }

  /** Appends the KeyValue between the reader's position and `end`. */
  push(reader: WireCursor, end: number): void {
    const { bytes, position } = reader;
    // Common form: only the key and the value, with lengths of one byte each.
    const keySize = bytes[position + 1] as number;
    const value = position + keySize + 4;
    const isCommon =
      bytes[position] === 0x0a &&
      keySize < 128 &&
      bytes[value - 2] === 0x12 &&
      (bytes[value - 1] as number) === end - value &&
      end - value < 128;
    if (!isCommon) {
      this.#pushFields(reader, end);
      return;
    }
    this.#map.keys.push(bytes, position + 2, value - 2);
    reader.position = value;
    const valuePosition = this.#map.values.length;
    this.#pushTypeCode(pushAnyValue(reader, end, this.#map.values), valuePosition);
  }

  #pushFields(reader: WireCursor, end: number): void {
    const { keys, values } = this.#map;
    const { bytes } = reader;
    let typeCode = 0;
    let keyStart = 0;
    let keyEnd = 0;
    const valuePosition = values.length;
    while (reader.position < end) {
      const tag = bytes[reader.position] as number;
      if (tag === 0x0a) {
        reader.position++;
        keyEnd = reader.readEnd(end);
        keyStart = reader.position;
        reader.position = keyEnd;
      } else if (tag === 0x12 && typeCode === 0) {
        reader.position++;
        typeCode = pushAnyValue(reader, reader.readEnd(end), values);
      } else reader.skip(reader.readVarint(), end);
    }
    reader.expectPosition(end);
    keys.push(bytes, keyStart, keyEnd);
    if (typeCode === 0) values.push(bytes, end, end);
    this.#pushTypeCode(typeCode || typeCodes.empty, valuePosition);
  }

  /** Appends an attribute with a text value. */
  pushText(source: Uint8Array, keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): void {
    this.pushValue(source, keyStart, keyEnd, source, valueStart, valueEnd, typeCodes.string);
  }

  /** Appends a key and a value from two buffers. */
  pushValue(
    keySource: Uint8Array,
    keyStart: number,
    keyEnd: number,
    valueSource: Uint8Array,
    valueStart: number,
    valueEnd: number,
    typeCode: number,
  ): void {
    const valuePosition = this.#map.values.length;
    this.#map.keys.push(keySource, keyStart, keyEnd);
    this.#map.values.push(valueSource, valueStart, valueEnd);
    this.#pushTypeCode(typeCode, valuePosition);
  }

  /** Ends the row, and returns the number of values inside arrays and maps that were omitted (`nestedLimits`). */
  endRow(): number {
    const omittedCount = this.#jsonIndexes.length === 0 ? 0 : this.#pushNestedAttributes();
    this.#map.endRow();
    this.#types.push(this.#typeCodes, 0, this.#count);
    this.#count = 0;
    return omittedCount;
  }

  /** Discards an incomplete row after an error. */
  discardRow(): void {
    this.#count = 0;
    this.#jsonIndexes.length = 0;
    this.#jsonPositions.length = 0;
  }

  #pushNestedAttributes(): number {
    const { keys, values } = this.#map;
    const firstRow = keys.rows - this.#count;
    const getKey = (index: number): string => keys.getText(keys.getIndex(firstRow + index));
    const attributes = this.#jsonIndexes.map((jsonIndex, index) => ({
      key: getKey(jsonIndex),
      text: values.getTextAt(this.#jsonPositions[index] as number),
    }));
    this.#jsonIndexes.length = 0;
    this.#jsonPositions.length = 0;
    const nested = readNestedAttributes(attributes);
    if (nested.values.length > 0)
      this.pushNestedValues(nested.values, new Set(Array.from({ length: this.#count }, (_, index) => getKey(index))));
    return nested.omittedCount;
  }

  /** Appends values inside arrays and maps after the attributes of the row, whose keys are `knownKeys`. */
  pushNestedValues(values: readonly NestedValue[], knownKeys = new Set<string>()): void {
    let hasSeveralValues = false;
    for (const { path, text, type } of values) {
      this.#map.keys.pushText(path);
      this.#map.values.pushText(text);
      this.#pushTypeCode(type.charCodeAt(0) - nestedTypeOffset, 0);
      hasSeveralValues ||= knownKeys.has(path);
      knownKeys.add(path);
    }
    if (values.length > 0)
      this.#pushTypeCode((hasSeveralValues ? nestedMarks.several : nestedMarks.single).charCodeAt(0), 0);
  }

  #pushTypeCode(typeCode: number, valuePosition: number): void {
    if (typeCode === typeCodes.json && this.#hasNestedValues) {
      this.#jsonIndexes.push(this.#count);
      this.#jsonPositions.push(valuePosition);
    }
    if (this.#count === this.#typeCodes.length) {
      const larger = new Uint8Array(this.#typeCodes.length * 2);
      larger.set(this.#typeCodes);
      this.#typeCodes = larger;
    }
    this.#typeCodes[this.#count++] = typeCode;
  }
}

/**
 * Sorted attributes of a resource or series: the canonical form for IDs. Each attribute is the key's length and bytes,
 * the type character, the value's length and bytes (as text), with varint lengths. Sorted by key, then by the rest, as
 * bytes. Built only for resources and series that are new to the process.
 */
export class SortedAttributes {
  readonly #values = new StringColumn();
  #entries: { key: Buffer; typeCode: number; from: number; start: number; end: number }[] = [];

  clear(): void {
    this.#values.reset();
    this.#entries = [];
  }

  /** Adds the KeyValue between the reader's position and `end`. */
  add(reader: WireCursor, end: number): void {
    let key = Buffer.alloc(0);
    let typeCode: number = 0;
    const from = this.#values.length;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x0a) {
        const stop = reader.readEnd(end);
        key = Buffer.from(reader.bytes.subarray(reader.position, stop));
        reader.position = stop;
      } else if (tag === 0x12 && typeCode === 0) typeCode = pushAnyValue(reader, reader.readEnd(end), this.#values);
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    if (typeCode === 0) this.#values.push(reader.bytes, end, end);
    this.#addEntry(key, typeCode || typeCodes.empty, from);
  }

  /** Adds text. */
  addText(source: Uint8Array, keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): void {
    const from = this.#values.length;
    this.#values.push(source, valueStart, valueEnd);
    this.#addEntry(Buffer.from(source.subarray(keyStart, keyEnd)), typeCodes.string, from);
  }

  #addEntry(key: Buffer, typeCode: number, from: number): void {
    const { bytes, length } = this.#values;
    this.#entries.push({ key, typeCode, from, start: skipVarint(bytes, from), end: length });
  }

  /** Writes the canonical form. */
  writeCanonical(output: StringColumn): void {
    const { bytes } = this.#values;
    this.#entries.sort(
      (left, right) =>
        Buffer.compare(left.key, right.key) ||
        left.typeCode - right.typeCode ||
        Buffer.compare(bytes.subarray(left.from, left.end), bytes.subarray(right.from, right.end)),
    );
    for (const { key, typeCode, start, end } of this.#entries) {
      output.push(key, 0, key.length);
      output.push(Uint8Array.of(typeCode), 0, 1);
      output.push(bytes, start, end);
    }
  }

  /** Writes a row of attributes in canonical order. */
  writeRow(writer: AttributeWriter): void {
    const { bytes } = this.#values;
    for (const { key, typeCode, start, end } of this.#entries) {
      writer.pushValue(key, 0, key.length, bytes, start, end, typeCode);
    }
    writer.endRow();
  }

  /** Returns the text of an attribute, or an empty string. */
  findText(key: string): string {
    const entry = this.#entries.find((entry) => entry.key.toString('utf8') === key);
    return entry === undefined ? '' : this.#values.getTextAt(entry.from);
  }

  /** Returns the values inside arrays and maps, in canonical order. */
  readNestedValues(): NestedValues {
    const attributes: { readonly key: string; readonly text: string }[] = [];
    let previousKey: Buffer | undefined;
    for (const { key, typeCode, from } of this.#entries) {
      // The first value of a key counts.
      if (typeCode === typeCodes.json && !(previousKey?.equals(key) ?? false))
        attributes.push({ key: key.toString('utf8'), text: this.#values.getTextAt(from) });
      previousKey = key;
    }
    return readNestedAttributes(attributes);
  }
}

/**
 * Returns the dictionary index of a resource's service (`buildServiceName`). A value that is not a string is converted in
 * `scratch`.
 */
export const readService = (
  reader: WireCursor,
  end: number,
  services: DictionaryColumn,
  scratch: StringColumn,
): number => {
  let nameStart = -1;
  let nameEnd = -1;
  let namespace = '';
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag !== 0x0a) {
      reader.skip(tag, end);
      continue;
    }
    const stop = reader.readEnd(end);
    const { position } = reader;
    const key = readKey(reader, stop);
    reader.position = position;
    if (key === serviceName) {
      nameStart = position;
      nameEnd = stop;
    } else if (key === serviceNamespace) namespace = readText(reader, stop, scratch).toString('utf8');
    reader.position = stop;
  }
  reader.expectPosition(end);
  if (nameStart < 0) return services.findOrAdd(reader.bytes, 0, 0);
  reader.position = nameStart;
  const name = readText(reader, nameEnd, scratch);
  reader.position = end;
  if (namespace === '') return services.findOrAdd(name, 0, name.length);
  const service = Buffer.from(buildServiceName(name.toString('utf8'), namespace));
  return services.findOrAdd(service, 0, service.length);
};

/**
 * Returns the key of the KeyValue between the reader's position and `end` if it is part of the service. Some senders
 * write it after the value.
 */
const readKey = (reader: WireCursor, end: number): Buffer | undefined => {
  let key: Buffer | undefined;
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag !== 0x0a) {
      reader.skip(tag, end);
      continue;
    }
    const stop = reader.readEnd(end);
    const length = stop - reader.position;
    const candidate = length === serviceName.length ? serviceName : serviceNamespace;
    key = length === candidate.length && equalsAt(reader.bytes, reader.position, candidate) ? candidate : undefined;
    reader.position = stop;
  }
  return key;
};

/** Returns the text of the value of a KeyValue, in bytes that are valid until `scratch` is used again. */
const readText = (reader: WireCursor, end: number, scratch: StringColumn): Buffer => {
  scratch.reset();
  while (reader.position < end) {
    const tag = reader.readVarint();
    if (tag === 0x12 && scratch.length === 0) pushAnyValue(reader, reader.readEnd(end), scratch);
    else reader.skip(tag, end);
  }
  if (scratch.length === 0) return noText;
  const start = skipVarint(scratch.bytes, 0);
  return Buffer.from(scratch.bytes.buffer, scratch.bytes.byteOffset + start, scratch.length - start);
};
const noText = Buffer.alloc(0);

/** Returns the columns that `AttributeWriter` fills, by their table names. */
export const getAttributeColumns = (
  map: MapColumn,
  types: DictionaryColumn,
): { readonly attributes: Column; readonly attribute_types: Column } => ({ attributes: map, attribute_types: types });
