/**
 * Calls a provider with one SDK under one or several instrumentations, and writes the spans as JSON to standard output.
 * `provider.ts` copies it to the folder of the packages. Arguments: SDK, instrumentations, URL, calls.
 */
const [sdk, names, url, count] = process.argv.slice(2);
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');
const { SimpleSpanProcessor, InMemorySpanExporter } = require('@opentelemetry/sdk-trace-base');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');

const load = (name, field) => {
  const module = require(name);
  const Instrumentation = module[field] ?? Object.values(module).find((each) => /Instrumentation$/.test(each?.name ?? ''));
  // Tool calls are part of messages.
  const hasContent = sdk.endsWith('-mcp');
  return new Instrumentation({ captureMessageContent: hasContent, traceContent: hasContent });
};
const instrumentations = {
  opentelemetry: () => load('@opentelemetry/instrumentation-openai', 'OpenAIInstrumentation'),
  traceloop: () => load('@traceloop/instrumentation-openai', 'OpenAIInstrumentation'),
  openinference: () => load('@arizeai/openinference-instrumentation-openai', 'OpenAIInstrumentation'),
  'traceloop-anthropic': () => load('@traceloop/instrumentation-anthropic', 'AnthropicInstrumentation'),
  'openinference-anthropic': () => load('@arizeai/openinference-instrumentation-anthropic', 'AnthropicInstrumentation'),
};

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
registerInstrumentations({
  tracerProvider: provider,
  instrumentations: names.split('+').flatMap((name) => (name in instrumentations ? [instrumentations[name]()] : [])),
});

const tool = { type: 'function', function: { name: 'find_order', parameters: { type: 'object', properties: {} } } };
const consume = async (stream) => {
  for await (const _ of stream);
};

let toolCalls = 0;
/** Starts a server of the Model Context Protocol in this process. Returns the transport of its client. */
const startMcpServer = async () => {
  const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');
  const { InMemoryTransport } = require('@modelcontextprotocol/sdk/inMemory.js');
  const { z } = require('zod');
  const server = new McpServer({ name: 'orders', version: '1.0.0' });
  server.registerTool('find_order', { description: 'Finds an order', inputSchema: { order: z.number() } }, ({ order }) => {
    toolCalls += 1;
    return { content: [{ type: 'text', text: `Order ${order} is on its way` }] };
  });
  const [clientTransport, serverTransport] = InMemoryTransport.createLinkedPair();
  await server.connect(serverTransport);
  return clientTransport;
};

