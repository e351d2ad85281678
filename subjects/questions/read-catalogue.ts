/** Reads the catalogue of a tenant's names for questions from the last week, and caches it for one minute */
import { canRead } from '../../queries/entitlement.ts';
import {
  type CataloguedField,
  countRecords,
  listCatalogue,
  toOverlappingHours,
} from '../../queries/fields/catalogue.ts';
import { getRetentionDays, type Range } from '../../queries/range.ts';
import { RowCache } from '../../queries/row-cache.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../../queries/series-first-seen.ts';
import { type SearchSignal, signalDefinitions } from '../../queries/signals/index.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { parseTime } from '../../queries/time.ts';
import { type Reference, resolveReference, spanFields } from '../../schemas/fields.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { readDeployments } from '../services/deployments.ts';
import type { Catalogue, CatalogueField, CatalogueMetric, CatalogueRecords, MetricKind } from './catalogue.ts';
import {
  maxRecords,
  maxValues,
  readLabelValues,
  readRecordValues,
  readResourceValues,
  type ValuesByName,
} from './frequent-values.ts';
import type { ServiceDeployment } from './times.ts';

const hourNs = 3_600_000_000_000n;
const cacheTtlMs = 60_000;
const maxFields = 2_000;
const maxMetrics = 5_000;

interface CachedCatalogue {
  readonly atMs: number;
  readonly catalogue: Promise<Catalogue>;
}
const catalogueCache = new RowCache<CachedCatalogue>(100);

/** Returns the catalogue without labels of metrics, which `readMetricLabels` reads for the metrics in a question. */
export const readCachedCatalogue = (reader: TenantReader): Promise<Catalogue> => {
  const rows = catalogueCache.forTenant(reader.columns);
  const key = reader.plan.entitlements.filter((entitlement) => canRead(reader, entitlement)).join(' ');
  const cached = rows.get(key);
  if (cached !== undefined && performance.now() - cached.atMs < cacheTtlMs) return cached.catalogue;
  const catalogue = readCatalogue(reader);
  // The next question retries after a failure.
  catalogue.catch(() => rows.set(key, { atMs: Number.NEGATIVE_INFINITY, catalogue }));
  rows.set(key, { atMs: performance.now(), catalogue });
  return catalogue;
};

const readCatalogue = async (reader: TenantReader): Promise<Catalogue> => {
  const [logs, traces, metrics] = await Promise.all([
    readRecords(reader, 'logs'),
    readRecords(reader, 'traces'),
    readMetrics(reader),
  ]);
  return { logs, traces, metrics };
};

/** Returns the last week, limited by the plan's retention. */
const getLastWeek = ({ nowMs, plan }: TenantReader, signal: SearchSignal | 'metrics'): Range => {
  const to = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  const days = BigInt(Math.max(1, Math.min(7, getRetentionDays(plan, signal))));
  return { from: to - days * 24n * hourNs, to };
};

const isReadable = (reader: TenantReader, signal: SearchSignal | 'metrics'): boolean =>
  canRead(reader, signalDefinitions[signal].entitlement);

const kinds = spanFields.find(({ name }) => name === 'kind')?.names ?? [];
const kindName = `[${kinds.map(quoteString).join(', ')}][toUInt8(kind) + 1]`;

const ownColumns: Readonly<Record<SearchSignal, Readonly<Record<string, string>>>> = {
  logs: { service: 'service' },
  traces: { service: 'service', name: 'name', kind: kindName },
};

const readRecords = async (reader: TenantReader, signal: SearchSignal): Promise<CatalogueRecords> => {
  if (!isReadable(reader, signal)) return { services: [], fields: [] };
  const week = getLastWeek(reader, signal);
  const { range, isComplete } = await chooseSampleRange(reader, signal, week);
  const [{ fields }, attributeValues, resources] = await Promise.all([
    listCatalogue(reader, { signal, range: week, limit: maxFields }),
    readRecordValues(reader, { signal, range, fields: ownColumns[signal] }),
    readResourceValues(reader, Number(week.from / 1_000_000n)),
  ]);
  const names = fields.flatMap(
    (field) => toKnownField(field, signal, { own: attributeValues, resources, isComplete }) ?? [],
  );
  const builtInNames = signal === 'traces' ? (['name', 'kind'] as const) : [];
  return {
    services: attributeValues.get('service') ?? [],
    fields: [...builtInNames.map((name) => createField(name, attributeValues.get(name) ?? [], false)), ...names],
  };
};

/** Returns a range with few enough records that a sample is representative, and whether it covers the full week. */
const chooseSampleRange = async (
  reader: TenantReader,
  signal: SearchSignal,
  week: Range,
): Promise<{ readonly range: Range; readonly isComplete: boolean }> => {
  const countInRange = async (range: Range): Promise<number> =>
    (await countRecords(reader, { signal }, toOverlappingHours(range))).records;
  const total = await countInRange(week);
  if (total <= 10 * maxRecords) return { range: week, isComplete: total <= maxRecords };
  const lastHours = (hours: bigint): Range => ({ from: week.to - hours * hourNs, to: week.to });
  const hasFewRecords = (await countInRange(lastHours(24n))) <= 10 * maxRecords;
  return { range: lastHours(hasFewRecords ? 24n : 1n), isComplete: false };
};

const createField = (
  name: string,
  values: readonly string[],
  isComplete: boolean,
  isNumber = false,
): CatalogueField => ({
  name,
  values,
  isNumber,
  hasAllValues: isComplete && values.length < maxValues,
});

