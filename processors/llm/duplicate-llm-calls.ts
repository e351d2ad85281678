import { z } from 'zod';
import { LlmResponse } from '../../schemas/llm-calls.ts';
import { createItemSource } from '../../schemas/records/values.ts';
import { topics } from '../../schemas/topics.ts';
import { defineProcessor } from '../engine/definition.ts';
import { keyedState } from '../engine/state.ts';
import { computeDueMs, deleteDueEntries } from './due-entries.ts';

const maxSpansPerResponse = 100;

const Reports = z.strictObject({
  dueMs: z.number(),
  reports: z.array(z.strictObject({ response: LlmResponse, verdict: z.int() })),
});
type Reports = z.output<typeof Reports>;

/** Orders reports of one response, the most complete first. */
const compareReports = (left: LlmResponse, right: LlmResponse): number =>
  Number(right.isCounted) - Number(left.isCounted) ||
  right.completeness - left.completeness ||
  (`${left.traceId} ${left.spanId}` < `${right.traceId} ${right.spanId}` ? -1 : 1);

/** Counts each response of a model once, also if spans of several traces report it. */
export const duplicateLlmCalls = defineProcessor({
  name: 'duplicate-llm-calls',
  summary: 'Decides which of several spans with the same response ID counts.',
  reads: createItemSource(topics.llmResponses),
  emits: { calls: topics.llmCalls },
  state: keyedState<Reports>({ version: 1, maxEntries: 200_000, schema: Reports }),
  limits: { stateBytes: 256 * 1024 * 1024 },
  step(response, { state, clockMs, emit, setTimer, drop }) {
    const { responseId } = response;
    const entry = state.get(responseId) ?? { dueMs: 0, reports: [] };
    const { reports } = entry;
    const known = reports.find(
      (report) => report.response.spanId === response.spanId && report.response.traceId === response.traceId,
    );
    if (known !== undefined) known.response = response;
    else if (reports.length >= maxSpansPerResponse) {
      drop('too-many');
      return;
    } else reports.push({ response, verdict: 0 });
    const [counted] = reports.map((report) => report.response).toSorted(compareReports);
    for (const report of reports) {
      const { tenantId, time, timeMs, traceId, spanId, isCounted } = report.response;
      // A report that does not count in its trace needs no second verdict.
      const isDuplicate = isCounted && report.response !== counted;
      if (isDuplicate === (report.verdict % 2 === 1)) continue;
      report.verdict++;
      emit.calls({ tenantId, time, timeMs, traceId, spanId, duplicate: report.verdict });
    }
    entry.dueMs = computeDueMs(clockMs);
    state.set(responseId, entry);
    setTimer('clock', entry.dueMs, String(entry.dueMs));
  },
  timer(_, { state, clockMs }) {
    deleteDueEntries(state, clockMs);
  },
});
