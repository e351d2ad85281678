import { defineGroup } from '../define-group.ts';
import { addEvent } from './add-event.ts';
import { listEvents } from './events.ts';
import { listOverviewSeries, showOverview } from './overview.ts';

export const overviewGroup = defineGroup({
  name: 'overview',
  summary: 'Counters across all signals, and the feed of what happened on the platform.',
  operations: [showOverview, listOverviewSeries, listEvents, addEvent],
});
