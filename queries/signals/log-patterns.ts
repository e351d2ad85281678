import { bodySearch } from '../../schemas/tables/search.ts';
import { countedPatterns, countFields } from './counted-patterns.ts';
import { defineSignal } from './definition.ts';

/** Counts of log patterns by minute: a minute is there once it is over, and the processor that counts has passed it. */
export const logPatterns = defineSignal({
  records: 'log records by pattern and minute',
  entitlement: 'logs',
  keptDays: (days) => days.logs,
  newest: {
    table: 'log_pattern_counts',
    time: 'minute',
    // Counts of late records come in between: they tell of no later minute.
    upTo: "least(max(received_at), toDateTime64(maxIf(minute, minute <= received_at) + 60, 3, 'UTC'))",
  },
  fields: countFields,
  text: bodySearch,
  hasAttributeIndex: false,
  queryable: {
    table: 'log_pattern_counts',
    from: countedPatterns,
    unit: '{record}',
    areReplaced: true,
    counted: 'count',
    leastStepMs: 60_000,
  },
});
