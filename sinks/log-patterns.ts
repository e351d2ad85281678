import { logPatternCountsTable, logPatternsTable } from '../schemas/tables/log-patterns.ts';
import { topics } from '../schemas/topics.ts';
import { landValues } from './engine/land-values.ts';

export const logPatterns = landValues({
  topic: topics.logPatterns,
  table: logPatternsTable,
  row: (found) => ({
    tenant_id: found.tenantId,
    service: found.service,
    structure: found.structure,
    pattern_id: found.patternId,
    places: found.places,
    shard: found.shard,
    template: found.template,
    sample: found.sample,
    parameters: JSON.stringify(found.parameters),
    first_seen: found.firstSeen,
    last_seen: found.seenAt,
  }),
});

export const logPatternCounts = landValues({
  topic: topics.logPatternCounts,
  table: logPatternCountsTable,
  row: ({ tenantId, projectId, patternId, ...counted }) => ({
    ...counted,
    tenant_id: tenantId,
    project_id: projectId,
    pattern_id: patternId,
  }),
});
