import { syntheticLatestTable, syntheticRunsTable, syntheticStatesTable } from '../schemas/tables/synthetics.ts';
import { topics } from '../schemas/topics.ts';
import { landValues } from './engine/land-values.ts';

const time = (ms: number): string => new Date(ms).toISOString();

/** The engine keeps the highest of rows with one key: that of the first that was accepted. */
const latestMs = 8_640_000_000_000_000;

export const syntheticRuns = landValues({
  topic: topics.syntheticRuns,
  table: syntheticRunsTable,
  row: ({ tenantId, projectId, checkId, location, dueMs, acceptedMs, isManual, ...run }) => ({
    ...{ tenant_id: tenantId, project_id: projectId, check_id: checkId, location, due: time(dueMs) },
    ...{ is_manual: isManual ? 1 : 0, earliness: latestMs - acceptedMs, started: time(run.startedAtMs) },
    ...{ outcome: run.outcome, attempts: run.attempts, duration_ms: run.durationMs, message: run.message },
    ...{ phases: JSON.stringify(run.phases), steps: JSON.stringify(run.steps), trace_id: run.traceId },
  }),
  merging: {
    table: syntheticLatestTable,
    row: ({ tenantId, checkId, location, dueMs, isManual, startedAtMs, outcome }) =>
      isManual
        ? []
        : {
            ...{ tenant_id: tenantId, check_id: checkId, location, due_ms: dueMs, last_seen: time(dueMs) },
            ...{ started_ms: startedAtMs, outcome },
          },
  },
});

export const syntheticStates = landValues({
  topic: topics.syntheticStates,
  table: syntheticStatesTable,
  row: ({ tenantId, checkId, location, atMs, state }) => ({
    ...{ tenant_id: tenantId, check_id: checkId, location, at: time(atMs), state },
  }),
});
