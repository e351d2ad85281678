import { WireCursor } from '../../schemas/protobuf/cursor.ts';
import { buildServiceName } from '../../schemas/records/namespaced-name.ts';
import { resourcesTable } from '../../schemas/tables/resources.ts';
import { Int64Column, NumberColumn } from '../native/fixed-size-columns.ts';
import { ArrayColumn, MapColumn } from '../native/nested-columns.ts';
import { createTableWriters, type TableWriters } from '../native/rows.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';
import { AttributeWriter, getAttributeColumns, SortedAttributes } from './attributes.ts';
import { Murmur } from './hash.ts';
import { LandedHours } from './landed-hours.ts';
import { type RowSource, toHour } from './source.ts';

const millisecondType = "DateTime64(3, 'UTC')";

/**
 * IDs of resources, and the rows of resources that were not stored in this hour. An ID is the first 64 bits of MurmurHash3 (x86, 128
 * bits, seed 0) over the canonical form of the attributes (`SortedAttributes`). It does not depend on their order, the
 * process or the version. Tables store it, so neither the form nor the function may change.
 */
export class ResourceRows {
  readonly landedHours = new LandedHours();
  /** ID that `identify` computed. */
  low = 0;
  high = 0;
  readonly #columns = {
    tenant_id: new DictionaryColumn(),
    resource_id: new Int64Column('UInt64'),
    service: new DictionaryColumn(),
    schema_url: new DictionaryColumn(),
    dropped_attributes: new NumberColumn('UInt32'),
    first_seen: new Int64Column(millisecondType),
    last_seen: new Int64Column(millisecondType),
    nested_keys: new ArrayColumn(new StringColumn()),
    nested_values: new ArrayColumn(new StringColumn()),
    nested_types: new StringColumn(),
  } as const;
  readonly #map = new MapColumn();
  readonly #types = new DictionaryColumn();
  readonly rows: TableWriters = createTableWriters(resourcesTable, {
    ...this.#columns,
    ...getAttributeColumns(this.#map, this.#types),
  });
  readonly #attributes = new AttributeWriter(this.#map, this.#types);
  readonly #sorted = new SortedAttributes();
  readonly #canonical = new StringColumn();
  readonly #rawHash = new Murmur();
  readonly #hash = new Murmur();
  #droppedAttributes = 0;

  /**
   * Computes the ID of the Resource message between two positions (`start` = `end`: none), stores it in `low` and
   * `high`, and writes its row if that is due.
   */
  identify(bytes: Uint8Array, start: number, end: number, schemaUrl: Uint8Array, source: RowSource): void {
    const tenant = this.landedHours.getTenantNumber(source.tenantId);
    let slot = this.landedHours.find(tenant, this.#rawHash.seed(0).update(bytes, start, end));
    const isKnown = slot >= 0;
    if (!isKnown) {
      this.#sort(bytes, start, end);
      slot = this.landedHours.addEntry(tenant, this.#rawHash, this.#hash.a, this.#hash.b);
    }
    this.low = this.landedHours.getLowWord(slot);
    this.high = this.landedHours.getHighWord(slot);
    if (!this.landedHours.claim(slot, toHour(source.receivedAtMs))) return;
    if (isKnown) this.#sort(bytes, start, end);
    this.#write(schemaUrl, source);
  }

  #sort(bytes: Uint8Array, start: number, end: number): void {
    const reader = new WireCursor(bytes, start);
    this.#sorted.clear();
    this.#droppedAttributes = 0;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x0a) this.#sorted.add(reader, reader.readEnd(end));
      else if (tag === 0x10) this.#droppedAttributes = reader.readVarint();
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    this.#canonical.reset();
    this.#sorted.writeCanonical(this.#canonical);
    this.#hash.seed(0).update(this.#canonical.bytes, 0, this.#canonical.length);
  }

  #writeNestedValues(): void {
    const { nested_keys: keys, nested_values: texts, nested_types: types } = this.#columns;
    const { values } = this.#sorted.readNestedValues();
    for (const { path, text } of values) {
      keys.elements.pushText(path);
      texts.elements.pushText(text);
    }
    keys.endRow();
    texts.endRow();
    types.pushText(values.map(({ type }) => type).join(''));
  }

  #write(schemaUrl: Uint8Array, { tenantId, receivedAtMs }: RowSource): void {
    const columns = this.#columns;
    columns.tenant_id.pushText(tenantId);
    columns.resource_id.push(this.low, this.high);
    columns.service.pushText(
      buildServiceName(this.#sorted.findText('service.name'), this.#sorted.findText('service.namespace')),
    );
    columns.schema_url.push(schemaUrl, 0, schemaUrl.length);
    columns.dropped_attributes.push(this.#droppedAttributes);
    columns.first_seen.pushInteger(receivedAtMs);
    columns.last_seen.pushInteger(receivedAtMs);
    this.#sorted.writeRow(this.#attributes);
    this.#writeNestedValues();
  }
}
