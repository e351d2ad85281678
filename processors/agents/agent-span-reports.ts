import { computeHashId } from '../../runtime/hash-id.ts';
import { spans } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { type CapturedCall, readSpanReports } from '../../subjects/agents/read-span.ts';
import { defineProcessor } from '../engine/definition.ts';

/** Scope of the spans that AgentSight exports. */
const scopeName = 'agentsight';

/** Finds requests of agents to models in spans that AgentSight exports. */
export const agentSpanReports = defineProcessor({
  name: 'agent-span-reports',
  summary: 'Finds requests of agents to models in spans of AgentSight.',
  reads: spans,
  emits: { reports: topics.agentReports },
  entitlement: 'agentsight',
  step(span, { emit }) {
    if (span.scope.name !== scopeName) return;
    const attributes = new Map<string, string>();
    for (const { key, text } of span.attributes) if (!attributes.has(key)) attributes.set(key, text);
    const getResource = (name: string): string => span.getResourceAttribute(name) ?? '';
    const startMs = Number(span.timeNs) / 1e6;
    const { tenantId, projectId, service, traceId, spanId } = span;
    const call: CapturedCall = {
      attributes,
      startMs,
      endMs: startMs + Number(span.durationNs) / 1e6,
      service,
      host: getResource('host.name') || getResource('k8s.node.name') || service,
    };
    for (const [index, read] of readSpanReports(call).entries())
      emit.reports({
        tenantId,
        projectId,
        service,
        id: computeHashId('agent', traceId, spanId, index),
        recordId: '',
        traceId,
        spanId,
        recordMs: read.reportedMs ?? startMs,
        ...read,
      });
  },
});
