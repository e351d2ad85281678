import { z } from 'zod';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { Attributes, decodeAttributes } from '../attributes.ts';
import {
  InstrumentationScope,
  parseJsonAttributes,
  type ScopeRow,
  toInstrumentationScope,
} from '../instrumentation-scope.ts';
import { buildProjectScopeCondition, toProjectScopeParameters } from '../project-scope.ts';
import type { Range } from '../range.ts';
import { getResources, resourceFields, toResourceFields } from '../resources.ts';
import { Exemplar, readExemplars } from './exemplars.ts';
import { Point, readPoints, toPoint } from './points.ts';

/** One time series with its newest points in the range. */
export const Series = z.strictObject({
  id: z.string(),
  type: z.string().describe('Type of this series; senders may differ'),
  unit: z.string(),
  service: z.string(),
  labels: Attributes,
  metadata: Attributes.describe('Metadata of the metric; not part of its identity'),
  ...resourceFields,
  scope: InstrumentationScope,
  points: z.array(Point),
  truncated: z.boolean().describe('Whether the range has more points'),
  exemplars: z.array(Exemplar).describe('The newest 100 in the range, oldest first'),
});
type Series = z.output<typeof Series>;

const maxSeries = 100;
const maxPoints = 1_000;
const maxExemplars = 100;

interface SeriesRow extends ScopeRow {
  readonly id: string;
  readonly type: string;
  readonly unit: string;
  readonly service: string;
  readonly resource: string;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly types: string;
  readonly metadata: string;
}

/** Returns up to 100 series of a metric with points in the range, with up to 1,000 points each, oldest first. */
export const readSeries = async (
  columns: TenantColumns,
  metric: string,
  range: Range,
  filter: { service?: string | undefined; projectId?: string | undefined; scope?: 'account' | undefined },
): Promise<Series[]> => {
  const parameters = { metric, service: filter.service ?? '', ...toProjectScopeParameters(filter) };
  const rows = await columns.query<SeriesRow>(
    `SELECT toString(series_id) AS id, any(kind) AS type, any(series.unit) AS unit, any(series.service) AS service, toString(any(resource_id)) AS resource,
      any(mapKeys(attributes)) AS keys, any(mapValues(attributes)) AS values, any(attribute_types) AS types, any(series.scope_name) AS scope_name,
      any(series.scope_version) AS scope_version, any(series.scope_attributes) AS scope_attributes, max(series.scope_dropped_attributes) AS scope_dropped_attributes,
      max(series.scope_schema_url) AS scope_schema_url, max(series.metadata) AS metadata
    FROM series WHERE tenant_id = {tenant:String} AND metric = {metric:String} AND ({service:String} = '' OR series.service = {service:String})${buildProjectScopeCondition(filter)}
    GROUP BY series_id ORDER BY series_id LIMIT 1000`,
    parameters,
  );
  const ids = rows.map(({ id }) => id);
  const points = await readPoints(columns, {
    metric,
    range,
    ids,
    maxPerSeries: maxPoints + 1,
    maxTotal: maxSeries * maxPoints,
  });
  const rowsWithPoints = rows.filter(({ id }) => points.has(id)).slice(0, maxSeries);
  const exemplars = await readExemplars(columns, {
    metric,
    range,
    ids: rowsWithPoints.map(({ id }) => id),
    maxPerSeries: maxExemplars,
    maxTotal: maxSeries * maxExemplars,
  });
  const resources = await getResources(
    columns,
    rowsWithPoints.map(({ resource }) => resource),
  );
  return rowsWithPoints.map((row) => {
    const seriesPoints = points.get(row.id) ?? [];
    const isExponential = row.type === 'exponential_histogram';
    return {
      id: row.id,
      type: row.type,
      unit: row.unit,
      service: row.service,
      labels: decodeAttributes(row.keys, row.values, row.types),
      metadata: parseJsonAttributes(row.metadata),
      ...toResourceFields(resources.get(row.resource)),
      scope: toInstrumentationScope(row),
      points: seriesPoints
        .slice(0, maxPoints)
        .reverse()
        .map((point) => toPoint(point, isExponential)),
      truncated: seriesPoints.length > maxPoints,
      exemplars: (exemplars.get(row.id) ?? []).toReversed(),
    };
  });
};
