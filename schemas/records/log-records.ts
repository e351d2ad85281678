import { topics } from '../topics.ts';
import { recordGroups } from './groups.ts';
import { LogRecord } from './log-record.ts';
import { type Source, telemetrySource } from './source.ts';

/** Log records as senders sent them. */
export const logRecords: Source<LogRecord> = telemetrySource(
  topics.logs,
  'logs',
  (origin) => new LogRecord(origin),
  recordGroups,
);
