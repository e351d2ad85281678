import { logPatternCountsTable, logPatternsTable } from '../schemas/tables/log-patterns.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

export const logPatterns = defineValueSink({
  topic: topics.logPatterns,
  table: logPatternsTable,
  row: (pattern) => ({
    tenant_id: pattern.tenantId,
    service: pattern.service,
    structure: pattern.structure,
    pattern_id: pattern.patternId,
    places: pattern.places,
    shard: pattern.shard,
    template: pattern.template,
    sample: pattern.sample,
    parameters: JSON.stringify(pattern.parameters),
    first_seen: pattern.firstSeen,
    last_seen: pattern.seenAt,
  }),
});

export const logPatternCounts = defineValueSink({
  topic: topics.logPatternCounts,
  table: logPatternCountsTable,
  row: ({ tenantId, projectId, patternId, ...counts }) => ({
    ...counts,
    tenant_id: tenantId,
    project_id: projectId,
    pattern_id: patternId,
  }),
});
