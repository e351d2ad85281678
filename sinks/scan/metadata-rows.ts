import { metricMetadataTable } from '../../schemas/tables/metrics.ts';
import { Int64Column, NumberColumn } from '../native/fixed-size-columns.ts';
import { createTableWriters, type TableWriters } from '../native/rows.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';
import { Murmur } from './hash.ts';
import { LandedHours } from './landed-hours.ts';
import type { Metadata } from './remote-write-metadata.ts';
import { type RowSource, toHour } from './source.ts';

/**
 * Writes rows for the metadata that remote-write 1.0 sends separately from samples: once when it is new, and then
 * once per hour while it is sent.
 */
export class MetadataRows {
  readonly landedHours = new LandedHours();
  readonly #columns = {
    tenant_id: new DictionaryColumn(),
    project_id: new DictionaryColumn(),
    metric: new DictionaryColumn(),
    source: new DictionaryColumn(),
    kind: new DictionaryColumn(),
    monotonic: new NumberColumn('Bool'),
    unit: new DictionaryColumn(),
    description: new StringColumn(),
    last_seen: new Int64Column("DateTime64(3, 'UTC')"),
  } as const;
  readonly rows: TableWriters = createTableWriters(metricMetadataTable, this.#columns);
  readonly #hashInput = new StringColumn();
  readonly #hash = new Murmur();

  /** Writes the row of a family if it is due. */
  write(family: string, { kind, unit, description }: Metadata, source: RowSource): void {
    const hashInput = this.#hashInput;
    hashInput.reset();
    for (const text of [source.projectId, family, kind, unit, description]) hashInput.pushText(text);
    this.#hash.seed(0).update(hashInput.bytes, 0, hashInput.length);
    const tenant = this.landedHours.getTenantNumber(source.tenantId);
    let slot = this.landedHours.find(tenant, this.#hash);
    if (slot < 0) slot = this.landedHours.addEntry(tenant, this.#hash, 0, 0);
    if (!this.landedHours.claim(slot, toHour(source.receivedAtMs))) return;
    const columns = this.#columns;
    columns.tenant_id.pushText(source.tenantId);
    columns.project_id.pushText(source.projectId);
    columns.metric.pushText(family);
    columns.source.pushText('prometheus');
    columns.kind.pushText(kind);
    columns.monotonic.push(kind === 'counter' ? 1 : 0);
    columns.unit.pushText(unit);
    columns.description.pushText(description);
    columns.last_seen.pushInteger(source.receivedAtMs);
  }
}
