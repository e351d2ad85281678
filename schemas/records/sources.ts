/** The sources of telemetry. */
import { topics } from '../topics.ts';
import { pointGroups, recordGroups } from './groups.ts';
import { LogRecord } from './log-record.ts';
import { DataPoint } from './points.ts';
import { RecordFilters } from './record-filter.ts';
import { type Source, telemetrySource } from './source.ts';
import { Span } from './span.ts';
import { checkAroundLogs, checkRequest } from './validate.ts';

const logFilters = new RecordFilters();

/** Log records as senders sent them. */
export const logRecords: Source<LogRecord> = {
  ...telemetrySource({
    topic: topics.logs,
    check: checkAroundLogs,
    groupsOf: recordGroups,
    view: (origin, count) => new LogRecord(origin, count),
  }),
  compileFilter: (filter) => logFilters.add(filter),
};

/** Spans, each as it came: a trace's may lie in several messages and partitions. */
export const spans: Source<Span> = telemetrySource({
  topic: topics.traces,
  check: (body) => checkRequest('traces', body),
  groupsOf: recordGroups,
  view: (origin) => new Span(origin),
});

/** Data points of OTLP metrics. Samples of remote-write are not among them: they lie in a topic and a format of their own. */
export const dataPoints: Source<DataPoint> = telemetrySource({
  topic: topics.metrics,
  check: (body) => checkRequest('metrics', body),
  groupsOf: pointGroups,
  view: (origin) => new DataPoint(origin),
});
