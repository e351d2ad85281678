/** What the area of logs asks. */
import type { showLogContext } from '../../../api/groups/logs/context.ts';
import type { showLogHistogram } from '../../../api/groups/logs/histogram.ts';
import type { listLogs } from '../../../api/groups/logs/list.ts';
import type { showLog } from '../../../api/groups/logs/show.ts';
import { type Answered, callOf } from '../../client/call.ts';

export const logsCall = callOf<typeof listLogs>('GET', '/api/logs');
export const histogramCall = callOf<typeof showLogHistogram>('GET', '/api/logs/histogram');
export const logCall = callOf<typeof showLog>('GET', '/api/logs/{id}');
export const contextCall = callOf<typeof showLogContext>('GET', '/api/logs/{id}/context');

export type Histogram = Answered<typeof showLogHistogram>;
/** A whole record: the page asks for no chosen fields. */
export type LogRecord = Answered<typeof showLog>;
