/** API calls of the logs area */
import type { aggregateLogs } from '../../../api/groups/logs/aggregate.ts';
import type { showLogContext } from '../../../api/groups/logs/context.ts';
import type { listLogFields } from '../../../api/groups/logs/fields.ts';
import type { showLogHistogram } from '../../../api/groups/logs/histogram.ts';
import type { listLogs } from '../../../api/groups/logs/list.ts';
import type { compareLogPatterns } from '../../../api/groups/logs/patterns/compare.ts';
import type { listLogPatterns } from '../../../api/groups/logs/patterns/list.ts';
import type { showLogPattern } from '../../../api/groups/logs/patterns/show.ts';
import type { showLog } from '../../../api/groups/logs/show.ts';
import type { listLogFieldValues } from '../../../api/groups/logs/values.ts';
import type { SavedQueryFields, savedQueryResource } from '../../../api/groups/saved-queries/saved-query.ts';
import { type Answered, callOf, creationOf } from '../../client/call.ts';

export const logsCall = callOf<typeof listLogs>('GET', '/api/logs');
export const histogramCall = callOf<typeof showLogHistogram>('GET', '/api/logs/histogram');
export const aggregateCall = callOf<typeof aggregateLogs>('GET', '/api/logs/aggregate');
export const logCall = callOf<typeof showLog>('GET', '/api/logs/{id}');
export const contextCall = callOf<typeof showLogContext>('GET', '/api/logs/{id}/context');
export const fieldsCall = callOf<typeof listLogFields>('GET', '/api/logs/fields');
export const valuesCall = callOf<typeof listLogFieldValues>('GET', '/api/logs/fields/{name}/values');
export const patternsCall = callOf<typeof listLogPatterns>('GET', '/api/logs/patterns');
export const patternCall = callOf<typeof showLogPattern>('GET', '/api/logs/patterns/{id}');
export const comparePatternsCall = callOf<typeof compareLogPatterns>('GET', '/api/logs/patterns/compare');
export const createSavedQueryCall = creationOf<typeof savedQueryResource, typeof SavedQueryFields>(
  '/api/saved-queries',
);

export type Histogram = Answered<typeof showLogHistogram>;
/** A complete record, because the page requests all fields */
export type LogRecord = Answered<typeof showLog>;
export type Pattern = Answered<typeof listLogPatterns>['items'][number];
