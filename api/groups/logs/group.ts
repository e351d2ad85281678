import { defineGroup } from '../define-group.ts';
import { aggregateLogs } from './aggregate.ts';
import { showLogContext } from './context.ts';
import { exportLogs } from './export.ts';
import { listLogFields } from './fields.ts';
import { showLogHistogram } from './histogram.ts';
import { listLogs } from './list.ts';
import { compareLogPatterns } from './patterns/compare.ts';
import { listLogPatterns } from './patterns/list.ts';
import { showLogPattern } from './patterns/show.ts';
import { showLog } from './show.ts';
import { listLogFieldValues } from './values.ts';

export const logsGroup = defineGroup({
  name: 'logs',
  summary: 'Log records: search, statistics, fields and patterns.',
  operations: [
    listLogs,
    showLog,
    showLogContext,
    showLogHistogram,
    aggregateLogs,
    listLogFields,
    listLogFieldValues,
    exportLogs,
    listLogPatterns,
    showLogPattern,
    compareLogPatterns,
  ],
});
