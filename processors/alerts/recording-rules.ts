/** Evaluates recording rules when their groups are due. */
import { z } from 'zod';
import { recordedSamples } from '../../schemas/recorded-samples.ts';
import { recordingGroups } from '../../schemas/resources/recording-group.ts';
import { topics } from '../../schemas/topics.ts';
import { msOf } from '../../subjects/alerts/durations.ts';
import { toRecordingRecord } from '../../subjects/alerts/evaluation-record.ts';
import {
  emptyRecording,
  endOfRecording,
  evaluateGroup,
  type RecordingState,
} from '../../subjects/alerts/recording/evaluate.ts';
import { recordingRuleId } from '../../subjects/alerts/recording/group.ts';
import { createExpressionRun } from '../../subjects/alerts/recording/run-query.ts';
import { queryTimeouts } from '../../subjects/alerts/run-query.ts';
import { defineSchedule } from '../engine/schedule.ts';
import { tenantReading } from '../engine/tenant-reading.ts';
import { samplesOf } from './recorded.ts';
import { ruleAnswers } from './rule-answers.ts';

/** Of a run. */
const budgetMs = 60_000;
/** What has no answer by then is not evaluated, as alert rules are not: its time passes, and it is stale until the next. */
const answerMs = 50_000;

/**
 * One group is one thing: its rules are evaluated in their order. Samples bear the due time, whenever that is run, so a due time that was
 * missed is recorded as it would have been.
 */
export const recording = defineSchedule({
  name: 'recording-rules',
  summary: 'Evaluates recording rules, and writes the series that they make.',
  entitlement: 'metrics',
  collection: recordingGroups,
  // What is switched off is looked at now and then, so that its series end.
  everyMs: ({ enabled, interval }) => (enabled ? msOf(interval) : Math.min(60_000, msOf(interval))),
  missed: { makeUp: 10 },
  state: { version: 1, schema: z.custom<RecordingState>(), empty: emptyRecording },
  emits: { samples: recordedSamples, evaluations: topics.alertEvaluations },
  // What they ask waits for its turn (`rule-answers.ts`).
  atOnce: { total: 400, perTenant: 200 },
  budgetMs,
  async run(group, run) {
    const { tenantId, dueMs, emit, signal, ports } = run;
    if (!group.enabled) {
      const ended = endOfRecording(run.state);
      for (const part of samplesOf({ tenantId, projectId: '', atMs: dueMs - msOf(group.delay) }, ended))
        emit.samples(part);
      return emptyRecording();
    }
    const reading = await tenantReading(ports, tenantId, Math.max(dueMs, Date.now()));
    if (reading === undefined) return run.state;
    const query = createExpressionRun(reading, {
      atMs: dueMs - msOf(group.delay),
      signal,
      answers: ruleAnswers(ports.columns, tenantId),
      sharedMs: queryTimeouts.sharedMs,
      withinMs: answerMs,
      mayWait: run.mayWait,
    });
    const { state, atMs, series, rules } = await evaluateGroup(group, {
      prior: run.state,
      nowMs: dueMs,
      runExpressions: query,
    });
    for (const part of samplesOf({ tenantId, projectId: '', atMs }, series)) emit.samples(part);
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
    for (const part of samplesOf({ tenantId, projectId: '', atMs: nowMs }, endOfRecording(state))) emit.samples(part);
  },
});
