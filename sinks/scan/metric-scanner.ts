import { parseEmittedPosition } from '../../schemas/records/emitted-position.ts';
import { emittedMetricsTable } from '../../schemas/tables/metrics.ts';
import { topics } from '../../schemas/topics.ts';
import { ValueRows } from '../native/value-rows.ts';
import { MessageUsage } from './message-usage.ts';
import { MetadataRows } from './metadata-rows.ts';
import { OtlpMetrics } from './otlp-metrics.ts';
import { MetricTables } from './point-columns.ts';
import { RemoteWrite } from './remote-write.ts';
import { ResourceRows } from './resource-rows.ts';
import { type Scanner, scanMembers } from './scanner.ts';
import { SeriesRows } from './series-rows.ts';

/** Returns the scanner of the metrics sink: OTLP metrics and remote-write land in the same tables. */
export const createMetricScanner = (): Scanner => {
  const resources = new ResourceRows();
  const series = new SeriesRows();
  const metadata = new MetadataRows();
  const tables = new MetricTables();
  const usage = new MessageUsage();
  const otlp = new OtlpMetrics(resources, series, tables, usage);
  const remoteWrite = new RemoteWrite(series, metadata, tables, usage);
  const emittedPositions = new ValueRows(emittedMetricsTable);
  const scanMessage = scanMembers(usage, (body, format, source) => {
    if (format === 'otlp') otlp.scanBody(body, source);
    else remoteWrite.scanBody(body, format, source);
  });
  return {
    tables: [resources.rows, series.rows, metadata.rows, ...tables.rows, usage.rows, emittedPositions.rows],
    landedHours: [resources.landedHours, series.landedHours, metadata.landedHours],
    scan(message, partition) {
      scanMessage(message, partition);
      const { offset, timestampMs, headers } = message;
      const position = parseEmittedPosition(headers);
      if (position === undefined) return;
      emittedPositions.push({
        tenant_id: headers['tenant'] ?? '',
        topic: topics.remoteWrite.name,
        partition,
        offset,
        received_at: timestampMs,
        emitter: position.emitter,
        emitted_offset: position.offset,
        emitted_part: position.part,
      });
    },
    discardRow() {
      otlp.discardRow();
      remoteWrite.discardRow();
    },
  };
};
