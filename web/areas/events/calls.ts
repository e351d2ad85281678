/** API calls of the events area */
import type { addEvent } from '../../../api/groups/overview/add-event.ts';
import type { listEvents } from '../../../api/groups/overview/events.ts';
import { type CallInput, declareCall, type ResponseBody } from '../../client/call.ts';

export const eventsCall = declareCall<typeof listEvents>('GET', '/api/events');
export const addEventCall = declareCall<typeof addEvent>('POST', '/api/events');

export type TimelineEvent = ResponseBody<typeof listEvents>['items'][number];
export type EventInput = NonNullable<CallInput<typeof addEvent>['body']>;

export const severities: readonly TimelineEvent['severity'][] = ['info', 'warning', 'error', 'critical'];
