/** The telemetry sources. */
import { topics } from '../topics.ts';
import { findPointGroups, findRecordGroups } from './groups.ts';
import { LogRecord } from './log-record.ts';
import { DataPoint } from './points.ts';
import { RecordFilters } from './record-filter.ts';
import { type Source, telemetrySource } from './source.ts';
import { Span } from './span.ts';
import { checkLogsRequest, checkRequest } from './validate.ts';

const logFilters = new RecordFilters();

/** Log records as received. */
export const logRecords: Source<LogRecord> = {
  ...telemetrySource({
    topic: topics.logs,
    check: checkLogsRequest,
    groupsOf: findRecordGroups,
    view: (origin, count) => new LogRecord(origin, count),
  }),
  compileFilter: (filter) => logFilters.add(filter),
};

/** Spans as received. The spans of a trace may be in several messages and partitions. */
export const spans: Source<Span> = telemetrySource({
  topic: topics.traces,
  check: (body) => checkRequest('traces', body),
  groupsOf: findRecordGroups,
  view: (origin) => new Span(origin),
});

/** Data points of OTLP metrics. Remote-write samples are not included: they have their own topic and format. */
export const dataPoints: Source<DataPoint> = telemetrySource({
  topic: topics.metrics,
  check: (body) => checkRequest('metrics', body),
  groupsOf: findPointGroups,
  view: (origin) => new DataPoint(origin),
});
