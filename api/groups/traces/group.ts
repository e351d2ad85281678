import { defineGroup } from '../define-group.ts';
import { compareTraces } from './compare.ts';
import { listTraceFields } from './fields.ts';
import { listTraces } from './list.ts';
import { listTraceLogs } from './logs.ts';
import { showTrace } from './show.ts';
import { searchSpans } from './spans.ts';

export const tracesGroup = defineGroup({
  name: 'traces',
  summary:
    'Traces and spans: search, single traces with critical path and logs, aggregations, fields, and the attributes that distinguish slow or failed ones.',
  entitlement: 'traces',
  operations: [listTraces, showTrace, listTraceLogs, searchSpans, listTraceFields, compareTraces],
});
