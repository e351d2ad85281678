import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { isBrowserRecord, readLogEvents } from '../../subjects/rum/read-event.ts';
import { defineProcessor } from '../engine/definition.ts';

/** Reads the events in log records of browsers. */
export const rumLogEvents = defineProcessor({
  name: 'rum-log-events',
  summary: 'Reads page views, web vitals, errors and other events in log records of browsers.',
  reads: logRecords,
  emits: { reports: topics.rumReports },
  entitlement: 'rum',
  step(record, { emit }) {
    if (!isBrowserRecord(record)) return;
    for (const event of readLogEvents(record)) emit.reports(event);
  },
});
