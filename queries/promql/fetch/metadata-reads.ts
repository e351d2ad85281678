/** Reads metadata of metrics and numbers of series for Prometheus' endpoints. */
import type { TenantColumns } from '../../../schemas/ports/columns.ts';
import { seriesRowIntervalMs } from '../../../schemas/tables/metrics.ts';
import { buildMetricName, buildUnitName } from '../otlp/names.ts';
import { buildScopeCondition, type Scope, type Window } from './scope.ts';
import { listPromqlNames } from './stored-metrics.ts';

export interface MetricMetadata {
  readonly type: string;
  readonly help: string;
  readonly unit: string;
}

interface Row {
  readonly name: string;
  readonly of_source: string;
  readonly of_kind: string;
  readonly of_unit: string;
  readonly of_monotonic: boolean;
  readonly help: string;
}

const prometheusTypes: Readonly<Record<string, string>> = {
  sum: 'counter',
  exponential_histogram: 'histogram',
  gauge_histogram: 'gaugehistogram',
  state_set: 'stateset',
};

/** Returns the family of a remote-write series: its name without the suffix of a part. */
const toFamilyName = (name: string, kind: string): string => {
  if (kind === 'histogram' || kind === 'gauge_histogram') return name.replace(/_(?:bucket|sum|count)$/, '');
  return kind === 'summary' ? name.replace(/_(?:sum|count)$/, '') : name;
};

/** Returns metadata by family name, in order; if senders disagree, several per name, latest first. */
export const readMetadata = async (scope: Scope, window: Window): Promise<Map<string, MetricMetadata[]>> => {
  const { sql, parameters } = buildScopeCondition(scope, window, 'metric_metadata');
  const rows = await scope.columns.query<Row & { readonly seen: string }>(
    `SELECT metric AS name, source AS of_source, kind AS of_kind, unit AS of_unit, monotonic AS of_monotonic, description AS help,
      toString(toUnixTimestamp64Milli(max(metric_metadata.last_seen))) AS seen
    FROM metric_metadata WHERE ${sql} GROUP BY ALL ORDER BY max(metric_metadata.last_seen) DESC, name, of_kind, of_unit, help`,
    parameters,
  );
  const metadataByFamily = new Map<string, MetricMetadata[]>();
  const lastSeenMs = new Map<string, number>();
  for (const { name, of_source, of_kind: kind, of_unit: unit, of_monotonic: monotonic, help, seen } of rows) {
    const isOtlp = of_source === 'otlp';
    const { strategy } = scope.translation;
    const family = isOtlp
      ? buildMetricName({ metric: name, kind, monotonic, unit }, strategy)
      : toFamilyName(name, kind);
    // Metadata that is still being sent has a recent row. Metadata without a recent row was replaced.
    const lastMs = lastSeenMs.get(family) ?? Number(seen);
    lastSeenMs.set(family, lastMs);
    if (Number(seen) < lastMs - seriesRowIntervalMs) continue;
    const type = kind === 'sum' && !monotonic ? 'gauge' : (prometheusTypes[kind] ?? kind);
    const metadata = { type, help, unit: isOtlp ? buildUnitName(unit, strategy) : unit };
    const familyMetadata = metadataByFamily.get(family) ?? [];
    metadataByFamily.set(family, familyMetadata);
    const isKnown = familyMetadata.some(
      (metricMetadata) =>
        metricMetadata.type === type && metricMetadata.help === help && metricMetadata.unit === metadata.unit,
    );
    if (!isKnown) familyMetadata.push(metadata);
  }
  return new Map([...metadataByFamily].sort(([left], [right]) => (left < right ? -1 : 1)));
};

interface NamedCount {
  readonly name: string;
  readonly value: number;
}

/** Cardinality of the active series, largest first. */
export interface Cardinality {
  readonly series: number;
  readonly labelPairs: number;
  readonly minTimeMs: number;
  readonly maxTimeMs: number;
  readonly byMetric: readonly NamedCount[];
  readonly valuesByLabel: readonly NamedCount[];
  readonly bytesByLabel: readonly NamedCount[];
  readonly byPair: readonly NamedCount[];
}

const readCounts = async (
  columns: TenantColumns,
  sql: string,
  parameters: Readonly<Record<string, string>>,
): Promise<NamedCount[]> => {
  const rows = await columns.query<{ readonly name: string; readonly value: string }>(sql, parameters);
  return rows.map(({ name, value }) => ({ name, value: Number(value) }));
};

/** Labels include only those set by senders, not resource attributes. */
export const readCardinality = async (scope: Scope, window: Window, limit: number): Promise<Cardinality> => {
  const { columns } = scope;
  const { sql, parameters } = buildScopeCondition(scope, window);
  const pairs = `SELECT series_id, k AS label, v AS text FROM series ARRAY JOIN mapKeys(attributes) AS k, mapValues(attributes) AS v WHERE ${sql}`;
  const [metrics, [total], valuesByLabel, bytesByLabel, byPair] = await Promise.all([
    columns.query<Omit<Row, 'help'> & { readonly value: string }>(
      `SELECT metric AS name, source AS of_source, kind AS of_kind, series.unit AS of_unit, monotonic AS of_monotonic, toString(uniqExact(series_id)) AS value
      FROM series WHERE ${sql} GROUP BY ALL`,
      parameters,
    ),
    columns.query<{ readonly from_ms: string; readonly to_ms: string }>(
      `SELECT toString(toUnixTimestamp64Milli(min(series.first_seen))) AS from_ms, toString(toUnixTimestamp64Milli(max(series.last_seen))) AS to_ms FROM series WHERE ${sql}`,
      parameters,
    ),
    readCounts(
      columns,
      `SELECT label AS name, toString(uniqExact(text)) AS value FROM (${pairs}) GROUP BY label ORDER BY uniqExact(text) DESC, label`,
      parameters,
    ),
    readCounts(
      columns,
      `SELECT label AS name, toString(sum(length(text))) AS value FROM (SELECT DISTINCT label, text FROM (${pairs})) GROUP BY label ORDER BY sum(length(text)) DESC, label LIMIT ${limit}`,
      parameters,
    ),
    readCounts(
      columns,
      `SELECT concat(label, '=', text) AS name, toString(uniqExact(series_id)) AS value FROM (${pairs}) GROUP BY label, text ORDER BY uniqExact(series_id) DESC, name LIMIT ${limit}`,
      parameters,
    ),
  ]);
  const byMetric = new Map<string, number>();
  for (const row of metrics) {
    const metric = {
      metric: row.name,
      source: row.of_source,
      kind: row.of_kind,
      unit: row.of_unit,
      monotonic: row.of_monotonic,
    };
    for (const name of listPromqlNames(metric, scope.translation))
      byMetric.set(name, (byMetric.get(name) ?? 0) + Number(row.value));
  }
  const metricCounts = [...byMetric].map(([name, value]) => ({ name, value }));
  return {
    series: metricCounts.reduce((sum, { value }) => sum + value, 0),
    labelPairs: valuesByLabel.reduce((sum, { value }) => sum + value, byMetric.size),
    minTimeMs: Number(total?.from_ms ?? 0),
    maxTimeMs: Number(total?.to_ms ?? 0),
    byMetric: metricCounts
      .sort((left, right) => right.value - left.value || (left.name < right.name ? -1 : 1))
      .slice(0, limit),
    valuesByLabel: [{ name: '__name__', value: byMetric.size }, ...valuesByLabel]
      .sort((left, right) => right.value - left.value)
      .slice(0, limit),
    bytesByLabel,
    byPair,
  };
};
