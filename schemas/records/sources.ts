/** The telemetry sources. */
import { topics } from '../topics.ts';
import type { DecodedMessage } from './decoded-request.ts';
import { findPointGroups, findRecordGroups } from './groups.ts';
import { LogRecord } from './log-record.ts';
import { DataPoint } from './points.ts';
import { RecordFilters } from './record-filter.ts';
import { createTelemetrySource, openRequest, type RecordFormat, type Source } from './source.ts';
import { Span } from './span.ts';
import { validateLogsRequest, validateRequest } from './validate.ts';

const logFilters = new RecordFilters();

const logFormat: RecordFormat<LogRecord> = {
  topic: topics.logs,
  validate: validateLogsRequest,
  findGroups: findRecordGroups,
  createView: (origin, count) => new LogRecord(origin, count),
};

/** Log records as received. */
export const logRecords: Source<LogRecord> = {
  ...createTelemetrySource(logFormat),
  compileFilter: (filter) => logFilters.add(filter),
};

/** Returns the records of an export request that is not published. Throws `PermanentError` if it is malformed. */
export const openLogsRequest = (body: Uint8Array): DecodedMessage<LogRecord> => openRequest(logFormat, body);

/** Spans as received. The spans of a trace may be in several messages and partitions. */
export const spans: Source<Span> = createTelemetrySource({
  topic: topics.traces,
  validate: (body) => validateRequest('traces', body),
  findGroups: findRecordGroups,
  createView: (origin) => new Span(origin),
});

/** Data points of OTLP metrics. Remote-write samples are not included: they have their own topic and format. */
export const dataPoints: Source<DataPoint> = createTelemetrySource({
  topic: topics.metrics,
  validate: (body) => validateRequest('metrics', body),
  findGroups: findPointGroups,
  createView: (origin) => new DataPoint(origin),
});
