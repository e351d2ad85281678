/**
 * Process metrics under the names that common dashboards use: memory, CPU time, files, event loop, garbage collections.
 */
import { readdir } from 'node:fs/promises';
import { constants, monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import type { Meter } from '@opentelemetry/api';

/** Named like in the Prometheus client library for Node. */
const gcKinds = new Map<number, string>([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** A performance entry of type `gc`. */
interface GarbageCollection extends PerformanceEntry {
  readonly detail: { readonly kind: number };
}

/** Sampling interval of the event loop. Node reports the time between two samples, so the interval is subtracted. */
const lagSampleIntervalMs = 20;

/** Returns undefined if the system does not report open files as Linux does. */
const countOpenFiles = async (): Promise<number | undefined> =>
  (await readdir('/proc/self/fd').catch(() => undefined))?.length;

const observeGarbageCollections = (meter: Meter): PerformanceObserver => {
  const durations = meter.createHistogram('nodejs_gc_duration_seconds', {
    description: 'Garbage collections by kind: minor, major, incremental or weakcb',
    unit: 's',
    advice: { explicitBucketBoundaries: [0.001, 0.01, 0.1, 1, 2, 5] },
  });
  const observer = new PerformanceObserver((entries) => {
    for (const { duration, detail } of entries.getEntries() as unknown as readonly GarbageCollection[])
      durations.record(duration / 1_000, { kind: gcKinds.get(detail.kind) ?? 'other' });
  });
  observer.observe({ entryTypes: ['gc'] });
  return observer;
};

/** Adds the metrics to the meter until `stop`. */
export const watchProcess = (meter: Meter, version: string): { stop(): void } => {
  const createGauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(name, { unit, description });
  const gcObserver = observeGarbageCollections(meter);
  const loopDelay = monitorEventLoopDelay({ resolution: lagSampleIntervalMs });
  loopDelay.enable();

  createGauge('oiq_build_info', '1', 'Always 1; the labels are the versions that this process runs').addCallback(
    (result) => result.observe(1, { version, nodejs_version: process.version }),
  );
  createGauge('process_start_time_seconds', 's', 'When the process started, as seconds since 1970').addCallback(
    (result) => result.observe(performance.timeOrigin / 1_000),
  );
  meter
    .createObservableCounter('process_cpu_seconds_total', { unit: 's', description: 'CPU time of all threads' })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage();
      result.observe((user + system) / 1_000_000);
    });
  createGauge('process_open_fds', '{file}', 'Open file descriptors').addCallback(async (result) => {
    const count = await countOpenFiles();
    if (count !== undefined) result.observe(count);
  });

  const resident = createGauge('process_resident_memory_bytes', 'By', 'Memory of the process that is not swapped out');
  const heapUsed = createGauge('nodejs_heap_size_used_bytes', 'By', "Used part of the main thread's heap");
  const heapTotal = createGauge('nodejs_heap_size_total_bytes', 'By', "The main thread's heap");
  const external = createGauge(
    'nodejs_external_memory_bytes',
    'By',
    'Memory that the main thread holds outside of its heap',
  );
  meter.addBatchObservableCallback(
    (result) => {
      const memory = process.memoryUsage();
      result.observe(resident, memory.rss);
      result.observe(heapUsed, memory.heapUsed);
      result.observe(heapTotal, memory.heapTotal);
      result.observe(external, memory.external);
    },
    [resident, heapUsed, heapTotal, external],
  );

  const lagStatistics = ['mean', 'p50', 'p99', 'max'] as const;
  const lagGauges = lagStatistics.map((statistic) =>
    createGauge(
      `nodejs_eventloop_lag_${statistic}_seconds`,
      's',
      `Lag of the event loop since the last collection: ${statistic}`,
    ),
  );
  meter.addBatchObservableCallback((result) => {
    // Without a sample, the mean is NaN.
    const nanoseconds = [loopDelay.mean, loopDelay.percentile(50), loopDelay.percentile(99), loopDelay.max];
    if (loopDelay.count > 0)
      for (const [index, lagGauge] of lagGauges.entries())
        result.observe(lagGauge, Math.max(0, (nanoseconds[index] ?? 0) / 1e9 - lagSampleIntervalMs / 1_000));
    loopDelay.reset();
  }, lagGauges);

  return {
    stop() {
      loopDelay.disable();
      gcObserver.disconnect();
    },
  };
};
