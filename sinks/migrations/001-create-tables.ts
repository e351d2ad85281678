/** Creates the tables in their first released form. Later migrations contain all changes. */
import type { Migration } from './migration.ts';

const dictionaryString = 'LowCardinality(String)';
const stringMap = `Map(${dictionaryString}, String)`;
const nanoseconds = "DateTime64(9, 'UTC')";
const milliseconds = "DateTime64(3, 'UTC')";
const deltaCodec = 'CODEC(Delta, ZSTD(1))';

const receivedColumns = `tenant_id ${dictionaryString}, project_id ${dictionaryString}, received_at ${milliseconds} ${deltaCodec},
    partition UInt16, offset UInt64 ${deltaCodec}`;
const scopeColumns = `scope_name ${dictionaryString}, scope_version ${dictionaryString}`;
const attributeColumns = `attributes ${stringMap}, attribute_types ${dictionaryString}`;
const seenColumns = `first_seen SimpleAggregateFunction(min, ${milliseconds}), last_seen SimpleAggregateFunction(max, ${milliseconds})`;
const seriesColumns = `${receivedColumns}, metric ${dictionaryString}, series_id UInt64, timestamp ${nanoseconds} ${deltaCodec}`;
const pointColumns = `${seriesColumns}, start_timestamp ${nanoseconds} ${deltaCodec}, flags UInt32`;

const byDay = 'PARTITION BY toYYYYMMDD(received_at)';
const settings = 'SETTINGS non_replicated_deduplication_window = 10000';
const buildOrderClauses = (column: string): string =>
  ['PRIMARY KEY', 'ORDER BY']
    .map((clause) => `${clause} (tenant_id, toStartOfTenMinutes(timestamp), service, ${column}`)
    .join(') ')
    .concat(', timestamp)');
const pointsEngine = `ENGINE = MergeTree ${byDay} ORDER BY (tenant_id, metric, series_id, timestamp) ${settings}`;

const tables: Readonly<Record<string, readonly [columns: string, engine: string]>> = {
  logs: [
    `${receivedColumns}, ordinal UInt32 ${deltaCodec}, timestamp ${nanoseconds} ${deltaCodec}, observed_timestamp ${nanoseconds} ${deltaCodec},
    service ${dictionaryString}, resource_id UInt64, ${scopeColumns}, severity_number UInt8, severity_text ${dictionaryString}, event_name ${dictionaryString},
    body String CODEC(ZSTD(1)), body_type ${dictionaryString}, ${attributeColumns}, dropped_attributes UInt32,
    trace_id FixedString(16), span_id FixedString(8), flags UInt32`,
    `ENGINE = MergeTree ${byDay} ${buildOrderClauses('resource_id')} ${settings}`,
  ],
  spans: [
    `${receivedColumns}, ordinal UInt32 ${deltaCodec}, timestamp ${nanoseconds} ${deltaCodec}, duration UInt64 CODEC(T64, ZSTD(1)),
    service ${dictionaryString}, resource_id UInt64, ${scopeColumns}, trace_id FixedString(16), span_id FixedString(8),
    parent_span_id FixedString(8), trace_state String, flags UInt32, name ${dictionaryString}, kind UInt8, status_code UInt8,
    status_message String, ${attributeColumns}, dropped_attributes UInt32, event_timestamps Array(${nanoseconds}),
    event_names Array(${dictionaryString}), event_attributes Array(${stringMap}), event_attribute_types Array(${dictionaryString}), dropped_events UInt32,
    link_trace_ids Array(FixedString(16)), link_span_ids Array(FixedString(8)), link_trace_states Array(String),
    link_attributes Array(${stringMap}), link_attribute_types Array(${dictionaryString}), dropped_links UInt32`,
    `ENGINE = MergeTree ${byDay} ${buildOrderClauses('name')} ${settings}`,
  ],
  series: [
    `tenant_id ${dictionaryString}, project_id ${dictionaryString}, metric ${dictionaryString}, series_id UInt64, kind ${dictionaryString}, temporality UInt8,
    monotonic Bool, unit ${dictionaryString}, description ${dictionaryString}, source ${dictionaryString}, service ${dictionaryString}, resource_id UInt64,
    ${scopeColumns}, ${attributeColumns}, ${seenColumns}`,
    `ENGINE = AggregatingMergeTree ORDER BY (tenant_id, metric, series_id) ${settings}, allow_dimensions_outside_sorting_key = 1`,
  ],
  samples: [`${pointColumns}, value Float64 CODEC(Gorilla, ZSTD(1))`, pointsEngine],
  histograms: [
    `${pointColumns}, count UInt64, sum Nullable(Float64), min Nullable(Float64), max Nullable(Float64), bounds Array(Float64),
    counts Array(UInt64), scale Int32, zero_count UInt64, zero_threshold Float64, positive_offset Int32,
    positive_counts Array(UInt64), negative_offset Int32, negative_counts Array(UInt64)`,
    pointsEngine,
  ],
  summaries: [
    `${pointColumns}, count UInt64, sum Float64, quantiles Array(Float64), quantile_values Array(Float64)`,
    pointsEngine,
  ],
  exemplars: [
    `${seriesColumns}, value Float64, trace_id FixedString(16), span_id FixedString(8), ${attributeColumns}`,
    pointsEngine,
  ],
  resources: [
    `tenant_id ${dictionaryString}, resource_id UInt64, service ${dictionaryString}, ${attributeColumns}, schema_url ${dictionaryString}, ${seenColumns}`,
    `ENGINE = AggregatingMergeTree ORDER BY (tenant_id, resource_id) ${settings}, allow_dimensions_outside_sorting_key = 1`,
  ],
  dead_letters: [
    `tenant_id ${dictionaryString}, id String, project_id ${dictionaryString}, key_id ${dictionaryString}, signal ${dictionaryString}, origin ${dictionaryString}, kind ${dictionaryString},
    reason ${dictionaryString}, message String, position Nullable(UInt64), received_at ${milliseconds}, source String, size UInt64,
    cut Bool, chunks UInt32, partition UInt16, offset UInt64`,
    `ENGINE = ReplacingMergeTree ${byDay} ORDER BY (tenant_id, received_at, id) ${settings}`,
  ],
  dead_letter_marks: [
    `tenant_id ${dictionaryString}, id String, outcome ${dictionaryString}, marked_at ${milliseconds}, actor String, partition UInt16, offset UInt64`,
    `ENGINE = ReplacingMergeTree ORDER BY (tenant_id, id) ${settings}`,
  ],
};

export const createTables: Migration = {
  id: 1,
  name: 'create tables',
  async up(columns) {
    for (const [name, [columnsSql, engine]] of Object.entries(tables))
      await columns.execute(`CREATE TABLE IF NOT EXISTS ${name} (${columnsSql}) ${engine}`);
  },
};
