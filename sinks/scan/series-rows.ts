import { seriesTable } from '../../schemas/tables/metrics.ts';
import { Int64Column, NumberColumn } from '../native/fixed-size-columns.ts';
import { MapColumn } from '../native/nested-columns.ts';
import { createTableWriters, type TableWriters } from '../native/rows.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';
import { AttributeWriter, getAttributeColumns, SortedAttributes } from './attributes.ts';
import { Murmur } from './hash.ts';
import { LandedHours } from './landed-hours.ts';
import type { ScopeTexts } from './scope-columns.ts';
import { type RowSource, toHour } from './source.ts';

const millisecondType = "DateTime64(3, 'UTC')";

/** Data that a series shares with others of its metric: everything except its labels. */
export interface SeriesContext extends ScopeTexts {
  metric: string;
  kind: string;
  temporality: number;
  monotonic: boolean;
  unit: string;
  description: string;
  source: 'otlp' | 'prometheus';
  service: string;
  resourceLow: number;
  resourceHigh: number;
  /** Metadata as JSON; empty without any, like the scope's attributes. */
  metadata: string;
}

/**
 * IDs of series, and the rows of series that were not stored yet for the hour of their points. An ID is the first 64 bits of MurmurHash3
 * (x86, 128 bits, seed 0) over the canonical form:
 * - source, project and metric;
 * - for OTLP: kind, unit, temporality and monotonicity (one digit each), the resource's ID (decimal), scope name and
 *   version, and its attributes as JSON if it has any;
 * - for native histograms of remote-write: `histogram`;
 * - the sorted labels (`SortedAttributes`).
 *
 * Every part consists of its length as a varint and its bytes. Prometheus metadata is not included, because it may
 * arrive after the samples. Tables store IDs, so neither the canonical form nor the hash function may change.
 */
export class SeriesRows {
  readonly landedHours = new LandedHours();
  /** ID that `identify` computed. */
  low = 0;
  high = 0;
  #slot = 0;
  #isSorted = false;
  readonly sortedLabels = new SortedAttributes();
  readonly #columns = {
    tenant_id: new DictionaryColumn(),
    project_id: new DictionaryColumn(),
    metric: new DictionaryColumn(),
    series_id: new Int64Column('UInt64'),
    kind: new DictionaryColumn(),
    temporality: new NumberColumn('UInt8'),
    monotonic: new NumberColumn('Bool'),
    unit: new DictionaryColumn(),
    description: new DictionaryColumn(),
    source: new DictionaryColumn(),
    service: new DictionaryColumn(),
    resource_id: new Int64Column('UInt64'),
    scope_name: new DictionaryColumn(),
    scope_version: new DictionaryColumn(),
    scope_attributes: new DictionaryColumn(),
    scope_dropped_attributes: new NumberColumn('UInt32'),
    scope_schema_url: new DictionaryColumn(),
    metadata: new DictionaryColumn(),
    first_seen: new Int64Column(millisecondType),
    last_seen: new Int64Column(millisecondType),
  } as const;
  readonly #map = new MapColumn();
  readonly #types = new DictionaryColumn();
  readonly rows: TableWriters = createTableWriters(seriesTable, {
    ...this.#columns,
    ...getAttributeColumns(this.#map, this.#types),
  });
  readonly #attributes = new AttributeWriter(this.#map, this.#types);
  readonly #canonical = new StringColumn();
  readonly #hash = new Murmur();

  /**
   * Computes the ID of the series whose raw bytes hash to `rawHash`, and stores it in `low` and `high`. `fillLabels`
   * fills `sortedLabels`; `getContext` returns the other data. Both are called only if needed.
   */
  identify(rawHash: Murmur, source: RowSource, fillLabels: () => void, getContext: () => SeriesContext): void {
    const tenant = this.landedHours.getTenantNumber(source.tenantId);
    let slot = this.landedHours.find(tenant, rawHash);
    this.#isSorted = slot < 0;
    if (slot < 0) {
      const { a, b } = rawHash;
      this.#fillSorted(fillLabels);
      this.#computeHash(getContext(), source);
      slot = this.landedHours.addEntry(tenant, { a, b }, this.#hash.a, this.#hash.b);
    }
    this.low = this.landedHours.getLowWord(slot);
    this.high = this.landedHours.getHighWord(slot);
    this.#slot = slot;
  }

  /**
   * Records that the series of `identify` has points between two times (epoch milliseconds), and writes its row if due:
   * once per hour of point time. Points with future timestamps count for the hour of their reception.
   */
  recordPoints(
    firstMs: number,
    lastMs: number,
    source: RowSource,
    fillLabels: () => void,
    getContext: () => SeriesContext,
  ): void {
    const latestMs = source.receivedAtMs;
    const first = Math.max(0, Math.min(firstMs, latestMs));
    const last = Math.max(0, Math.min(lastMs, latestMs));
    if (!this.landedHours.claim(this.#slot, toHour(first), toHour(last))) return;
    if (!this.#isSorted) this.#fillSorted(fillLabels);
    this.#isSorted = true;
    this.#write(getContext(), source, first, last);
  }

  #fillSorted(fillLabels: () => void): void {
    this.sortedLabels.clear();
    fillLabels();
  }

  #computeHash(context: SeriesContext, { projectId }: RowSource): void {
    const canonical = this.#canonical;
    canonical.reset();
    canonical.pushText(context.source);
    canonical.pushText(projectId);
    canonical.pushText(context.metric);
    if (context.source === 'otlp') {
      canonical.pushText(context.kind);
      canonical.pushText(context.unit);
      canonical.pushText(String(context.temporality));
      canonical.pushText(context.monotonic ? '1' : '0');
      canonical.pushText(((BigInt(context.resourceHigh) << 32n) | BigInt(context.resourceLow)).toString());
      canonical.pushText(context.scopeName);
      canonical.pushText(context.scopeVersion);
      if (context.scopeAttributes !== '') canonical.pushText(context.scopeAttributes);
    } else if (context.kind === 'exponential_histogram') canonical.pushText('histogram');
    this.sortedLabels.writeCanonical(canonical);
    this.#hash.seed(0).update(canonical.bytes, 0, canonical.length);
  }

  #write(context: SeriesContext, { tenantId, projectId }: RowSource, firstMs: number, lastMs: number): void {
    const columns = this.#columns;
    columns.tenant_id.pushText(tenantId);
    columns.project_id.pushText(projectId);
    columns.metric.pushText(context.metric);
    columns.series_id.push(this.low, this.high);
    columns.kind.pushText(context.kind);
    columns.temporality.push(context.temporality);
    columns.monotonic.push(context.monotonic ? 1 : 0);
    columns.unit.pushText(context.unit);
    columns.description.pushText(context.description);
    columns.source.pushText(context.source);
    columns.service.pushText(context.service);
    columns.resource_id.push(context.resourceLow, context.resourceHigh);
    columns.scope_name.pushText(context.scopeName);
    columns.scope_version.pushText(context.scopeVersion);
    columns.scope_attributes.pushText(context.scopeAttributes);
    columns.scope_dropped_attributes.push(context.scopeDroppedAttributes);
    columns.scope_schema_url.pushText(context.scopeSchemaUrl);
    columns.metadata.pushText(context.metadata);
    columns.first_seen.pushInteger(firstMs);
    columns.last_seen.pushInteger(lastMs);
    this.sortedLabels.writeRow(this.#attributes);
  }
}
