/** The assistant of the demo shop: an agent that calls models with tools, and records its messages. */
import {
  type Attributes,
  createSpanId,
  createTraceId,
  type Outbox,
  toKeyValues,
  toNanosecondText,
} from './otlp-json.ts';
import { pick } from './random.ts';

const pod: Attributes = {
  'service.name': 'assistant',
  'service.namespace': 'shop',
  'service.version': '0.4.0',
  'service.instance.id': 'assistant-5f7c9d-demo1',
  'deployment.environment.name': 'demo',
  'k8s.cluster.name': 'demo',
  'k8s.namespace.name': 'shop',
  'k8s.pod.name': 'assistant-5f7c9d-demo1',
  'telemetry.sdk.language': 'nodejs',
};

interface Model {
  readonly provider: string;
  readonly name: string;
  readonly responseName: string;
  /** Output tokens per second */
  readonly speed: number;
}

const models: readonly Model[] = [
  { provider: 'openai', name: 'gpt-4o-mini', responseName: 'gpt-4o-mini-2024-07-18', speed: 90 },
  { provider: 'openai', name: 'gpt-4o-mini', responseName: 'gpt-4o-mini-2024-07-18', speed: 90 },
  { provider: 'anthropic', name: 'claude-sonnet-4-5', responseName: 'claude-sonnet-4-5-20250929', speed: 60 },
  { provider: 'openai', name: 'gpt-4o', responseName: 'gpt-4o-2024-08-06', speed: 55 },
  { provider: 'shop', name: 'shop-assistant-8b', responseName: 'shop-assistant-8b', speed: 40 },
];

interface Topic {
  readonly question: string;
  readonly tool: string;
  readonly toArguments: (order: number) => object;
  readonly result: object;
  readonly answer: string;
}

const topics: readonly Topic[] = [
  {
    question: 'Where is my order?',
    tool: 'find_order',
    toArguments: (order) => ({ order }),
    result: { state: 'shipped', carrier: 'DHL', expected: 'tomorrow' },
    answer: 'Your order was shipped with DHL and should arrive tomorrow.',
  },
  {
    question: 'Do you have rain jackets in size M?',
    tool: 'search_products',
    toArguments: () => ({ query: 'rain jacket', size: 'M' }),
    result: {
      products: [
        { name: 'Storm jacket', price: 89 },
        { name: 'Drizzle jacket', price: 59 },
      ],
    },
    answer: 'Yes: the Storm jacket for 89 EUR and the Drizzle jacket for 59 EUR are available in size M.',
  },
  {
    question: 'I want to return the shoes that I bought last week.',
    tool: 'create_return',
    toArguments: (order) => ({ order, items: ['shoes'] }),
    result: { label: 'RT-2231', refundDays: 5 },
    answer: 'I created the return RT-2231. You receive the refund within five days after the parcel arrives.',
  },
];

const instructions =
  'You are the assistant of a shop for outdoor clothes. Be brief, and use tools for facts about orders.';
const users = ['ann', 'bob', 'chris', 'dana', 'eli'] as const;

const vary = (value: number): number => Math.round(value * (0.7 + Math.random() * 0.6));

interface SpanInput {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: 1 | 2 | 3;
  readonly startMs: number;
  readonly durationMs: number;
  readonly attributes: Attributes;
  readonly hasFailed?: boolean;
}

const textMessage = (role: string, content: string): object => ({ role, parts: [{ type: 'text', content }] });

/** One conversation of a visitor: two calls of a model with a tool call between them. */
class Conversation {
  readonly #outbox: Outbox;
  readonly #traceId = createTraceId();
  readonly #conversationId = `conversation-${createSpanId().slice(0, 8)}`;
  readonly #model = pick(models);
  readonly #topic = pick(topics);
  readonly #user = pick(users);
  readonly #order = 10_000 + Math.floor(Math.random() * 90_000);
  readonly #callId = `call_${createSpanId().slice(0, 10)}`;
  #nowMs: number;

  constructor(outbox: Outbox, startMs: number) {
    this.#outbox = outbox;
    this.#nowMs = startMs;
  }

