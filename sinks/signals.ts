import { signalsTable } from '../schemas/tables/signals.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

export const signals = defineValueSink({
  topic: topics.signals,
  table: signalsTable,
  row: (signal) => ({
    tenant_id: signal.tenantId,
    project_id: signal.projectId,
    id: signal.id,
    kind: signal.kind,
    time: new Date(signal.timeMs).toISOString(),
    rule_id: signal.ruleId,
    rule_version: signal.ruleVersion,
    rule_title: signal.ruleTitle,
    severity: signal.severity,
    risk_score: signal.riskScore,
    events: JSON.stringify(signal.events),
    event_count: signal.eventCount,
    entities: signal.entities.map(({ type, value }) => `${type} ${value}`),
    tactics: signal.tactics,
    techniques: signal.techniques,
    group_by: signal.group,
    suppressed_by: signal.suppressedBy,
  }),
});
