import {
  syntheticLatestTable,
  syntheticRunsTable,
  syntheticStatesTable,
  syntheticVerdictsTable,
} from '../schemas/tables/synthetics.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

const toIsoTime = (ms: number): string => new Date(ms).toISOString();

/** Maximum number of characters of a message in the table of latest results. Alerts contain this message. */
const maxMessageCharacters = 300;

/**
 * Latest time that a date can represent. The engine retains the row with the highest `earliness` of a key, which is the
 * first accepted result.
 */
const maxTimeMs = 8_640_000_000_000_000;

export const syntheticRuns = defineValueSink({
  topic: topics.syntheticRuns,
  table: syntheticRunsTable,
  row: ({ tenantId, projectId, checkId, location, dueMs, acceptedMs, isManual, ...run }) => ({
    tenant_id: tenantId,
    project_id: projectId,
    check_id: checkId,
    location,
    due: toIsoTime(dueMs),
    is_manual: isManual ? 1 : 0,
    earliness: maxTimeMs - acceptedMs,
    started: toIsoTime(run.startedAtMs),
    outcome: run.outcome,
    attempts: run.attempts,
    duration_ms: run.durationMs,
    message: run.message,
    check_name: run.checkName,
    check_type: run.checkType,
    labels: run.labels,
    phases: JSON.stringify(run.phases),
    steps: JSON.stringify(run.steps),
    trace_id: run.traceId,
  }),
  merging: {
    table: syntheticLatestTable,
    row: ({ tenantId, checkId, location, dueMs, isManual, startedAtMs, outcome, message, toldMs: reportedAtMs }) =>
      isManual
        ? []
        : {
            tenant_id: tenantId,
            check_id: checkId,
            location,
            due_ms: reportedAtMs ?? dueMs,
            last_seen: toIsoTime(dueMs),
            started_ms: reportedAtMs ?? startedAtMs,
            outcome,
            message: message.slice(0, maxMessageCharacters),
          },
  },
});

export const syntheticStates = defineValueSink({
  topic: topics.syntheticStates,
  table: syntheticStatesTable,
  row: ({ tenantId, checkId, location, atMs, state }) => ({
    tenant_id: tenantId,
    check_id: checkId,
    location,
    at: toIsoTime(atMs),
    state,
  }),
});

export const syntheticVerdicts = defineValueSink({
  topic: topics.syntheticVerdicts,
  table: syntheticVerdictsTable,
  row: ({ tenantId, checkId, judgedMs, state, isMaintenance, says: summary, locations }) => ({
    tenant_id: tenantId,
    check_id: checkId,
    judged: toIsoTime(judgedMs),
    state,
    says: summary,
    is_maintenance: isMaintenance ? 1 : 0,
    locations: JSON.stringify(locations),
  }),
});
