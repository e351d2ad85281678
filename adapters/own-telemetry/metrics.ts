/** The platform's own metrics: the fixed list of `schemas/ports/metrics.ts` on OpenTelemetry's SDK. */
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { type IMetricReader, MeterProvider } from '@opentelemetry/sdk-metrics';
import { type MetricName, type MetricsProvider, metricDefinitions } from '../../schemas/ports/metrics.ts';
import type { ExportTarget } from './export-target.ts';
import { watchProcess } from './process-metrics.ts';

type Instrument = (value: number, labels: Readonly<Record<string, string>>) => void;

/** Creates the provider. With a `target`, it also exports every metric over OTLP/gRPC, once a minute. */
export const createMetricsProvider = async (
  target: ExportTarget | undefined,
  { instance, version }: { readonly instance: string; readonly version: string },
): Promise<MetricsProvider> => {
  const prometheus = new PrometheusExporter({ preventServerStart: true });
  const readers: IMetricReader[] = [prometheus];
  if (target !== undefined) readers.push((await import('./exporters.ts')).createMetricReader(target));
  const provider = new MeterProvider({
    resource: resourceFromAttributes({
      'service.name': 'oiq',
      'service.instance.id': instance,
      'service.version': version,
    }),
    readers,
  });
  const meter = provider.getMeter('oiq');
  const instruments = {} as Record<MetricName, Instrument>;
  for (const [name, { type, summary, unit, ...rest }] of Object.entries(metricDefinitions)) {
    const options = { description: summary, unit };
    if (type === 'counter') {
      const counter = meter.createCounter(name, options);
      instruments[name as MetricName] = (value, labels) => counter.add(value, labels);
    } else if (type === 'gauge') {
      const gauge = meter.createGauge(name, options);
      instruments[name as MetricName] = (value, labels) => gauge.record(value, labels);
    } else {
      const buckets = 'buckets' in rest ? [...rest.buckets] : [];
      const histogram = meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: buckets } });
      instruments[name as MetricName] = (value, labels) => histogram.record(value, labels);
    }
  }
  const processMetrics = watchProcess(meter, version);
  const serializer = new PrometheusSerializer('', false, undefined, true, true);
  return {
    add: (name, value, labels) => instruments[name](value, labels),
    set: (name, value, labels) => instruments[name](value, labels),
    observe: (name, value, labels) => instruments[name](value, labels),
    async text() {
      const { resourceMetrics } = await prometheus.collect();
      return serializer.serialize(resourceMetrics);
    },
    async close() {
      await provider.shutdown();
      processMetrics.stop();
    },
  };
};
