/** Evaluates recording rules when their groups are due. */
import { z } from 'zod';
import { recordedSamples } from '../../schemas/recorded-samples.ts';
import { recordingGroups } from '../../schemas/resources/recording-group.ts';
import { topics } from '../../schemas/topics.ts';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import { toRecordingRecord } from '../../subjects/alerts/evaluation-record.ts';
import {
  createStaleMarkers,
  emptyRecording,
  evaluateRecordingGroup,
  type RecordingState,
} from '../../subjects/alerts/recording/evaluate.ts';
import { recordingRuleId } from '../../subjects/alerts/recording/group.ts';
import { createExpressionRun } from '../../subjects/alerts/recording/run-query.ts';
import { queryTimeouts } from '../../subjects/alerts/run-query.ts';
import { openTenantReader } from '../engine/open-tenant-reader.ts';
import { defineSchedule } from '../engine/schedule.ts';
import { getRuleBatcher } from './rule-batchers.ts';
import { splitSamples } from './split-samples.ts';

/** Time budget of a run. */
const budgetMs = 60_000;
/**
 * As with alert rules, groups whose queries have not returned by then are not evaluated. Their due time is skipped, and they are
 * stale until the next one.
 */
const queryTimeoutMs = 50_000;

/**
 * Schedule with one unit of work per group, whose rules are evaluated in order. Samples carry the due time, whenever it
 * runs, so a missed due time is recorded as if it had run on time.
 */
export const recording = defineSchedule({
  name: 'recording-rules',
  summary: 'Evaluates recording rules, and writes the series they produce.',
  entitlement: 'metrics',
  collection: recordingGroups,
  // Disabled groups are still evaluated occasionally, so that their series end.
  everyMs: ({ enabled, interval }) =>
    enabled ? parseDurationMs(interval) : Math.min(60_000, parseDurationMs(interval)),
  missed: { catchUp: 10 },
  state: { version: 1, schema: z.custom<RecordingState>(), empty: emptyRecording },
  emits: { samples: recordedSamples, evaluations: topics.alertEvaluations },
  // Their queries wait in a queue (`rule-batchers.ts`).
  concurrency: { total: 400, perTenant: 200 },
  budgetMs,
  async run(group, run) {
    const { tenantId, dueMs, emit, signal, ports } = run;
    if (!group.enabled) {
      const staleMarkers = createStaleMarkers(run.state);
      for (const samples of splitSamples(
        { tenantId, projectId: '', atMs: dueMs - parseDurationMs(group.delay) },
        staleMarkers,
      ))
        emit.samples(samples);
      return emptyRecording();
    }
    const reader = await openTenantReader(ports, tenantId, Math.max(dueMs, Date.now()));
    if (reader === undefined) return run.state;
    const runExpressions = createExpressionRun(reader, {
      atMs: dueMs - parseDurationMs(group.delay),
      signal,
      batcher: getRuleBatcher(ports.columns, tenantId),
      batchTimeoutMs: queryTimeouts.batchTimeoutMs,
      totalTimeoutMs: queryTimeoutMs,
      canRetry: run.canWait,
    });
    const { state, atMs, series, rules } = await evaluateRecordingGroup(group, {
      prior: run.state,
      nowMs: dueMs,
      runExpressions: runExpressions,
    });
    for (const samples of splitSamples({ tenantId, projectId: '', atMs }, series)) emit.samples(samples);
    const lateMs = Date.now() - dueMs;
    for (const [index, outcome] of rules.entries())
      emit.evaluations(
        toRecordingRecord({
          tenantId,
          ruleId: recordingRuleId(group.id, index),
          ruleVersion: group.version,
          nowMs: dueMs,
          lateMs,
          outcome,
        }),
      );
    return state;
  },
  async removed({ tenantId, state, nowMs, emit }) {
    for (const samples of splitSamples({ tenantId, projectId: '', atMs: nowMs }, createStaleMarkers(state)))
      emit.samples(samples);
  },
});
