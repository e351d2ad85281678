/** Decides which spans of a trace report the same call. */
import type { LlmSpan } from '../../schemas/llm-calls.ts';

export type ComparedSpan = Pick<LlmSpan, 'spanId' | 'parentSpanId' | 'isCall' | 'models' | 'hasUsage' | 'completeness'>;

/** Spans without a model are compared as calls of any model. */
const hasSameModel = (left: ComparedSpan, right: ComparedSpan): boolean =>
  left.models.length === 0 || right.models.length === 0 || left.models.some((model) => right.models.includes(model));

/** Maximum number of ancestors that are followed, so that a cycle of parents ends. */
const maxAncestors = 100;

const listOuterCalls = (span: ComparedSpan, spans: ReadonlyMap<string, ComparedSpan>): ComparedSpan[] => {
  const outerCalls: ComparedSpan[] = [];
  let ancestor = spans.get(span.parentSpanId);
  for (let count = 0; ancestor !== undefined && ancestor !== span && count < maxAncestors; count++) {
    if (ancestor.isCall && hasSameModel(ancestor, span)) outerCalls.push(ancestor);
    ancestor = spans.get(ancestor.parentSpanId);
  }
  return outerCalls;
};

/** Returns the calls of one model inside each call. */
const listInnerCalls = (spans: ReadonlyMap<string, ComparedSpan>): ReadonlyMap<ComparedSpan, ComparedSpan[]> => {
  const innerCalls = new Map<ComparedSpan, ComparedSpan[]>();
  for (const span of spans.values()) {
    if (!span.isCall) continue;
    for (const outer of listOuterCalls(span, spans)) {
      const inner = innerCalls.get(outer) ?? [];
      inner.push(span);
      innerCalls.set(outer, inner);
    }
  }
  return innerCalls;
};

/** Whether a call has usage, and how many kinds of tokens: completeness without names of models and users. */
const rankUsage = ({ completeness }: ComparedSpan): number => Math.floor(completeness / 20);

/** Returns whether the outer one of nested calls counts: only it has tokens, or it has more kinds than its only inner call. */
const isOuterCounted = (outer: ComparedSpan, inner: readonly ComparedSpan[]): boolean => {
  if (!outer.hasUsage) return false;
  if (!inner.some(({ hasUsage }) => hasUsage)) return true;
  const [only] = inner;
  return inner.length === 1 && only !== undefined && rankUsage(outer) > rankUsage(only);
};

/**
 * Returns the spans that do not count, because another span of the trace reports the same call. Of nested calls of one
 * model, the inner ones count; the outer one counts if only it has tokens, or more kinds of them. The result does not
 * depend on the order of the spans.
 */
export const findNestedCalls = (spans: ReadonlyMap<string, ComparedSpan>): ReadonlySet<string> => {
  const nested = new Set<string>();
  for (const [outer, inner] of listInnerCalls(spans)) {
    if (isOuterCounted(outer, inner)) for (const { spanId } of inner) nested.add(spanId);
    else nested.add(outer.spanId);
  }
  return nested;
};
