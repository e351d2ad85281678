import { computedBodySearch } from '../../schemas/tables/search.ts';
import { countFields, patternCountsSource } from './counted-patterns.ts';
import { defineSignal } from './definition.ts';

/**
 * Counts of log patterns by minute. A minute is available once it is over and the counting processor has processed it.
 */
export const logPatterns = defineSignal({
  records: 'log records by pattern and minute',
  entitlement: 'logs',
  group: 'logs',
  retentionDays: (days) => days.logs,
  newest: {
    table: 'log_pattern_counts',
    time: 'minute',
    // Counts of late records arrive in between and do not imply a later minute.
    upTo: "least(max(received_at), toDateTime64(maxIf(minute, minute <= received_at) + 60, 3, 'UTC'))",
  },
  fields: countFields,
  text: computedBodySearch,
  hasAttributeIndex: false,
  queryable: {
    table: 'log_pattern_counts',
    from: patternCountsSource,
    unit: '{record}',
    hasReplacedRows: true,
    counted: 'count',
    minStepMs: 60_000,
  },
});
