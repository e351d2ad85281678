import { PromqlError } from '../../../queries/promql/errors.ts';
import { readCardinality } from '../../../queries/promql/fetch/metadata-reads.ts';
import { byGet } from './answer.ts';
import { limited, plainNumberOf, shared } from './parameters.ts';
import { scopeOf } from './scope.ts';

/** The version whose API this is; clients choose by it what they ask. */
const prometheusVersion = '3.15.0';
/** Series that had samples in the last hour count as present. */
const presentMs = 3_600_000;
const mostRows = 10_000;
const usualRows = 10;
const positive = 'a positive number';

export const showBuild = byGet({
  path: 'status/buildinfo',
  operationId: 'showPrometheusBuild',
  summary: 'Show the version of Prometheus whose API this is',
  parameters: {},
  answer: () => ({
    data: { version: prometheusVersion, revision: '', branch: '', buildUser: '', buildDate: '', goVersion: '' },
  }),
});

export const showCardinality = byGet({
  path: 'status/tsdb',
  operationId: 'showPrometheusCardinality',
  summary: 'Count series by metric, label and pair of label and value',
  parameters: { ...limited, ...shared },
  async answer(asked, ports) {
    const given = plainNumberOf(asked.given, 'limit', positive) ?? usualRows;
    if (given < 1) throw new PromqlError('bad_data', `limit must be ${positive}`);
    const limit = Math.min(given, mostRows);
    const nowMs = ports.clock.now();
    const found = await readCardinality(scopeOf(asked, ports), { fromMs: nowMs - presentMs, toMs: nowMs }, limit);
    return {
      data: {
        headStats: {
          numSeries: found.series,
          numLabelPairs: found.labelPairs,
          chunkCount: 0,
          minTime: found.minTimeMs,
          maxTime: found.maxTimeMs,
        },
        seriesCountByMetricName: found.byMetric,
        labelValueCountByLabelName: found.valuesByLabel,
        memoryInBytesByLabelName: found.bytesByLabel,
        seriesCountByLabelValuePair: found.byPair,
      },
    };
  },
});
