import { sloMeasurementsTable, sloSlicesTable } from '../schemas/tables/slos.ts';
import { topics } from '../schemas/topics.ts';
import { landValues } from './engine/land-values.ts';

const toIsoTime = (ms: number): string => new Date(ms).toISOString();

export const sloSlices = landValues({
  topic: topics.sloSlices,
  table: sloSlicesTable,
  row: ({ tenantId, sloId, series, lookMs: measuredAtMs, slices }) =>
    slices.map(([beginMs, good, total]) => ({
      tenant_id: tenantId,
      slo_id: sloId,
      series,
      begin: toIsoTime(beginMs),
      good,
      total,
      look_ms: measuredAtMs,
    })),
  merging: {
    table: sloMeasurementsTable,
    row: ({ tenantId, sloId, series, lookMs: measuredAtMs, fromMs, upToMs, settledUpToMs, error, objective }) => ({
      tenant_id: tenantId,
      slo_id: sloId,
      series,
      look_ms: measuredAtMs,
      last_seen: toIsoTime(measuredAtMs),
      from_ms: fromMs,
      up_to_ms: upToMs,
      settled_up_to_ms: settledUpToMs,
      error,
      objective: objective === undefined ? '' : JSON.stringify(objective),
    }),
  },
});
