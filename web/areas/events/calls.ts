/** API calls of the events area */
import type { addEvent } from '../../../api/groups/overview/add-event.ts';
import type { listEvents } from '../../../api/groups/overview/events.ts';
import { type Answered, callOf, type Sent } from '../../client/call.ts';

export const eventsCall = callOf<typeof listEvents>('GET', '/api/events');
export const addEventCall = callOf<typeof addEvent>('POST', '/api/events');

export type Event = Answered<typeof listEvents>['items'][number];
export type EventInput = NonNullable<Sent<typeof addEvent>['body']>;

export const severities: readonly Event['severity'][] = ['info', 'warning', 'error', 'critical'];