  run(): void {
    const startMs = this.#nowMs;
    const [serverId, agentId] = [createSpanId(), createSpanId()];
    const isRejected = Math.random() < 0.04;
    const toolCall = {
      role: 'assistant',
      parts: [
        {
          type: 'tool_call',
          id: this.#callId,
          name: this.#topic.tool,
          arguments: this.#topic.toArguments(this.#order),
        },
      ],
    };
    const question = textMessage('user', this.#topic.question);
    this.#callModel(agentId, { input: [question], output: toolCall, outputTokens: vary(35), isRejected });
    if (!isRejected) {
      this.#runTool(agentId);
      const result = {
        role: 'tool',
        parts: [{ type: 'tool_call_response', id: this.#callId, result: this.#topic.result }],
      };
      this.#callModel(agentId, {
        input: [question, toolCall, result],
        output: textMessage('assistant', this.#topic.answer),
        outputTokens: vary(120),
        isRejected: false,
      });
    }
    const durationMs = this.#nowMs - startMs;
    this.#emit({
      traceId: this.#traceId,
      spanId: agentId,
      parentSpanId: serverId,
      name: 'invoke_agent shop-assistant',
      kind: 1,
      startMs,
      durationMs,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'shop-assistant' },
      hasFailed: isRejected,
    });
    this.#emit({
      traceId: this.#traceId,
      spanId: serverId,
      parentSpanId: '',
      name: 'POST /assistant',
      kind: 2,
      startMs: startMs - 3,
      durationMs: durationMs + 6,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/assistant',
        'http.response.status_code': isRejected ? 503 : 200,
      },
      hasFailed: isRejected,
    });
  }

  #callModel(
    parentSpanId: string,
    {
      input,
      output,
      outputTokens,
      isRejected,
    }: {
      readonly input: readonly object[];
      readonly output: object;
      readonly outputTokens: number;
      readonly isRejected: boolean;
    },
  ): void {
    const { provider, name, responseName, speed } = this.#model;
    const firstTokenMs = vary(350);
    const durationMs = isRejected ? 80 : firstTokenMs + Math.round((1_000 * outputTokens) / speed);
    const inputTokens = vary(900);
    const base: Attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': name,
      'gen_ai.request.temperature': 0.2,
      'gen_ai.request.stream': true,
      'gen_ai.conversation.id': this.#conversationId,
      'gen_ai.agent.name': 'shop-assistant',
      'gen_ai.prompt.name': 'shop-assistant',
      'user.id': this.#user,
      'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: instructions }]),
      'gen_ai.input.messages': JSON.stringify(input),
    };
    const response: Attributes = isRejected
      ? { 'error.type': 'rate_limit_exceeded' }
      : {
          'gen_ai.response.id': `resp_${createSpanId()}`,
          'gen_ai.response.model': responseName,
          'gen_ai.response.finish_reasons': JSON.stringify([input.length === 1 ? 'tool_calls' : 'stop']),
          'gen_ai.response.time_to_first_chunk': firstTokenMs / 1_000,
          'gen_ai.usage.input_tokens': inputTokens,
          'gen_ai.usage.cache_read.input_tokens': Math.random() < 0.6 ? Math.floor(inputTokens * 0.7) : 0,
          'gen_ai.usage.output_tokens': outputTokens,
          'gen_ai.output.messages': JSON.stringify([output]),
        };
    this.#emit({
      traceId: this.#traceId,
      spanId: createSpanId(),
      parentSpanId,
      name: `chat ${name}`,
      kind: 3,
      startMs: this.#nowMs,
      durationMs,
      attributes: { ...base, ...response },
      hasFailed: isRejected,
    });
    this.#nowMs += durationMs + 5;
  }

  #runTool(parentSpanId: string): void {
    const durationMs = vary(60);
    this.#emit({
      traceId: this.#traceId,
      spanId: createSpanId(),
      parentSpanId,
      name: `execute_tool ${this.#topic.tool}`,
      kind: 1,
      startMs: this.#nowMs,
      durationMs,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': this.#topic.tool,
        'gen_ai.tool.call.id': this.#callId,
        'gen_ai.tool.call.arguments': JSON.stringify(this.#topic.toArguments(this.#order)),
        'gen_ai.tool.call.result': JSON.stringify(this.#topic.result),
      },
    });
    this.#nowMs += durationMs + 5;
  }

  #emit({ startMs, durationMs, attributes, hasFailed = false, ...span }: SpanInput): void {
    this.#outbox.add(pod, {
      ...span,
      startTimeUnixNano: toNanosecondText(startMs),
      endTimeUnixNano: toNanosecondText(startMs + durationMs),
      attributes: toKeyValues(attributes),
      status: hasFailed ? { code: 2, message: 'the provider rejected the request' } : { code: 0 },
      events: [],
    });
  }
}

/** Longest conversation, so that none ends in the future */
const maxDurationMs = 8_000;

/** Adds a conversation that ends before a time, in epoch milliseconds. */
export const simulateConversation = (traces: Outbox, nowMs: number): void =>
  new Conversation(traces, nowMs - maxDurationMs).run();
