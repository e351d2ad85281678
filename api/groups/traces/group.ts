import { defineGroup } from '../define-group.ts';
import { compareTraces } from './compare.ts';
import { listTraces } from './list.ts';
import { listTraceLogs } from './logs.ts';
import { showTrace } from './show.ts';
import { searchSpans } from './spans.ts';

export const tracesGroup = defineGroup({
  name: 'traces',
  summary: 'Traces and spans: search, and all spans and logs of one trace.',
  entitlement: 'traces',
  operations: [listTraces, showTrace, listTraceLogs, searchSpans, compareTraces],
  planned: [['GET /api/traces/fields', 'viewer', 'queryable fields']],
});
