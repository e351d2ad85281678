/** An LLM provider with a ledger: OpenAI's chat completions and responses, and Anthropic's messages. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The usage of a request, in disjoint kinds of tokens. */
export interface LedgerEntry {
  readonly id: string;
  readonly model: string;
  readonly isFailed: boolean;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

const readBody = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
};

const sendJson = (response: ServerResponse, body: object, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const sendStream = (
  response: ServerResponse,
  events: readonly (readonly [name: string, data: object | string])[],
): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [name, data] of events)
    response.write(
      `${name === '' ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
    );
  response.end();
};

/** Returns whether a chat offers tools and does not end with the result of one. */
const wantsTool = ({ tools, messages }: Record<string, unknown>): boolean =>
  Array.isArray(tools) &&
  tools.length > 0 &&
  Array.isArray(messages) &&
  (messages.at(-1) as { role?: string } | undefined)?.role !== 'tool';

interface Reply {
  readonly isStreamed: boolean;
  readonly callsTool: boolean;
}

const sendChat = (
  response: ServerResponse,
  { id, model, ...used }: LedgerEntry,
  { isStreamed, callsTool }: Reply,
): void => {
  const usage = {
    prompt_tokens: used.input + used.cacheRead,
    completion_tokens: used.output + used.reasoning,
    total_tokens: used.input + used.cacheRead + used.output + used.reasoning,
    prompt_tokens_details: { cached_tokens: used.cacheRead },
    completion_tokens_details: { reasoning_tokens: used.reasoning },
  };
  const base = { id, model, created: 1_790_000_000 };
  if (!isStreamed) {
    const call = { id: `call_${id}`, type: 'function', function: { name: 'find_order', arguments: '{"order":7}' } };
    const message = { role: 'assistant', content: 'There.', ...(callsTool && { tool_calls: [call] }) };
    sendJson(response, {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: callsTool ? 'tool_calls' : 'stop' }],
      usage,
    });
    return;
  }
  const chunk = { ...base, object: 'chat.completion.chunk' };
  sendStream(response, [
    ['', { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'The' }, finish_reason: null }] }],
    ['', { ...chunk, choices: [{ index: 0, delta: { content: 're.' }, finish_reason: 'stop' }] }],
    ['', { ...chunk, choices: [], usage }],
    ['', '[DONE]'],
  ]);
};

const sendResponse = (response: ServerResponse, { id, model, ...used }: LedgerEntry, { isStreamed }: Reply): void => {
  const item = {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'There.', annotations: [] }],
  };
  const body = {
    id,
    object: 'response',
    model,
    status: 'completed',
    created_at: 1_790_000_000,
    output: [item],
    usage: {
      input_tokens: used.input + used.cacheRead,
      output_tokens: used.output + used.reasoning,
      total_tokens: used.input + used.cacheRead + used.output + used.reasoning,
      input_tokens_details: { cached_tokens: used.cacheRead },
      output_tokens_details: { reasoning_tokens: used.reasoning },
    },
  };
  if (!isStreamed) {
    sendJson(response, body);
    return;
  }
  const startEvent = { ...body, status: 'in_progress', output: [], usage: null };
  sendStream(response, [
    ['response.created', { type: 'response.created', response: startEvent }],
    [
      'response.output_item.added',
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    ],
    [
      'response.output_text.delta',
      { type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: 'There.' },
    ],
    ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item }],
    ['response.completed', { type: 'response.completed', response: body }],
  ]);
};

const sendMessage = (response: ServerResponse, { id, model, ...used }: LedgerEntry, { isStreamed }: Reply): void => {
  const usage = {
    input_tokens: used.input,
    cache_read_input_tokens: used.cacheRead,
    cache_creation_input_tokens: used.cacheWrite,
    output_tokens: used.output,
  };
  const body = { id, type: 'message', role: 'assistant', model, stop_reason: 'end_turn', stop_sequence: null };
  if (!isStreamed) {
    sendJson(response, { ...body, content: [{ type: 'text', text: 'There.' }], usage });
    return;
  }
  const message = { ...body, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  sendStream(response, [
    ['message_start', { type: 'message_start', message }],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'There.' } }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    [
      'message_delta',
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: used.output },
      },
    ],
    ['message_stop', { type: 'message_stop' }],
  ]);
};

const failEvery = 11;

/** APIs by the end of their path. */
const apis = [
  { path: '/messages', prefix: 'msg', hasCacheWrites: true, send: sendMessage },
  { path: '/responses', prefix: 'resp', hasCacheWrites: false, send: sendResponse },
  { path: '', prefix: 'chatcmpl', hasCacheWrites: false, send: sendChat },
] as const;
type Api = (typeof apis)[number];

/** Returns the usage of a request. Each has different numbers of tokens, and each eleventh fails. */
const createEntry = (number: number, model: string, { prefix, hasCacheWrites }: Api): LedgerEntry => ({
  id: `${prefix}_${number}`,
  model,
  isFailed: number % failEvery === 0,
  input: 100 + number,
  cacheRead: number % 3 === 0 ? 1_000 + number : 0,
  cacheWrite: hasCacheWrites && number % 2 === 0 ? 500 + number : 0,
  output: 20 + (number % 7),
  reasoning: /^(?:o\d|gpt-5)/.test(model) ? 64 + number : 0,
});

/** Starts a provider. */
export const startProvider = async () => {
  const ledger: LedgerEntry[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const api = apis.find(({ path }) => request.url?.endsWith(path) === true) ?? apis[2];
    const entry = createEntry(ledger.length + 1, String(body['model']), api);
    ledger.push(entry);
    if (entry.isFailed) sendJson(response, { error: { type: 'rate_limit_error', message: 'slow down' } }, 429);
    else api.send(response, entry, { isStreamed: body['stream'] === true, callsTool: wantsTool(body) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    takeLedger: (): LedgerEntry[] => ledger.splice(0),
    close: () => server.close(),
  };
};
