import { defineGroup } from '../define-group.ts';
import { listLogs } from './list.ts';
import { showLog } from './show.ts';

export const logsGroup = defineGroup({
  name: 'logs',
  summary: 'Log records: search, statistics, fields and patterns.',
  operations: [listLogs, showLog],
  planned: [
    ['GET /api/logs/histogram', 'viewer', 'counts per interval, split by severity or any field'],
    ['GET /api/logs/aggregate', 'viewer', 'count, distinct, sum, avg, min, max, percentiles grouped by fields'],
    ['GET /api/logs/fields', 'viewer', 'queryable fields with type and how many records carry each'],
    ['GET /api/logs/fields/{name}/values', 'viewer', 'top values of one field'],
    [
      'GET /api/logs/patterns',
      'viewer',
      'discovered patterns: template, count, share, first/last seen, trend, sample, new/gone',
    ],
    ['GET /api/logs/patterns/{id}', 'viewer', "one pattern: history, parameters' values, services"],
    ['GET /api/logs/patterns/compare', 'viewer', 'patterns of two time ranges against each other'],
    ['GET /api/logs/{id}/context', 'viewer', 'the records around it in the same stream'],
    ['GET /api/logs/export', 'viewer', 'NDJSON or CSV stream of a search'],
  ],
});
