/** The sources of telemetry. */
import { topics } from '../topics.ts';
import { pointGroups, recordGroups } from './groups.ts';
import { LogRecord } from './log-record.ts';
import { DataPoint } from './points.ts';
import { type Source, telemetrySource } from './source.ts';
import { Span } from './span.ts';
import { WantedRecords } from './wants.ts';

const wantedLogs = new WantedRecords();

/** Log records as senders sent them. */
export const logRecords: Source<LogRecord> = {
  ...telemetrySource(topics.logs, 'logs', (origin) => new LogRecord(origin), recordGroups),
  want: (wants) => wantedLogs.add(wants),
};

/** Spans, each as it came: a trace's may lie in several messages and partitions. */
export const spans: Source<Span> = telemetrySource(topics.traces, 'traces', (origin) => new Span(origin), recordGroups);

/** Data points of OTLP metrics. Samples of remote-write are not among them: they lie in a topic and a format of their own. */
export const dataPoints: Source<DataPoint> = telemetrySource(
  topics.metrics,
  'metrics',
  (origin) => new DataPoint(origin),
  pointGroups,
);
