/** What the area of traces asks. */
import type { listTraces } from '../../../api/groups/traces/list.ts';
import type { showTrace } from '../../../api/groups/traces/show.ts';
import { type Answered, callOf } from '../../client/call.ts';

export const tracesCall = callOf<typeof listTraces>('GET', '/api/traces');
export const traceCall = callOf<typeof showTrace>('GET', '/api/traces/{id}');

export type TraceSummary = Answered<typeof listTraces>['items'][number];
export type Trace = Answered<typeof showTrace>;
export type Span = Trace['spans'][number];
