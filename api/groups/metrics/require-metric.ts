import { type CatalogueMetric, listCatalogue, type MetricCatalogueQuery } from '../../../queries/metrics/catalogue.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { ApiError } from '../../errors.ts';

/** Returns the metric with a name; throws 404 if it has no points in the range. */
export const requireMetric = async (
  reader: Pick<TenantReader, 'columns'>,
  name: string,
  metricQuery: Pick<MetricCatalogueQuery, 'range' | 'projectId' | 'scope'>,
): Promise<CatalogueMetric> => {
  const { items } = await listCatalogue(reader, { ...metricQuery, name, limit: 1 });
  const [metric] = items;
  if (metric !== undefined) return metric;
  throw new ApiError(
    'NOT_FOUND',
    'no metric of this name has points in this range: see GET /api/metrics, or request a longer range',
  );
};
