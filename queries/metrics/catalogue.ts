/** Catalog of metrics. A metric whose series have conflicting metadata lists each variant. */
import { z } from 'zod';
import { buildProjectScopeCondition, type ProjectScope, toProjectScopeParameters } from '../project-scope.ts';
import type { Range } from '../range.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../series-first-seen.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { formatTime } from '../time.ts';

const temporalities = ['unspecified', 'delta', 'cumulative'] as const;

/** Metadata of a metric from senders. */
const Variant = z.strictObject({
  type: z
    .string()
    .describe('gauge, sum, histogram, exponential_histogram, summary, or the type in Prometheus metadata'),
  unit: z.string(),
  temporality: z.enum(temporalities),
  monotonic: z.boolean(),
  seriesCount: z.int(),
  services: z.array(z.string()).describe('At most 100 services'),
});

/** A metric in the catalog. */
export const CatalogueMetric = z.strictObject({
  name: z.string(),
  type: Variant.shape.type,
  unit: z.string(),
  description: z.string(),
  temporality: Variant.shape.temporality,
  monotonic: z.boolean(),
  labels: z.array(z.string()).describe('At most 1,000 labels'),
  services: z.array(z.string()).describe('At most 1,000 services'),
  seriesCount: z.int().describe('Number of series with points in the range, by whole hours'),
  firstSeen: z.string().describe('Time of the first point, rounded to the hour'),
  lastSeen: z.string().describe('Time of the last point, rounded to the hour'),
  variants: z
    .array(Variant)
    .describe(
      'Several if senders disagree about type, unit or temporality: most series first; the first one is shown above',
    ),
});
export type CatalogueMetric = z.output<typeof CatalogueMetric>;

export interface MetricCatalogueQuery extends ProjectScope {
  readonly range: Range;
  readonly name?: string | undefined;
  readonly service?: string | undefined;
  readonly search?: string | undefined;
  /** Last name of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

interface Row {
  readonly name: string;
  readonly label_names: readonly string[];
  readonly service_names: readonly string[];
  readonly series_count: string;
  readonly first: string;
  readonly last: string;
}

interface VariantRow {
  readonly name: string;
  readonly of_kind: string;
  readonly of_unit: string;
  readonly of_temporality: number;
  readonly of_monotonic: boolean;
  readonly series_count: string;
  readonly service_names: readonly string[];
}

/**
 * Returns metrics with points in a range, by name. `nextName` is the last name of the page if there are more
 * metrics.
 */
export const listCatalogue = async (
  { columns }: Pick<TenantReader, 'columns'>,
  query: MetricCatalogueQuery,
): Promise<{ readonly items: CatalogueMetric[]; readonly nextName: string | undefined }> => {
  const { limit } = query;
  const { sql, parameters } = buildCondition(query);
  const names = await columns.query<{ name: string }>(
    `SELECT metric AS name FROM series WHERE ${sql} AND ${seriesSeenCondition} GROUP BY metric ORDER BY metric LIMIT ${limit + 1}`,
    parameters,
  );
  const pageNames = names.slice(0, limit).map(({ name }) => name);
  if (pageNames.length === 0) return { items: [], nextName: undefined };
  const [rows, descriptions, variants] = await Promise.all([
    columns.query<Row>(
      `SELECT metric AS name, arraySort(arrayDistinct(arrayFlatten(groupUniqArray(1000)(mapKeys(attributes))))) AS label_names,
        arraySort(groupUniqArray(1000)(series.service)) AS service_names, toString(uniqExactIf(series_id, ${seriesSeenCondition})) AS series_count,
        toString(toUnixTimestamp64Milli(min(series.first_seen))) AS first, toString(toUnixTimestamp64Milli(max(series.last_seen))) AS last
      FROM series WHERE ${sql} AND metric IN {names:Array(String)} GROUP BY metric ORDER BY metric`,
      { ...parameters, names: pageNames },
    ),
    columns.query<{ readonly name: string; readonly about: string }>(
      `SELECT metric AS name, argMax(description, metric_metadata.last_seen) AS about FROM metric_metadata
      WHERE tenant_id = {tenant:String}${buildProjectScopeCondition(query)} AND metric IN {names:Array(String)} AND description != '' GROUP BY metric`,
      { ...toProjectScopeParameters(query), names: pageNames },
    ),
    columns.query<VariantRow>(
      `SELECT metric AS name, of_kind, of_unit, of_temporality, of_monotonic,
        toString(count()) AS series_count, arraySort(groupUniqArray(100)(of_service)) AS service_names
      FROM (SELECT metric, series_id, min(series.kind) AS of_kind, max(series.unit) AS of_unit, max(series.temporality) AS of_temporality,
          max(series.monotonic) AS of_monotonic, any(series.service) AS of_service
        FROM series WHERE ${sql} AND ${seriesSeenCondition} AND metric IN {names:Array(String)} GROUP BY metric, series_id)
      GROUP BY ALL ORDER BY metric, count() DESC, of_kind, of_unit, of_temporality, of_monotonic LIMIT 20 BY metric`,
      { ...parameters, names: pageNames },
    ),
  ]);
  const descriptionByName = new Map(descriptions.map(({ name, about }) => [name, about]));
  return {
    items: rows.map((row) =>
      toCatalogueMetric(
        row,
        descriptionByName.get(row.name) ?? '',
        variants.filter(({ name }) => name === row.name).map(toVariant),
      ),
    ),
    nextName: names.length > limit ? pageNames.at(-1) : undefined,
  };
};

/**
 * Returns the condition of the requested metrics and its parameters. The parameters of the range are included, but
 * not its condition.
 */
const buildCondition = ({ range, name, service, search, after, ...scope }: MetricCatalogueQuery) => {
  const parameters: Record<string, string> = { ...toSeriesSeenParameters(range), ...toProjectScopeParameters(scope) };
  const conditions = ['tenant_id = {tenant:String}'];
  const add = (condition: string, key: string, value: string | undefined): void => {
    if (value === undefined) return;
    conditions.push(condition);
    parameters[key] = value;
  };
  add('metric = {name:String}', 'name', name);
  add('metric > {after:String}', 'after', after);
  add('series.service = {service:String}', 'service', service);
  add(
    "hasAllTokens(lowerUTF8(concat(metric, ' ', series.description)), tokens(lowerUTF8({search:String})))",
    'search',
    search,
  );
  return { sql: `${conditions.join(' AND ')}${buildProjectScopeCondition(scope)}`, parameters };
};

const removeEmpty = (names: readonly string[]): string[] => names.filter((name) => name !== '');

const toVariant = (row: VariantRow): z.output<typeof Variant> => ({
  type: row.of_kind,
  unit: row.of_unit,
  temporality: temporalities[row.of_temporality] ?? 'unspecified',
  monotonic: row.of_monotonic,
  seriesCount: Number(row.series_count),
  services: removeEmpty(row.service_names),
});

const toCatalogueMetric = (
  row: Row,
  description: string,
  variants: readonly z.output<typeof Variant>[],
): CatalogueMetric => {
  const [firstVariant] = variants;
  return {
    name: row.name,
    type: firstVariant?.type ?? 'unknown',
    unit: firstVariant?.unit ?? '',
    description,
    temporality: firstVariant?.temporality ?? 'unspecified',
    monotonic: firstVariant?.monotonic ?? false,
    labels: [...row.label_names],
    services: removeEmpty(row.service_names),
    seriesCount: Number(row.series_count),
    firstSeen: formatTime(BigInt(row.first) * 1_000_000n),
    lastSeen: formatTime(BigInt(row.last) * 1_000_000n),
    variants: [...variants],
  };
};
