/**
 * Export of the platform's own telemetry. Loaded only if a target is configured, because it is a tenth of the code to
 * compile at startup.
 */
import { Metadata } from '@grpc/grpc-js';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { type IMetricReader, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { ExportTarget } from './export-target.ts';

/** Options of OpenTelemetry's gRPC exporters. */
const toGrpcOptions = ({ endpoint, headers }: ExportTarget): { url: string; metadata: Metadata } => {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return { url: endpoint, metadata };
};

/** Exports every metric once a minute. */
export const createMetricReader = (target: ExportTarget): IMetricReader =>
  new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(toGrpcOptions(target)),
    exportIntervalMillis: 60_000,
  });

export const createLoggerProvider = (target: ExportTarget, instance: string): LoggerProvider =>
  new LoggerProvider({
    resource: resourceFromAttributes({ 'service.name': 'oiq', 'service.instance.id': instance }),
    processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter(toGrpcOptions(target)) })],
  });
