import { threatMatchesTable } from '../schemas/tables/threat-matches.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

const toIsoTime = (ms: number): string => new Date(ms).toISOString();

export const threatMatches = defineValueSink({
  topic: topics.threatMatches,
  table: threatMatchesTable,
  row: ({ tenantId, projectId, recordId, timeMs, lastMs, retroHunt, ...match }) => ({
    ...match,
    tenant_id: tenantId,
    project_id: projectId,
    record_id: recordId,
    retro_hunt: retroHunt,
    time: toIsoTime(timeMs),
    last_time: toIsoTime(lastMs),
  }),
});
