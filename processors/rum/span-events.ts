import { spans } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { isBrowserRecord, readSpanEvents } from '../../subjects/rum/read-event.ts';
import { defineProcessor } from '../engine/definition.ts';

/** Reads the events in spans of browsers. */
export const rumSpanEvents = defineProcessor({
  name: 'rum-span-events',
  summary: 'Reads page loads, requests, clicks, errors and other events in spans of browsers.',
  reads: spans,
  emits: { reports: topics.rumReports },
  entitlement: 'rum',
  step(span, { emit }) {
    if (!isBrowserRecord(span)) return;
    for (const event of readSpanEvents(span)) emit.reports(event);
  },
});
