/** Which model spans are counted, in any order, over several partitions and traces. */
import test from 'ava';
import { duplicateLlmCalls } from '../../processors/llm/duplicate-llm-calls.ts';
import { llmCalls } from '../../processors/llm/llm-calls.ts';
import { nestedLlmCalls } from '../../processors/llm/nested-llm-calls.ts';
import type { LlmCallRecord } from '../../schemas/llm-calls.ts';
import { topics } from '../../schemas/topics.ts';
import { seeded } from './random.ts';
import { firstMs, TaskRun } from './run-task.ts';
import { text } from './sink-tables.ts';

const idOf = (number: number, bytes: number): Buffer =>
  Buffer.from(number.toString(16).padStart(2 * bytes, '0'), 'hex');
const ns = (ms: number): string => `${BigInt(ms) * 1_000_000n}`;

interface SpanFields {
  readonly id: number;
  readonly trace?: number;
  readonly parent?: number;
  readonly model?: string;
  readonly response?: string;
  readonly input?: number;
  readonly cached?: number;
  readonly output?: number;
  readonly operation?: string;
  readonly user?: string;
}
const spanOf = ({
  id,
  trace = 1,
  parent,
  model = 'gpt-4o',
  response,
  input,
  cached,
  output,
  operation = 'chat',
  user,
}: SpanFields) => ({
  traceId: idOf(trace, 16),
  spanId: idOf(id, 8),
  ...(parent !== undefined && { parentSpanId: idOf(parent, 8) }),
  kind: 3,
  name: `${operation} ${model}`,
  startTimeUnixNano: ns(firstMs - 5_000 + id),
  endTimeUnixNano: ns(firstMs),
  attributes: [
    text('gen_ai.operation.name', operation),
    ...(model === '' ? [] : [text('gen_ai.request.model', model)]),
    text('gen_ai.provider.name', 'openai'),
    ...(response === undefined ? [] : [text('gen_ai.response.id', response)]),
    ...(user === undefined ? [] : [text('user.id', user)]),
    ...(cached === undefined ? [] : [text('gen_ai.usage.cache_read.input_tokens', String(cached))]),
    ...(input === undefined
      ? []
      : [text('gen_ai.usage.input_tokens', String(input)), text('gen_ai.usage.output_tokens', String(output ?? 0))]),
  ],
});

/** Processes spans, each in a message to one of several shards, and returns the numbers of the counted spans. */
const runSpans = (spans: readonly SpanFields[], { shards = 1, restarts = false } = {}): number[] => {
  const first = Array.from({ length: shards }, (_, partition) => new TaskRun(llmCalls, { partition }));
  const nested = new TaskRun(nestedLlmCalls);
  const duplicates = new TaskRun(duplicateLlmCalls);
  const takeNew = (run: TaskRun, topic: { readonly name: string }, from: number) => run.emitted(topic).slice(from);
  for (const [index, span] of spans.entries()) {
    const shard = first[index % shards] as TaskRun;
    const sent = shard.emitted(topics.llmSpans).length;
    shard.spans([spanOf(span)]);
    const judged = nested.emitted(topics.llmResponses).length;
    const values = takeNew(shard, topics.llmSpans, sent);
    if (values.length > 0) nested.values(values);
    const responses = takeNew(nested, topics.llmResponses, judged);
    if (responses.length > 0) duplicates.values(responses);
    if (restarts) {
      nested.restart();
      duplicates.restart();
    }
  }
  // As the table merges rows: the maximum of each column.
  const rows = new Map<string, { isCall: boolean; nested: number; duplicate: number }>();
  for (const run of [...first, nested, duplicates])
    for (const record of run.emitted<LlmCallRecord>(topics.llmCalls)) {
      const row = rows.get(record.spanId) ?? { isCall: false, nested: 0, duplicate: 0 };
      rows.set(record.spanId, {
        isCall: row.isCall || record.call?.kind === 'call',
        nested: Math.max(row.nested, record.nested ?? 0),
        duplicate: Math.max(row.duplicate, record.duplicate ?? 0),
      });
    }
  return [...rows]
    .filter(([, row]) => row.isCall && row.nested % 2 === 0 && row.duplicate % 2 === 0)
    .map(([id]) => Number.parseInt(id, 16))
    .sort((left, right) => left - right);
};

const shuffle = <Item>(items: readonly Item[], random: (below: number) => number): Item[] => {
  const shuffled = [...items];
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = random(index + 1);
    [shuffled[index], shuffled[other]] = [shuffled[other] as Item, shuffled[index] as Item];
  }
  return shuffled;
};

