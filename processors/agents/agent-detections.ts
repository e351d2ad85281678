import { createItemSource } from '../../schemas/records/values.ts';
import { topics } from '../../schemas/topics.ts';
import { toSigmaFields } from '../../subjects/agents/sigma-event.ts';
import { detect } from '../../subjects/detections/detect.ts';
import type { EvaluationObserver } from '../../subjects/detections/rule-set.ts';
import { compileFollowed, followedCollections } from '../detections/deployments.ts';
import { costBudgetState } from '../detections/rule-budget.ts';
import { seenTelemetryState } from '../detections/seen-telemetry.ts';
import { defineProcessor } from '../engine/definition.ts';
import { combinedState } from '../engine/state.ts';

/** Frequent kinds of events that no rule evaluates. */
const skippedKinds = new Set(['tls', 'system', 'stdio', 'http_response']);

/** Evaluates events of agents against the rules of the platform and of the organization for agents. */
export const agentDetections = defineProcessor({
  name: 'agent-detections',
  summary: 'Matches events of agents against Sigma rules of the log source agentsight.',
  reads: createItemSource(topics.agentEvents),
  emits: {
    signals: topics.signals,
    matches: topics.detectionMatches,
    chained: topics.chainedMatches,
    telemetry: topics.detectionTelemetry,
  },
  follows: followedCollections,
  entitlement: 'agentsight',
  state: combinedState(1, { costBudget: costBudgetState, seen: seenTelemetryState }),
  step(event, { follows, emit, clockMs, state: { costBudget, seen } }) {
    if (event.agentId === '' || skippedKinds.has(event.kind)) return;
    const { tenantId, projectId, timeMs, service } = event;
    const observer: EvaluationObserver = {
      isOff: (ruleId, version) => costBudget.isDisabled(ruleId, version),
      onRuleCost: (ruleId, version, characters) => costBudget.addCost(ruleId, version, characters),
      onEventKind(kind, { leaves }) {
        const telemetry = seen.observe(kind, leaves, clockMs);
        if (telemetry !== undefined) emit.telemetry({ ...telemetry, tenantId });
      },
    };
    const record = {
      tenantId,
      projectId,
      timeMs,
      service,
      // Events of spans have no log record.
      recordId: event.recordId || event.id,
      values: { body: toSigmaFields(event), attributes: [], resource: [] },
    };
    const { signals, matches, chained } = detect(compileFollowed(follows, 'agents'), record, clockMs, observer);
    for (const signal of signals) emit.signals(signal);
    for (const match of matches) emit.matches(match);
    for (const match of chained) emit.chained(match);
    costBudget.countRecord();
  },
});
