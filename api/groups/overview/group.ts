import { defineGroup } from '../define-group.ts';
import { addEvent } from './add-event.ts';
import { listEvents } from './events.ts';
import { listOverviewSeries, showOverview } from './overview.ts';

export const overviewGroup = defineGroup({
  name: 'overview',
  summary: 'Counters for all signals, and the event feed of the platform.',
  reads: ['ai', 'logs', 'metrics', 'traces'],
  operations: [showOverview, listOverviewSeries, listEvents, addEvent],
});
