/** Derives the facts of a trace from its spans, of long traces in a worker. */
import { decodeTexts } from '../promql/fetch/native-blocks.ts';
import type { Incompleteness } from '../result.ts';
import { runInWorker } from '../worker.ts';
import {
  compareTraceOrder,
  type SpanFacts,
  type SpanFactsRow,
  spanFactsFields,
  TraceAnalysis,
  type TraceFacts,
} from './trace-facts.ts';

/** Maximum number of spans from which the summary and critical path are computed. */
export const maxSpansInFacts = 250_000;

export interface AnalyzedTrace {
  readonly facts: TraceFacts;
  /** Derived values of the requested spans, in the order of the request */
  readonly spanFacts: readonly SpanFacts[];
  readonly incompleteness: readonly Incompleteness[];
}

const incompleteFacts: Incompleteness = {
  code: 'rows',
  message: `the trace has more than ${maxSpansInFacts} spans: its summary and critical path cover the first ${maxSpansInFacts} by start`,
};

/**
 * Returns the facts of a trace and of the spans at these positions on the bus. Rows must be in the order of `compareTraceOrder`, and there
 * must be at least one.
 */
export const analyzeTrace = (rows: readonly SpanFactsRow[], positions: readonly string[]): AnalyzedTrace => {
  const analysis = new TraceAnalysis(rows.slice(0, maxSpansInFacts));
  const facts = analysis.getTraceFacts();
  return {
    facts,
    spanFacts: positions.map((position) => analysis.getSpanFacts(position)),
    incompleteness: [...(rows.length > maxSpansInFacts ? [incompleteFacts] : []), ...analysis.incompleteness],
  };
};

/** SQL of a `SpanFactsRow` as one text, which `analyzeTraceBytes` reads. */
export const factsTextSql = `formatRowNoNewline('JSONCompactEachRow', ${spanFactsFields.map(([, sql]) => sql).join(', ')}) AS text`;

const parseFactsTexts = (texts: readonly string[]): SpanFactsRow[] =>
  (JSON.parse(`[${texts.join(',')}]`) as readonly (readonly (string | number)[])[]).map(
    (values) =>
      Object.fromEntries(spanFactsFields.map(([name], index) => [name, values[index]])) as unknown as SpanFactsRow,
  );

/** Analyzes rows in the Native format, with `factsTextSql` as their only column. `undefined` without rows. */
export const analyzeTraceBytes = (bytes: Uint8Array, positions: readonly string[]): AnalyzedTrace | undefined => {
  // Each server returns its rows in order.
  const rows = parseFactsTexts(decodeTexts(bytes)).sort(compareTraceOrder);
  return rows.length === 0 ? undefined : analyzeTrace(rows, positions);
};
export const analyzeTraceBytesInWorker = runInWorker(import.meta.url, analyzeTraceBytes, {
  transfersBytes: true,
  pool: 'traces',
});
