import { emittedMetricsTable, samplesTable } from '../schemas/tables/metrics.ts';
import { remoteWritePartitions } from '../schemas/tables/parts.ts';
import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** Data points of all kinds and remote-write samples, one row each; series beside them. */
export const metrics = defineSink({
  name: 'metrics',
  summary: 'Lands data points, remote-write samples, exemplars, and the series and resources they belong to.',
  inputs: [topics.metrics, { topic: topics.remoteWrite, partitionOffset: remoteWritePartitions }],
  tells: samplesTable,
  // Recorded series come from rules, which publish again after a crash.
  positions: emittedMetricsTable,
  scanner: async () => (await import('./scan/metric-scanner.ts')).metricScanner(),
});
