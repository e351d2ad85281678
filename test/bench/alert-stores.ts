/** Embedded stores with organizations that send logs, spans and metrics, for benchmarks of alert rules. */
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { openEmbeddedStores } from './embedded-stores.ts';

export const tenantOf = (index: number): string => `tenant-${index}`;

/** Fills each organization: 1,000 series of 100 metrics, a point per 15 s, 80 log records/s and 20 spans/s. */
export const openAlertStores = async (
  tenants: number,
  { pastSeconds, futureSeconds }: { readonly pastSeconds: number; readonly futureSeconds: number },
) => {
  const ids = Array.from({ length: tenants }, (_, index) => tenantOf(index));
  const { bus, documents, columns } = await openEmbeddedStores(ids, { collections: [alertRules] });
  const seconds = pastSeconds + futureSeconds;
  for (const id of ids) {
    await columns.execute(
      `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, source, service, resource_id, attributes, attribute_types, first_seen, last_seen)
      SELECT '${id}', 'default', concat('m', toString(intDiv(number, 10))), number + 1, 'gauge', 2, false, '1', 'otlp', concat('service-', toString(number % 10)), 7, map('k', 'v'), 's', now64(3) - ${pastSeconds}, now64(3) + ${futureSeconds} FROM numbers(1000)`,
    );
    await columns.execute(
      `INSERT INTO samples (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, value)
      SELECT '${id}', 'default', now64(3), 0, 1, concat('m', toString(intDiv(number % 1000, 10))), number % 1000 + 1, now64(9) + ${futureSeconds} - 15 * intDiv(number, 1000), number % 7 FROM numbers(${Math.ceil(seconds / 15) * 1000})`,
    );
    await columns.execute(
      `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
      SELECT '${id}', 'default', now64(3), 0, 1, number, now64(9) + ${futureSeconds} - number / 80, now64(9), concat('service-', toString(number % 10)), 17, 'ERROR', 'failed', 's' FROM numbers(${seconds * 80})`,
    );
    await columns.execute(
      `INSERT INTO spans (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, service, name, duration, status_code)
      SELECT '${id}', 'default', now64(3), 0, 1, number, now64(9) + ${futureSeconds} - number / 20, concat('service-', toString(number % 10)), concat('GET /', toString(number % 20)), number % 1000 * 1000000, if(number % 50 = 0, 2, 0) FROM numbers(${seconds * 20})`,
    );
  }
  return { bus, documents, columns };
};
