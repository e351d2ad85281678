/**
 * Creates telemetry of runs: spans, metrics, and a log record for each failed run, as any other service would send it.
 */
import { createItemSource } from '../../schemas/records/values.ts';
import { runTelemetry as emits } from '../../schemas/synthetic-telemetry.ts';
import { topics } from '../../schemas/topics.ts';
import { defineProcessor } from '../engine/definition.ts';

export const runTelemetry = defineProcessor({
  name: 'run-telemetry',
  summary: 'Creates spans, metrics and log records of the runs of synthetic checks.',
  reads: createItemSource(topics.syntheticRuns),
  emits,
  step(run, { emit }) {
    emit.metrics(run);
    if (run.traceId !== '') emit.traces(run);
    if (run.outcome === 'failed') emit.logs(run);
  },
});
