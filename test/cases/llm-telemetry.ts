/** Spans of models for tests, stored as the pipeline stores them. */
import { duplicateLlmCalls } from '../../processors/llm/duplicate-llm-calls.ts';
import { llmCalls } from '../../processors/llm/llm-calls.ts';
import { nestedLlmCalls } from '../../processors/llm/nested-llm-calls.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { topics } from '../../schemas/topics.ts';
import { otlpMessage, TaskRun } from './run-task.ts';
import { landIn, text } from './sink-tables.ts';

export interface ModelSpan {
  readonly id: number;
  readonly atMs: number;
  readonly durationMs?: number;
  readonly trace?: number;
  readonly parent?: number;
  readonly scope?: string;
  readonly failed?: boolean;
  readonly attributes: Readonly<Record<string, string>>;
}

const idOf = (number: number, bytes: number): Buffer =>
  Buffer.from(number.toString(16).padStart(2 * bytes, '0'), 'hex');
const ns = (ms: number): string => `${BigInt(ms) * 1_000_000n}`;

export const requestIdOf = ({ id, trace = id, atMs }: ModelSpan): string =>
  `${ns(atMs)}-${idOf(trace, 16).toString('hex')}-${idOf(id, 8).toString('hex')}`;

const toRequest = (spans: readonly ModelSpan[]): object => ({
  resourceSpans: [
    {
      resource: { attributes: [text('service.name', 'assistant')] },
      scopeSpans: spans.map(
        ({ id, atMs, durationMs = 1_000, trace = id, parent, scope = 'test', failed, attributes }) => ({
          scope: { name: scope, version: '1.0.0' },
          spans: [
            {
              traceId: idOf(trace, 16),
              spanId: idOf(id, 8),
              ...(parent !== undefined && { parentSpanId: idOf(parent, 8) }),
              kind: 3,
              name: attributes['gen_ai.operation.name'] ?? 'chat',
              startTimeUnixNano: ns(atMs),
              endTimeUnixNano: ns(atMs + durationMs),
              status: { code: failed === true ? 2 : 0 },
              attributes: Object.entries(attributes).map(([key, value]) => text(key, value)),
            },
          ],
        }),
      ),
    },
  ],
});

/** Stores spans, and the calls that processors derive from them. */
export const landModelSpans = async (
  columns: Columns,
  spans: readonly ModelSpan[],
  { tenantId = 'a' }: { readonly tenantId?: string } = {},
): Promise<void> => {
  const land = landIn(columns);
  const atMs = Math.max(...spans.map((span) => span.atMs));
  const request = toRequest(spans);
  const message = { ...otlpMessage('traces', request, { tenantId, atMs }), offset: 0, timestampMs: atMs };
  const { rejected } = await land([message], { sink: 'traces' });
  if (rejected.length > 0) throw new Error(JSON.stringify(rejected));
  const found = new TaskRun(llmCalls);
  found.message(message);
  const nested = new TaskRun(nestedLlmCalls);
  nested.values(found.emitted(topics.llmSpans), { tenantId, atMs });
  const duplicates = new TaskRun(duplicateLlmCalls);
  duplicates.values(nested.emitted(topics.llmResponses), { tenantId, atMs });
  const values = [found, nested, duplicates].flatMap((run) => run.emitted(topics.llmCalls));
  await land(
    [{ offset: 0, value: Buffer.from(JSON.stringify(values)), headers: { tenant: tenantId }, timestampMs: atMs }],
    { sink: 'llm-calls' },
  );
};