const clients = {
  async 'openai-mcp'() {
    const { OpenAI } = require('openai');
    const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
    const mcp = new Client({ name: 'assistant', version: '1.0.0' });
    await mcp.connect(await startMcpServer());
    const { tools } = await mcp.listTools();
    const client = new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, maxRetries: 0 });
    const tracer = provider.getTracer('assistant');
    const options = {
      model: 'gpt-4o-mini',
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: 'function',
        function: { name, description, parameters: inputSchema },
      })),
    };
    const callTool = ({ id, function: { name, arguments: text } }) => {
      const attributes = { 'gen_ai.operation.name': 'execute_tool', 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': name, 'gen_ai.tool.call.id': id };
      return tracer.startActiveSpan(`tools/call ${name}`, { attributes }, async (span) => {
        const { content } = await mcp.callTool({ name, arguments: JSON.parse(text) });
        span.end();
        return { role: 'tool', tool_call_id: id, content: JSON.stringify(content) };
      });
    };
    const converse = async () => {
      const messages = [{ role: 'user', content: 'Where is order 7?' }];
      const first = await client.chat.completions.create({ ...options, messages });
      const { message } = first.choices[0];
      const results = await Promise.all((message.tool_calls ?? []).map(callTool));
      await client.chat.completions.create({ ...options, messages: [...messages, message, ...results] });
    };
    return [
      () =>
        tracer.startActiveSpan('invoke_agent', { attributes: { 'gen_ai.operation.name': 'invoke_agent' } }, (span) =>
          converse().finally(() => span.end()),
        ),
    ];
  },
  async 'ai-mcp'() {
    const { generateText, stepCountIs } = require('ai');
    const { createMCPClient } = require('@ai-sdk/mcp');
    const mcp = await createMCPClient({ transport: await startMcpServer() });
    const tools = await mcp.tools();
    const openai = require('@ai-sdk/openai').createOpenAI({ apiKey: 'key', baseURL: `${url}/v1` });
    const options = { prompt: 'Where is order 7?', tools, maxRetries: 0, stopWhen: stepCountIs(3), experimental_telemetry: { isEnabled: true } };
    return [() => generateText({ ...options, model: openai.chat('gpt-4o-mini') })];
  },
  openai() {
    const { OpenAI } = require('openai');
    const client = new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, maxRetries: 0 });
    const messages = [{ role: 'user', content: 'Where is it?' }];
    return [
      () => client.chat.completions.create({ model: 'gpt-4o-mini', messages, tools: [tool] }),
      async () =>
        consume(
          await client.chat.completions.create({
            model: 'gpt-4o-mini',
            messages,
            stream: true,
            stream_options: { include_usage: true },
          }),
        ),
      () => client.chat.completions.create({ model: 'o4-mini', messages }),
    ];
  },
  'openai-responses'() {
    const { OpenAI } = require('openai');
    const client = new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, maxRetries: 0 });
    return [
      () => client.responses.create({ model: 'gpt-5', input: 'Where is it?' }),
      async () => consume(await client.responses.create({ model: 'gpt-5', input: 'Where is it?', stream: true })),
    ];
  },
  anthropic() {
    const { Anthropic } = require('@anthropic-ai/sdk');
    const client = new Anthropic({ apiKey: 'key', baseURL: url, maxRetries: 0 });
    const body = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'Where is it?' }] };
    return [
      () => client.messages.create(body),
      async () => consume(await client.messages.create({ ...body, stream: true })),
    ];
  },
  langchain() {
    const { ChatOpenAI } = require('@langchain/openai');
    const model = (streaming) =>
      new ChatOpenAI({ model: 'gpt-4o-mini', apiKey: 'key', maxRetries: 0, streaming, configuration: { baseURL: `${url}/v1` } });
    return [() => model(false).invoke('Where is it?'), async () => consume(await model(true).stream('Where is it?'))];
  },
  ai() {
    const { generateText, streamText } = require('ai');
    const openai = require('@ai-sdk/openai').createOpenAI({ apiKey: 'key', baseURL: `${url}/v1` });
    const anthropic = require('@ai-sdk/anthropic').createAnthropic({ apiKey: 'key', baseURL: `${url}/v1` });
    const options = { prompt: 'Where is it?', maxRetries: 0, experimental_telemetry: { isEnabled: true } };
    return [
      () => generateText({ ...options, model: openai.chat('gpt-4o-mini') }),
      () => generateText({ ...options, model: openai.responses('gpt-5') }),
      () => generateText({ ...options, model: anthropic('claude-sonnet-4-5') }),
      async () => consume(streamText({ ...options, onError() {}, model: openai.chat('gpt-4o-mini') }).textStream),
      async () => consume(streamText({ ...options, onError() {}, model: anthropic('claude-sonnet-4-5') }).textStream),
    ];
  },
};

const toAnyValue = (value) => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toAnyValue) } };
  return { stringValue: JSON.stringify(value) };
};
const toNs = ([seconds, nanoseconds]) => String(BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds));

const run = async () => {
  const calls = await clients[sdk]();
  for (let index = 0; index < Number(count); index++) await calls[index % calls.length]().catch(() => undefined);
  await provider.forceFlush();
  const spans = exporter.getFinishedSpans().map((span) => ({
    scope: span.instrumentationScope ?? span.instrumentationLibrary,
    traceId: span.spanContext().traceId,
    spanId: span.spanContext().spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? span.parentSpanId ?? '',
    name: span.name,
    kind: span.kind + 1,
    startTimeUnixNano: toNs(span.startTime),
    endTimeUnixNano: toNs(span.endTime),
    status: { code: span.status.code },
    attributes: Object.entries(span.attributes).map(([key, value]) => ({ key, value: toAnyValue(value) })),
  }));
  process.stdout.write(JSON.stringify({ spans, toolCalls }));
};
run();
