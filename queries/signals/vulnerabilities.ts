import { computedBodySearch } from '../../schemas/tables/search.ts';
import { defineSignal } from './definition.ts';
import { vulnerabilitiesSource, vulnerabilityFields } from './vulnerabilities-source.ts';

/** Vulnerabilities of packages, by hour. They have no retention of their own: the longest retention of the plan applies. */
export const vulnerabilities = defineSignal({
  records: 'vulnerabilities',
  entitlement: 'security',
  group: 'security',
  retentionDays: (days) => Math.max(...Object.values(days)),
  newest: { table: 'vulnerability_findings', time: 'time' },
  fields: vulnerabilityFields,
  text: computedBodySearch,
  hasAttributeIndex: false,
  queryable: {
    table: 'vulnerability_findings',
    from: vulnerabilitiesSource,
    unit: '{finding}',
    hasReplacedRows: true,
    minStepMs: 3_600_000,
  },
});
