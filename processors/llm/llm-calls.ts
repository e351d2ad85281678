import { formatTime } from '../../queries/time.ts';
import { NameSet } from '../../schemas/records/attributes.ts';
import { spans } from '../../schemas/records/sources.ts';
import type { Span } from '../../schemas/records/span.ts';
import { topics } from '../../schemas/topics.ts';
import {
  type CallSource,
  findRole,
  hasUsage,
  markingNames,
  measureCompleteness,
  normalizeModels,
  readCall,
} from '../../subjects/llm/read-call.ts';
import { defineProcessor } from '../engine/definition.ts';

const markingNameSet = new NameSet(markingNames);

let isMarked = false;
const markSpan = (): void => {
  isMarked = true;
};

const readSource = (span: Span): CallSource => {
  const attributes = new Map<string, string>();
  for (const { key, text } of span.attributes) if (!attributes.has(key)) attributes.set(key, text);
  const resourceAttributes = new Map<string, string>();
  for (const { key, text } of span.resourceAttributes.values()) resourceAttributes.set(key, text);
  return {
    attributes,
    resourceAttributes,
    projectId: span.projectId,
    service: span.service,
    scopeName: span.scope.name,
    scopeVersion: span.scope.version,
    statusCode: span.statusCode,
    timeNs: span.timeNs,
    durationNs: Number(span.durationNs),
  };
};

/** Finds calls of models in spans. Each call is stored immediately; later processors decide which do not count. */
export const llmCalls = defineProcessor({
  name: 'llm-calls',
  summary: 'Finds calls of language models in spans, with tokens by kind and their cost.',
  reads: spans,
  emits: { calls: topics.llmCalls, spans: topics.llmSpans },
  entitlement: 'llm',
  step(span, { emit, drop }) {
    isMarked = false;
    span.visitAttributeNames(markingNameSet, markSpan);
    if (!isMarked) return;
    const source = readSource(span);
    const role = findRole(source);
    if (role === undefined) return;
    const { traceId, spanId } = span;
    if (traceId === '' || spanId === '') {
      drop('no-id');
      return;
    }
    const position = {
      tenantId: span.tenantId,
      time: formatTime(source.timeNs),
      timeMs: span.timeMs,
      traceId,
      spanId,
    };
    const call = readCall(source, role);
    const isCall = role.role === 'call';
    const hasTokens = hasUsage(call);
    if (isCall || hasTokens) emit.calls({ ...position, call });
    emit.spans({
      ...position,
      parentSpanId: span.parentSpanId,
      isCall,
      models: normalizeModels(call),
      hasUsage: hasTokens,
      responseId: isCall ? call.responseId : '',
      completeness: isCall ? measureCompleteness(call) : 0,
    });
  },
});
