/** API calls of the logs area */
import type { aggregateLogs } from '../../../api/groups/logs/aggregate.ts';
import type { showLogContext } from '../../../api/groups/logs/context.ts';
import type { showLogHistogram } from '../../../api/groups/logs/histogram.ts';
import type { listLogs } from '../../../api/groups/logs/list.ts';
import type { compareLogPatterns } from '../../../api/groups/logs/patterns/compare.ts';
import type { listLogPatterns } from '../../../api/groups/logs/patterns/list.ts';
import type { showLogPattern } from '../../../api/groups/logs/patterns/show.ts';
import type { showLog } from '../../../api/groups/logs/show.ts';
import type { SavedQueryFields, savedQueryResource } from '../../../api/groups/saved-queries/saved-query.ts';
import { declareCall, declareCreateCall, type ResponseBody } from '../../client/call.ts';

export const logsCall = declareCall<typeof listLogs>('GET', '/api/logs');
export const histogramCall = declareCall<typeof showLogHistogram>('GET', '/api/logs/histogram');
export const aggregateCall = declareCall<typeof aggregateLogs>('GET', '/api/logs/aggregate');
export const logCall = declareCall<typeof showLog>('GET', '/api/logs/{id}');
export const contextCall = declareCall<typeof showLogContext>('GET', '/api/logs/{id}/context');
export const patternsCall = declareCall<typeof listLogPatterns>('GET', '/api/logs/patterns');
export const patternCall = declareCall<typeof showLogPattern>('GET', '/api/logs/patterns/{id}');
export const comparePatternsCall = declareCall<typeof compareLogPatterns>('GET', '/api/logs/patterns/compare');
export const createSavedQueryCall = declareCreateCall<typeof savedQueryResource, typeof SavedQueryFields>(
  '/api/saved-queries',
);

export type Histogram = ResponseBody<typeof showLogHistogram>;
/** A complete record, because the page requests all fields */
export type LogRecord = ResponseBody<typeof showLog>;
export type LogPattern = ResponseBody<typeof listLogPatterns>['items'][number];
