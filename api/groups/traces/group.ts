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
    'Traces and spans: search, one trace with its critical path and logs, figures, fields, and what sets slow or failed ones apart.',
  entitlement: 'traces',
  operations: [listTraces, showTrace, listTraceLogs, searchSpans, listTraceFields, compareTraces],
});
