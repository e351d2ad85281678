import { defineGroup } from '../define-group.ts';
import { listLogFields } from './fields.ts';
import { listLogs } from './list.ts';
import { compareLogPatterns } from './patterns/compare.ts';
import { listLogPatterns } from './patterns/list.ts';
import { showLogPattern } from './patterns/show.ts';
import { showLog } from './show.ts';

export const logsGroup = defineGroup({
  name: 'logs',
  summary: 'Log records: search, statistics, fields and patterns.',
  operations: [listLogs, showLog, listLogFields, listLogPatterns, showLogPattern, compareLogPatterns],
  planned: [
    ['GET /api/logs/histogram', 'viewer', 'counts per interval, split by severity or any field'],
    ['GET /api/logs/aggregate', 'viewer', 'count, distinct, sum, avg, min, max, percentiles grouped by fields'],
    ['GET /api/logs/fields/{name}/values', 'viewer', 'top values of one field'],
    ['GET /api/logs/{id}/context', 'viewer', 'the records around it in the same stream'],
    ['GET /api/logs/export', 'viewer', 'NDJSON or CSV stream of a search'],
  ],
});