const tokens = { input: 10, output: 5 };
const cases: readonly {
  readonly title: string;
  readonly spans: readonly SpanFields[];
  readonly counted: readonly number[];
}[] = [
  { title: 'a call counts', spans: [{ id: 1, ...tokens }], counted: [1] },
  {
    title: 'an agent, a workflow and a tool add nothing',
    spans: [
      { id: 1, operation: 'invoke_agent', ...tokens },
      { id: 2, parent: 1, operation: 'invoke_workflow', ...tokens },
      { id: 3, parent: 2, ...tokens },
      { id: 4, parent: 2, operation: 'execute_tool', model: '' },
    ],
    counted: [3],
  },
  {
    title: 'of nested calls of one model the inner one counts, also below a container',
    spans: [
      { id: 1, ...tokens },
      { id: 2, parent: 1, operation: 'invoke_workflow', model: '' },
      { id: 3, parent: 2, model: 'openai/gpt-4o-2024-08-06', ...tokens },
    ],
    counted: [3],
  },
  {
    title: 'the outer call counts if it has more kinds of tokens than its only inner call',
    spans: [
      { id: 1, ...tokens, cached: 4 },
      { id: 2, parent: 1, ...tokens },
    ],
    counted: [1],
  },
  {
    title: 'the outer call counts if only it has tokens',
    spans: [
      { id: 1, ...tokens },
      { id: 2, parent: 1 },
    ],
    counted: [1],
  },
  {
    title: 'several inner calls count, such as a retry and its success',
    spans: [
      { id: 1, ...tokens },
      { id: 2, parent: 1 },
      { id: 3, parent: 1, ...tokens },
    ],
    counted: [2, 3],
  },
  {
    title: 'a nested call of another model counts too',
    spans: [
      { id: 1, ...tokens },
      { id: 2, parent: 1, model: 'claude-sonnet-4-5', ...tokens },
    ],
    counted: [1, 2],
  },
  {
    title: 'siblings count',
    spans: [
      { id: 1, operation: 'invoke_agent' },
      { id: 2, parent: 1, ...tokens },
      { id: 3, parent: 1, ...tokens },
    ],
    counted: [2, 3],
  },
  {
    title: 'of one response the most complete report counts, in one trace and across traces',
    spans: [
      { id: 1, response: 'r-1', ...tokens },
      { id: 2, response: 'r-1', user: 'ann', ...tokens },
      { id: 3, trace: 2, response: 'r-1' },
      { id: 4, trace: 3, response: 'r-2', ...tokens },
    ],
    counted: [2, 4],
  },
  {
    title: 'a nested call with a response counts once, although its outer call and another trace report it',
    spans: [
      { id: 1, response: 'r-1', user: 'ann', ...tokens },
      { id: 2, parent: 1, response: 'r-1', ...tokens },
      { id: 3, trace: 2, response: 'r-1', ...tokens },
    ],
    counted: [2],
  },
  {
    title: 'a cycle of parents terminates',
    spans: [
      { id: 1, parent: 2, model: 'a', ...tokens },
      { id: 2, parent: 1, model: 'b', ...tokens },
    ],
    counted: [1, 2],
  },
];

for (const { title, spans, counted } of cases)
  test(`${title}, in any order, with restarts and shards`, (t) => {
    const random = seeded(7);
    t.deepEqual(runSpans(spans), counted);
    for (let round = 0; round < 20; round++)
      t.deepEqual(runSpans(shuffle(spans, random), { shards: 1 + (round % 3), restarts: round % 2 === 0 }), counted);
  });

test('random traces have the same counted calls in any order', (t) => {
  const random = seeded(11);
  for (let round = 0; round < 60; round++) {
    const spans = Array.from(
      { length: 2 + random(9) },
      (_, index): SpanFields => ({
        id: index + 1,
        trace: 1 + random(2),
        ...(index > 0 && random(3) > 0 && { parent: 1 + random(index) }),
        model: ['gpt-4o', 'o3', ''][random(3)] as string,
        operation: ['chat', 'chat', 'invoke_agent'][random(3)] as string,
        ...(random(3) > 0 && { response: `r-${random(4)}` }),
        ...(random(3) > 0 && { input: 1 + random(50), output: random(9) }),
      }),
    );
    const counted = runSpans(spans);
    for (let order = 0; order < 4; order++)
      t.deepEqual(runSpans(shuffle(spans, random)), counted, JSON.stringify(spans));
  }
});

test('a span that arrives twice is one row, and spans without an id are dropped by name', (t) => {
  t.deepEqual(
    runSpans([
      { id: 1, ...tokens },
      { id: 1, ...tokens },
    ]),
    [1],
  );
  const run = new TaskRun(llmCalls);
  run.spans([{ ...spanOf({ id: 1 }), spanId: Buffer.alloc(8) }]);
  t.deepEqual(run.emitted(), []);
});

test('a trace is forgotten after two and a half minutes', (t) => {
  const run = new TaskRun(nestedLlmCalls);
  const calls = new TaskRun(llmCalls);
  calls.spans([spanOf({ id: 1, ...tokens })]);
  run.values(calls.emitted(topics.llmSpans), { atMs: firstMs });
  t.is(run.task.snapshot().length > 0, true);
  run.tick(firstMs + 170_000);
  calls.spans([spanOf({ id: 2, parent: 1, ...tokens })]);
  run.values(calls.emitted(topics.llmSpans).slice(1), { atMs: firstMs + 170_000 });
  t.deepEqual(run.emitted(topics.llmCalls), []);
});
