/** API calls of the traces area */
import type { compareTraces } from '../../../api/groups/traces/compare.ts';
import type { listTraces } from '../../../api/groups/traces/list.ts';
import type { listTraceLogs } from '../../../api/groups/traces/logs.ts';
import type { showTrace } from '../../../api/groups/traces/show.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';

export const tracesCall = declareCall<typeof listTraces>('GET', '/api/traces');
export const traceCall = declareCall<typeof showTrace>('GET', '/api/traces/{id}');
export const traceLogsCall = declareCall<typeof listTraceLogs>('GET', '/api/traces/{id}/logs');
export const compareCall = declareCall<typeof compareTraces>('GET', '/api/traces/compare');

export type TraceSummary = ResponseBody<typeof listTraces>['items'][number];
export type Trace = ResponseBody<typeof showTrace>;
export type Span = Trace['spans'][number];
export type TraceLog = ResponseBody<typeof listTraceLogs>['items'][number];
export type Comparison = ResponseBody<typeof compareTraces>;
