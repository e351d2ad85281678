/** Reads the catalogue of a tenant's names for questions from the last week, and caches it for one minute */
import { type CataloguedField, countRecords, listCatalogue, overlappingHours } from '../../queries/fields/catalogue.ts';
import { getRetentionDays, type Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { RowCache } from '../../queries/row-cache.ts';
import { seriesSeenCondition, seriesSeenParameters } from '../../queries/series-seen.ts';
import { type SearchSignal, signalDefinitions } from '../../queries/signals/index.ts';
import { type Reference, resolveReference, spanFields } from '../../schemas/fields.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import type { Catalogue, KnownField, KnownMetric, KnownRecords, MetricKind } from './catalogue.ts';
import {
  maxRecords,
  maxValues,
  readLabelValues,
  readRecordValues,
  readResourceValues,
  type Values,
} from './frequent-values.ts';

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
export const readCachedCatalogue = (reading: Reading): Promise<Catalogue> => {
  const { entitlements } = reading.plan;
  const rows = catalogueCache.forTenant(reading.columns);
  const key = entitlements.join(' ');
  const before = rows.get(key);
  if (before !== undefined && performance.now() - before.atMs < cacheTtlMs) return before.catalogue;
  const catalogue = readCatalogue(reading);
  // The next question retries after a failure.
  catalogue.catch(() => rows.set(key, { atMs: Number.NEGATIVE_INFINITY, catalogue }));
  rows.set(key, { atMs: performance.now(), catalogue });
  return catalogue;
};

const readCatalogue = async (reading: Reading): Promise<Catalogue> => {
  const [logs, traces, metrics] = await Promise.all([
    readRecords(reading, 'logs'),
    readRecords(reading, 'traces'),
    readMetrics(reading),
  ]);
  return { logs, traces, metrics };
};

/** Returns the last week, limited by the plan's retention. */
const lastWeek = ({ nowMs, plan }: Reading, signal: SearchSignal | 'metrics'): Range => {
  const to = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  const days = BigInt(Math.max(1, Math.min(7, getRetentionDays(plan, signal))));
  return { from: to - days * 24n * hourNs, to };
};

const mayRead = ({ plan }: Reading, signal: SearchSignal | 'metrics'): boolean =>
  plan.entitlements.includes(signalDefinitions[signal].entitlement);

const kinds = spanFields.find(({ name }) => name === 'kind')?.names ?? [];
const kindName = `[${kinds.map(quoteString).join(', ')}][toUInt8(kind) + 1]`;

const ownColumns: Readonly<Record<SearchSignal, Readonly<Record<string, string>>>> = {
  logs: { service: 'service' },
  traces: { service: 'service', name: 'name', kind: kindName },
};

const readRecords = async (reading: Reading, signal: SearchSignal): Promise<KnownRecords> => {
  if (!mayRead(reading, signal)) return { services: [], fields: [] };
  const week = lastWeek(reading, signal);
  const { range, isComplete } = await chooseSampleRange(reading, signal, week);
  const [{ fields }, own, resources] = await Promise.all([
    listCatalogue(reading, { signal, range: week, limit: maxFields }),
    readRecordValues(reading, { signal, range, fields: ownColumns[signal] }),
    readResourceValues(reading, Number(week.from / 1_000_000n)),
  ]);
  const names = fields.flatMap((field) => toKnownField(field, signal, { own, resources, isComplete }) ?? []);
  const builtInNames = signal === 'traces' ? (['name', 'kind'] as const) : [];
  return {
    services: own.get('service') ?? [],
    fields: [...builtInNames.map((name) => createField(name, own.get(name) ?? [], false)), ...names],
  };
};

/** Returns a range with few enough records that a sample is representative, and whether it covers the full week. */
const chooseSampleRange = async (
  reading: Reading,
  signal: SearchSignal,
  week: Range,
): Promise<{ readonly range: Range; readonly isComplete: boolean }> => {
  const of = async (range: Range): Promise<number> =>
    (await countRecords(reading, { signal }, overlappingHours(range))).records;
  const all = await of(week);
  if (all <= 10 * maxRecords) return { range: week, isComplete: all <= maxRecords };
  const last = (hours: bigint): Range => ({ from: week.to - hours * hourNs, to: week.to });
  const isFew = (await of(last(24n))) <= 10 * maxRecords;
  return { range: last(isFew ? 24n : 1n), isComplete: false };
};

const createField = (name: string, values: readonly string[], isWhole: boolean, isNumber = false): KnownField => ({
  name,
  values,
  isNumber,
  hasAllValues: isWhole && values.length < maxValues,
});

interface KnownValues {
  readonly own: Values;
  readonly resources: Values;
  readonly isComplete: boolean;
}

const numeric = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * Returns a catalogued attribute in the spelling of searches, without a prefix if that is unambiguous. Fields that all
 * records have are already known.
 */
const toKnownField = (
  { kind, key, name, types }: CataloguedField,
  signal: SearchSignal,
  known: KnownValues,
): KnownField | undefined => {
  if (kind === 'field' || key === '') return undefined;
  const isOwn = known.own.has(key) && kind === 'resource';
  const reference: Reference = resolveReference(signalDefinitions[signal].fields, key);
  const isPlain = kind !== 'scope' && !isOwn && reference.kind === 'any';
  const values = (kind === 'resource' ? known.resources : known.own).get(key) ?? [];
  const isTyped = types[0]?.type === 'integer' || types[0]?.type === 'double';
  const isNumber = isTyped || (values.length > 0 && values.every((value) => numeric.test(value)));
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

const readMetrics = async (reading: Reading): Promise<readonly KnownMetric[]> => {
  if (!mayRead(reading, 'metrics')) return [];
  const rows = await reading.columns.query<MetricRow>(
    `SELECT metric AS name, min(series.kind) AS of_kind, max(series.unit) AS of_unit, max(series.monotonic) AS of_monotonic,
      arraySort(groupUniqArray(100)(toString(series.service))) AS service_names
    FROM series WHERE tenant_id = {tenant:String} AND ${seriesSeenCondition} GROUP BY metric ORDER BY metric LIMIT ${maxMetrics}`,
    seriesSeenParameters(lastWeek(reading, 'metrics')),
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

const kindOf = ({ name, of_kind, of_monotonic }: MetricRow): MetricKind => {
  if (/histogram/.test(of_kind) || name.endsWith('_bucket')) return 'histogram';
  if (of_kind === 'summary') return 'summary';
  const counts = of_monotonic || of_kind === 'counter' || (of_kind === 'unknown' && name.endsWith('_total'));
  return counts ? 'counter' : 'gauge';
};

const toMetric = (row: MetricRow, name: string): KnownMetric => ({
  name,
  kind: kindOf(row),
  unit: row.of_unit,
  labels: [],
  services: row.service_names.filter((service) => service !== ''),
});

/** Returns the given metrics with their labels, by name. */
export const readMetricLabels = async (
  named: readonly KnownMetric[],
  reading: Reading,
): Promise<ReadonlyMap<string, KnownMetric>> => {
  const week = lastWeek(reading, 'metrics');
  const labelled = named.map(
    async (metric): Promise<[string, KnownMetric]> => [
      metric.name,
      { ...metric, labels: await labelsOf(metric, week, reading) },
    ],
  );
  return new Map(await Promise.all(labelled));
};

const labelsOf = async ({ name, kind }: KnownMetric, week: Range, reading: Reading): Promise<readonly KnownField[]> => {
  const found = await readLabelValues(reading, name, week);
  const isClassic = kind === 'histogram' && found.own.size + found.resource.size === 0;
  const { own, resource } = isClassic ? await readLabelValues(reading, `${name}_bucket`, week) : found;
  const others = [...resource].filter(([label]) => !own.has(label) && label !== 'service.name');
  return [...own, ...others].map(([label, values]) => createField(label, values, true));
};
