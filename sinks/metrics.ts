import { emittedMetricsTable, samplesTable } from '../schemas/tables/metrics.ts';
import { remoteWritePartitions } from '../schemas/tables/parts.ts';
import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** Lands data points of all kinds and remote-write samples, one row each, and their series. */
export const metrics = defineSink({
  name: 'metrics',
  summary: 'Lands data points, remote-write samples, exemplars, and their series and resources.',
  inputs: [topics.metrics, { topic: topics.remoteWrite, partitionOffset: remoteWritePartitions }],
  watermarkTable: samplesTable,
  // Recorded series are from rules, which publish again after a crash.
  positionsTable: emittedMetricsTable,
  scanner: async () => (await import('./scan/metric-scanner.ts')).createMetricScanner(),
});
