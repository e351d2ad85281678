/** API calls of the traces area */
import type { compareTraces } from '../../../api/groups/traces/compare.ts';
import type { listTraceFields } from '../../../api/groups/traces/fields.ts';
import type { listTraces } from '../../../api/groups/traces/list.ts';
import type { listTraceLogs } from '../../../api/groups/traces/logs.ts';
import type { showTrace } from '../../../api/groups/traces/show.ts';
import type { searchSpans } from '../../../api/groups/traces/spans.ts';
import { type Answered, callOf } from '../../client/call.ts';

export const tracesCall = callOf<typeof listTraces>('GET', '/api/traces');
export const traceCall = callOf<typeof showTrace>('GET', '/api/traces/{id}');
export const traceLogsCall = callOf<typeof listTraceLogs>('GET', '/api/traces/{id}/logs');
export const spansCall = callOf<typeof searchSpans>('GET', '/api/spans');
export const compareCall = callOf<typeof compareTraces>('GET', '/api/traces/compare');
export const fieldsCall = callOf<typeof listTraceFields>('GET', '/api/traces/fields');

export type TraceSummary = Answered<typeof listTraces>['items'][number];
export type Trace = Answered<typeof showTrace>;
export type Span = Trace['spans'][number];
export type TraceLog = Answered<typeof listTraceLogs>['items'][number];
export type Comparison = Answered<typeof compareTraces>;