interface CatalogueValues {
  readonly own: ValuesByName;
  readonly resources: ValuesByName;
  readonly isComplete: boolean;
}

const numericPattern = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * Returns a catalogued attribute, named as in searches, without a prefix if that is unambiguous. Built-in
 * fields are omitted, because they are added separately.
 */
const toKnownField = (
  { kind, key, name, types }: CataloguedField,
  signal: SearchSignal,
  known: CatalogueValues,
): CatalogueField | undefined => {
  if (kind === 'field' || key === '') return undefined;
  const isRecordAttribute = known.own.has(key) && kind === 'resource';
  const reference: Reference = resolveReference(signalDefinitions[signal].fields, key);
  const isPlain = kind !== 'scope' && kind !== 'body' && !isRecordAttribute && reference.kind === 'any';
  const attributeValues = kind === 'resource' ? known.resources : known.own;
  const values = kind === 'body' ? [] : (attributeValues.get(key) ?? []);
  const isTyped = types[0]?.type === 'integer' || types[0]?.type === 'double';
  const isNumber = isTyped || (values.length > 0 && values.every((value) => numericPattern.test(value)));
  // Numbers with few distinct values are matched by comparison, not by mention.
  return createField(isPlain ? key : name, values, known.isComplete && values.length > 0, isNumber);
};

interface MetricRow {
  readonly name: string;
  readonly of_kind: string;
  readonly of_unit: string;
  readonly of_monotonic: boolean;
  readonly service_names: readonly string[];
}

const readMetrics = async (reader: TenantReader): Promise<readonly CatalogueMetric[]> => {
  if (!isReadable(reader, 'metrics')) return [];
  const rows = await reader.columns.query<MetricRow>(
    `SELECT metric AS name, min(series.kind) AS of_kind, max(series.unit) AS of_unit, max(series.monotonic) AS of_monotonic,
      arraySort(groupUniqArray(100)(toString(series.service))) AS service_names
    FROM series WHERE tenant_id = {tenant:String} AND ${seriesSeenCondition} GROUP BY metric ORDER BY metric LIMIT ${maxMetrics}`,
    toSeriesSeenParameters(getLastWeek(reader, 'metrics')),
  );
  const names = new Set(rows.map(({ name }) => name));
  return rows.flatMap((row) => {
    const base = row.name.replace(/_(?:bucket|count|sum)$/, '');
    // A classic histogram is named without the suffix of its series.
    if (base !== row.name && names.has(`${base}_bucket`))
      return row.name.endsWith('_bucket') ? [toMetric(row, base)] : [];
    return [toMetric(row, row.name)];
  });
};

const toMetricKind = ({ name, of_kind, of_monotonic }: MetricRow): MetricKind => {
  if (/histogram/.test(of_kind) || name.endsWith('_bucket')) return 'histogram';
  if (of_kind === 'summary') return 'summary';
  const isCounter = of_monotonic || of_kind === 'counter' || (of_kind === 'unknown' && name.endsWith('_total'));
  return isCounter ? 'counter' : 'gauge';
};

const toMetric = (row: MetricRow, name: string): CatalogueMetric => ({
  name,
  kind: toMetricKind(row),
  unit: row.of_unit,
  labels: [],
  services: row.service_names.filter((service) => service !== ''),
});

/**
 * Returns the deployments of the last week, for questions such as "errors since the last deployment". Those of the last
 * day are read separately, because their times are exact to the minute.
 */
export const readServiceDeployments = async (reader: TenantReader): Promise<readonly ServiceDeployment[]> => {
  if (!isReadable(reader, 'traces')) return [];
  const week = getLastWeek(reader, 'traces');
  const dayStart = week.to - 24n * hourNs;
  const [newest, earlier] = await Promise.all(
    [
      { from: dayStart, to: week.to },
      { from: week.from, to: dayStart - 1n },
    ].map((range) =>
      range.from < range.to ? readDeployments(reader, { range, scope: 'account' }) : { deployments: [] },
    ),
  );
  return [...(newest?.deployments ?? []), ...(earlier?.deployments ?? [])].map(({ service, version, time }) => ({
    service,
    version,
    atMs: Number((parseTime(time, reader.nowMs) ?? 0n) / 1_000_000n),
  }));
};

/** Returns the given metrics with their labels, by name. */
export const readMetricLabels = async (
  requestedMetrics: readonly CatalogueMetric[],
  reader: TenantReader,
): Promise<ReadonlyMap<string, CatalogueMetric>> => {
  const week = getLastWeek(reader, 'metrics');
  const metricEntries = requestedMetrics.map(
    async (metric): Promise<[string, CatalogueMetric]> => [
      metric.name,
      { ...metric, labels: await readLabels(metric, week, reader) },
    ],
  );
  return new Map(await Promise.all(metricEntries));
};

const readLabels = async (
  { name, kind }: CatalogueMetric,
  week: Range,
  reader: TenantReader,
): Promise<readonly CatalogueField[]> => {
  const labelValues = await readLabelValues(reader, name, week);
  const isClassic = kind === 'histogram' && labelValues.attributes.size + labelValues.resource.size === 0;
  const { attributes, resource } = isClassic ? await readLabelValues(reader, `${name}_bucket`, week) : labelValues;
  const resourceLabels = [...resource].filter(([label]) => !attributes.has(label) && label !== 'service.name');
  return [...attributes, ...resourceLabels].map(([label, values]) => createField(label, values, true));
};
