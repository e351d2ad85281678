import { defineGroup } from '../define-group.ts';
import { addEvent } from './add-event.ts';
import { listEvents } from './events.ts';

export const overviewGroup = defineGroup({
  name: 'overview',
  summary: 'Counters across all signals, and the feed of what happened on the platform.',
  operations: [listEvents, addEvent],
  planned: [
    [
      'GET /api/overview',
      'viewer',
      'counters across the signals for a time range, with the previous range beside them',
    ],
    ['GET /api/overview/timeseries', 'viewer', 'the same per interval'],
  ],
});
