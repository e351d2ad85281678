import { z } from 'zod';
import { type LlmSpan, LlmSpan as LlmSpanSchema } from '../../schemas/llm-calls.ts';
import { createItemSource } from '../../schemas/records/values.ts';
import { topics } from '../../schemas/topics.ts';
import { findNestedCalls } from '../../subjects/llm/same-calls.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { keyedState } from '../engine/state.ts';
import { computeDueMs, deleteDueEntries } from './due-entries.ts';

/** Spans of a trace beyond this number are counted without comparison. */
const maxSpansPerTrace = 2_000;

const TraceSpans = z.strictObject({
  dueMs: z.number(),
  spans: z.array(LlmSpanSchema),
  /** Last verdict by span; absent for a span that always counted. */
  verdicts: z.record(z.string(), z.int()),
});
type TraceSpans = z.output<typeof TraceSpans>;

const emits = { calls: topics.llmCalls, responses: topics.llmResponses };
const state = keyedState<TraceSpans>({ version: 1, maxEntries: 200_000, schema: TraceSpans });
type StepContext = Context<typeof emits, Readonly<Record<never, never>>, ReturnType<typeof state.open>>;

const isOdd = (verdict: number | undefined): boolean => verdict !== undefined && verdict % 2 === 1;

const emitResponse = (span: LlmSpan, isCounted: boolean, { emit }: StepContext): void => {
  if (span.responseId === '') return;
  const { tenantId, time, timeMs, traceId, spanId, responseId, completeness } = span;
  emit.responses({ tenantId, time, timeMs, traceId, spanId, responseId, completeness, isCounted });
};

/** Emits the verdicts that a new span changes. */
const judgeTrace = (trace: TraceSpans, added: LlmSpan, context: StepContext): void => {
  const nested = findNestedCalls(new Map(trace.spans.map((span) => [span.spanId, span])));
  for (const span of trace.spans) {
    const { tenantId, time, timeMs, traceId, spanId } = span;
    const verdict = trace.verdicts[spanId];
    if (nested.has(spanId) !== isOdd(verdict)) {
      const next = (verdict ?? 0) + 1;
      trace.verdicts[spanId] = next;
      context.emit.calls({ tenantId, time, timeMs, traceId, spanId, nested: next });
      emitResponse(span, !isOdd(next), context);
    } else if (span === added) emitResponse(span, !isOdd(verdict), context);
  }
};

/** Compares the spans of a trace, in any order. */
export const nestedLlmCalls = defineProcessor({
  name: 'nested-llm-calls',
  summary: 'Decides which nested spans of a trace report the same call of a model.',
  reads: createItemSource(topics.llmSpans),
  emits,
  state,
  limits: { stateBytes: 256 * 1024 * 1024 },
  step(span, context) {
    const { clockMs, setTimer } = context;
    const trace = context.state.get(span.traceId) ?? { dueMs: 0, spans: [], verdicts: {} };
    if (trace.spans.some(({ spanId }) => spanId === span.spanId)) {
      context.drop('duplicate');
      return;
    }
    if (trace.spans.length >= maxSpansPerTrace) {
      emitResponse(span, true, context);
      context.drop('too-many');
      return;
    }
    trace.spans.push(span);
    trace.dueMs = computeDueMs(clockMs);
    judgeTrace(trace, span, context);
    context.state.set(span.traceId, trace);
    setTimer('clock', trace.dueMs, String(trace.dueMs));
  },
  timer(_, context) {
    deleteDueEntries(context.state, context.clockMs);
  },
});
