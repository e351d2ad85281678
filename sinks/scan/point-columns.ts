import { toSignedNumber } from '../../schemas/protobuf/cursor.ts';
import { exemplarsTable, histogramsTable, samplesTable, summariesTable } from '../../schemas/tables/metrics.ts';
import { FixedStringColumn, Int64Column, NumberColumn } from '../native/fixed-size-columns.ts';
import { ArrayColumn, MapColumn, NullableDoubleColumn } from '../native/nested-columns.ts';
import { createTableWriters, type TableWriters } from '../native/rows.ts';
import { DictionaryColumn } from '../native/strings.ts';
import { AttributeWriter, getAttributeColumns } from './attributes.ts';
import { OriginColumns } from './origin-columns.ts';
import type { RowSource } from './source.ts';

const nanosecondType = "DateTime64(9, 'UTC')";

/** The first columns of all point tables. Points of one metric are adjacent, so the metric is looked up once. */
class PointColumns {
  readonly origin = new OriginColumns();
  readonly columns = {
    metric: new DictionaryColumn(),
    series_id: new Int64Column('UInt64'),
    timestamp: new Int64Column(nanosecondType),
  } as const;
  readonly #timeColumns = {
    start_timestamp: new Int64Column(nanosecondType),
    flags: new NumberColumn('UInt32'),
  } as const;

  /** Further columns of samples, histograms and summaries. */
  get allColumns() {
    return { ...this.origin.columns, ...this.columns, ...this.#timeColumns };
  }

  push(bytes: Uint8Array, metricStart: number, metricEnd: number, low: number, high: number): void {
    this.columns.metric.push(bytes, metricStart, metricEnd);
    this.columns.series_id.push(low, high);
  }

  /** Appends the words of time and start time, and the flags. */
  pushTimes(times: Uint32Array, flags: number): void {
    this.columns.timestamp.push(times[0] as number, times[1] as number);
    this.#timeColumns.start_timestamp.push(times[2] as number, times[3] as number);
    this.#timeColumns.flags.push(flags);
  }

  /** Appends only the time, for exemplars. */
  pushTime(low: number, high: number): void {
    this.columns.timestamp.push(low, high);
  }

  /** Fills the origin of the rows since the last call. */
  fillOrigin(source: RowSource): void {
    this.origin.fill(source, this.columns.metric.rows - this.origin.columns.partition.rows);
  }
}

/** Rows of `samples` */
class SampleColumns extends PointColumns {
  readonly value = new Int64Column('Float64');
  /** The value of an integer that a double cannot represent; 0 for any other value */
  readonly integer = new Int64Column('Int64');
  readonly rows: TableWriters = createTableWriters(samplesTable, {
    ...this.allColumns,
    value: this.value,
    integer: this.integer,
  });

  /** Appends a double, bit for bit. */
  pushDouble(low: number, high: number): void {
    this.value.push(low, high);
    this.integer.push(0, 0);
  }

  pushInteger(low: number, high: number): void {
    const value = toSignedNumber(low, high);
    this.value.pushDouble(value);
    if (Number.isSafeInteger(value)) this.integer.push(0, 0);
    else this.integer.push(low, high);
  }
}

/** Rows of `histograms`. */
export class HistogramColumns extends PointColumns {
  readonly histogramColumns = {
    count: new Int64Column('UInt64'),
    sum: new NullableDoubleColumn(),
    min: new NullableDoubleColumn(),
    max: new NullableDoubleColumn(),
    bounds: new ArrayColumn(new Int64Column('Float64')),
    counts: new ArrayColumn(new Int64Column('UInt64')),
    scale: new NumberColumn('Int32'),
    zero_count: new Int64Column('UInt64'),
    zero_threshold: new Int64Column('Float64'),
    positive_offset: new NumberColumn('Int32'),
    positive_counts: new ArrayColumn(new Int64Column('UInt64')),
    negative_offset: new NumberColumn('Int32'),
    negative_counts: new ArrayColumn(new Int64Column('UInt64')),
    reset_hint: new NumberColumn('UInt8'),
    exact_counts: new ArrayColumn(new Int64Column('Float64')),
    positive_spans: new ArrayColumn(new NumberColumn('Int32')),
    negative_spans: new ArrayColumn(new NumberColumn('Int32')),
  } as const;
  readonly rows: TableWriters = createTableWriters(histogramsTable, { ...this.allColumns, ...this.histogramColumns });

  /** Ends the row's arrays. */
  endRow(): void {
    this.histogramColumns.bounds.endRow();
    this.histogramColumns.counts.endRow();
    this.histogramColumns.positive_counts.endRow();
    this.histogramColumns.negative_counts.endRow();
    this.histogramColumns.exact_counts.endRow();
    this.histogramColumns.positive_spans.endRow();
    this.histogramColumns.negative_spans.endRow();
  }
}

/** Rows of `summaries` */
class SummaryColumns extends PointColumns {
  readonly summaryColumns = {
    count: new Int64Column('UInt64'),
    sum: new Int64Column('Float64'),
    quantiles: new ArrayColumn(new Int64Column('Float64')),
    quantile_values: new ArrayColumn(new Int64Column('Float64')),
  } as const;
  readonly rows: TableWriters = createTableWriters(summariesTable, { ...this.allColumns, ...this.summaryColumns });
}

/** Rows of `exemplars`. Their attributes precede the identification of their series. */
class ExemplarColumns extends PointColumns {
  readonly value = new Int64Column('Float64');
  readonly trace_id = new FixedStringColumn(16);
  readonly span_id = new FixedStringColumn(8);
  readonly #map = new MapColumn();
  readonly #types = new DictionaryColumn();
  readonly attributes = new AttributeWriter(this.#map, this.#types);
  readonly rows: TableWriters = createTableWriters(exemplarsTable, {
    ...this.origin.columns,
    ...this.columns,
    value: this.value,
    trace_id: this.trace_id,
    span_id: this.span_id,
    ...getAttributeColumns(this.#map, this.#types),
  });
}

/** The tables of metric points. */
export class MetricTables {
  readonly samples = new SampleColumns();
  readonly histograms = new HistogramColumns();
  readonly summaries = new SummaryColumns();
  readonly exemplars = new ExemplarColumns();

  get rows(): readonly TableWriters[] {
    return [this.samples.rows, this.histograms.rows, this.summaries.rows, this.exemplars.rows];
  }

  fillOrigins(source: RowSource): void {
    this.samples.fillOrigin(source);
    this.histograms.fillOrigin(source);
    this.summaries.fillOrigin(source);
    this.exemplars.fillOrigin(source);
  }
}
