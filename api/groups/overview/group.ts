import { defineGroup } from '../define-group.ts';

export const overviewGroup = defineGroup({
  name: 'overview',
  summary: 'Counters across all signals, and the feed of what happened on the platform.',
  planned: [
    [
      'GET /api/overview',
      'viewer',
      'counters across the signals for a time range, with the previous range beside them',
    ],
    ['GET /api/overview/timeseries', 'viewer', 'the same per interval'],
    [
      'GET /api/events',
      'viewer',
      'platform event feed: deployments, alert transitions, anomalies, incidents, signals, config changes',
    ],
    ['POST /api/events', 'editor', 'add a custom event'],
  ],
});
