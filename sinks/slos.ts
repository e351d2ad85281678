import { sloMeasurementsTable, sloSlicesTable } from '../schemas/tables/slos.ts';
import { topics } from '../schemas/topics.ts';
import { splitCount } from '../subjects/slos/slices/counts.ts';
import { defineValueSink } from './engine/land-values.ts';

const toIsoTime = (ms: number): string => new Date(ms).toISOString();

export const sloSlices = defineValueSink({
  topic: topics.sloSlices,
  table: sloSlicesTable,
  row: ({ tenantId, sloId, series, lookMs: measuredAtMs, slices }) =>
    slices.map(([beginMs, good, total]) => {
      const [goodCount, totalCount] = [splitCount(good), splitCount(total)];
      return {
        tenant_id: tenantId,
        slo_id: sloId,
        series,
        begin: toIsoTime(beginMs),
        good: goodCount.wholeEvents,
        total: totalCount.wholeEvents,
        look_ms: measuredAtMs,
        good_billionths: goodCount.billionths,
        total_billionths: totalCount.billionths,
      };
    }),
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
