/** Messages of a call, as the conventions record them in attributes, span events and log records. */
import { z } from 'zod';
import { isFields } from '../../runtime/fields.ts';

const partTypes = ['text', 'reasoning', 'tool_call', 'tool_result', 'file', 'other'] as const;

export const MessagePart = z.strictObject({
  type: z.enum(partTypes),
  text: z.string().describe('Text, arguments of a tool call, or result of a tool'),
  name: z.string().nullable().describe('Name of the tool, or type of the content'),
  callId: z.string().nullable(),
  isTruncated: z.boolean(),
});
export type MessagePart = z.output<typeof MessagePart>;

export const Message = z.strictObject({
  role: z.string().describe('system, user, assistant or tool'),
  direction: z.enum(['input', 'output']),
  parts: z.array(MessagePart),
});
export type Message = z.output<typeof Message>;

/** Attributes of a span, and its events or log records. */
export interface RecordedContent {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly body?: unknown;
  }[];
}

type Direction = Message['direction'];

const maxTextLength = 100_000;
const maxMessages = 1_000;
const maxParts = 200;

/** Returns a text unchanged, and any other value as JSON; an empty text for none. */
export const toText = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Parses JSON text; other values are returned unchanged. */
const parseContent = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
};

const createPart = (
  type: MessagePart['type'],
  value: unknown,
  names: Partial<Pick<MessagePart, 'name' | 'callId'>> = {},
): MessagePart => {
  const text = toText(value);
  return {
    type,
    text: text.length <= maxTextLength ? text : text.slice(0, maxTextLength).toWellFormed(),
    name: names.name ?? null,
    callId: names.callId ?? null,
    // JSON that ends before its end was truncated by the sender.
    isTruncated: text.length > maxTextLength || /\[truncated\]|…$|\.\.\.$/.test(text.slice(-16)),
  };
};

const toTextOrNull = (value: unknown): string | null =>
  value === undefined || value === null || value === '' ? null : toText(value);

const first = (object: Readonly<Record<string, unknown>>, names: readonly string[]): unknown => {
  for (const name of names) if (object[name] !== undefined && object[name] !== null) return object[name];
  return undefined;
};

/** Part types by the name that each convention uses. */
const partTypeNames: Readonly<Record<string, MessagePart['type']>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  refusal: 'text',
  reasoning: 'reasoning',
  thinking: 'reasoning',
  redacted_thinking: 'reasoning',
  tool_call: 'tool_call',
  'tool-call': 'tool_call',
  tool_use: 'tool_call',
  function_call: 'tool_call',
  function: 'tool_call',
  tool_call_response: 'tool_result',
  'tool-result': 'tool_result',
  tool_result: 'tool_result',
  function_call_output: 'tool_result',
  image: 'file',
  image_url: 'file',
  input_image: 'file',
  file: 'file',
  blob: 'file',
  uri: 'file',
  audio: 'file',
  input_audio: 'file',
};

const toToolCall = (call: Readonly<Record<string, unknown>>): MessagePart => {
  const details = isFields(call['function']) ? call['function'] : call;
  return createPart('tool_call', first(details, ['arguments', 'input', 'args', 'parameters']), {
    name: toTextOrNull(first(details, ['name', 'toolName', 'tool_name'])),
    callId: toTextOrNull(first(call, ['id', 'toolCallId', 'call_id', 'tool_call_id'])),
  });
};

const toPart = (value: unknown): MessagePart => {
  if (!isFields(value)) return createPart('text', value);
  const typeName = toText(value['type']);
  const type =
    partTypeNames[typeName] ?? (value['text'] === undefined && value['content'] === undefined ? 'other' : 'text');
  if (type === 'tool_call') return toToolCall(value);
  const name =
    type === 'tool_result'
      ? first(value, ['name', 'toolName'])
      : type === 'file' || type === 'other'
        ? typeName
        : undefined;
  const content =
    type === 'file'
      ? (first(value, ['uri', 'file_id', 'image_url', 'mime_type', 'mediaType']) ?? '')
      : (first(value, ['text', 'content', 'thinking', 'response', 'result', 'output', 'refusal', 'summary']) ?? value);
  return createPart(type, content, {
    name: toTextOrNull(name),
    callId: toTextOrNull(first(value, ['id', 'toolCallId', 'tool_use_id', 'call_id'])),
  });
};

const toParts = (content: unknown): MessagePart[] => {
  const parsed = parseContent(content);
  if (parsed === undefined || parsed === null || parsed === '') return [];
  return Array.isArray(parsed)
    ? parsed.slice(0, maxParts).map(toPart)
    : [toPart(isFields(parsed) && parsed['type'] === undefined ? toText(parsed) : parsed)];
};

const toMessage = (
  value: unknown,
  direction: Direction,
  role = direction === 'input' ? 'user' : 'assistant',
): Message => {
  if (!isFields(value)) return { role, direction, parts: toParts(value) };
  const inner = isFields(value['message']) ? value['message'] : value;
  const calls = parseContent(first(inner, ['tool_calls', 'toolCalls']));
  const messageRole = toText(inner['role'] ?? value['role']) || role;
  const callId = toTextOrNull(first(inner, ['tool_call_id', 'id']));
  const contentParts = toParts(first(inner, ['parts', 'content', 'text', 'contents']));
  return {
    role: messageRole,
    direction,
    parts: [
      ...(messageRole === 'tool'
        ? contentParts.map((part): MessagePart => ({ ...part, type: 'tool_result', callId: part.callId ?? callId }))
        : contentParts),
      ...(Array.isArray(calls) ? calls.slice(0, maxParts).filter(isFields).map(toToolCall) : []),
    ],
  };
};

const toMessages = (content: unknown, direction: Direction, role?: string): Message[] => {
  const parsed = parseContent(content);
  if (parsed === undefined || parsed === null || parsed === '') return [];
  if (isFields(parsed) && Array.isArray(parsed['messages'])) return toMessages(parsed['messages'], direction, role);
  if (!Array.isArray(parsed)) return [toMessage(parsed, direction, role)];
  // A list of parts instead of messages.
  if (parsed.every((item) => isFields(item) && item['role'] === undefined && item['message'] === undefined))
    return [{ role: role ?? (direction === 'input' ? 'user' : 'assistant'), direction, parts: toParts(parsed) }];
  return parsed.slice(0, maxMessages).map((item) => toMessage(item, direction, role));
};

/** Collects attributes such as `gen_ai.prompt.0.tool_calls.1.name` into lists of objects. */
const collectIndexed = (attributes: RecordedContent['attributes'], prefix: string): unknown[] => {
  const list: unknown[] = [];
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith(prefix)) continue;
    const path = name.slice(prefix.length).split('.');
    if (!/^\d{1,4}$/.test(path[0] ?? '')) continue;
    setPath(list, path, value);
  }
  return list.filter((item) => item !== undefined);
};

const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype']);

const setPath = (root: unknown[], path: readonly string[], value: unknown): void => {
  if (path.some((name) => forbiddenNames.has(name))) return;
  let target = root as unknown as Record<string, unknown>;
  for (const [index, name] of path.slice(0, -1).entries()) {
    const next = target[name];
    if (typeof next !== 'object' || next === null) target[name] = /^\d{1,4}$/.test(path[index + 1] ?? '') ? [] : {};
    target = target[name] as Record<string, unknown>;
  }
  target[path.at(-1) as string] = value;
};

/** OpenInference nests `message`, `message_content` and `tool_call` in each item. */
const unwrapOpenInference = (item: unknown): unknown => {
  if (!isFields(item) || !isFields(item['message'])) return item;
  const { message } = item;
  const contents = Array.isArray(message['contents']) ? message['contents'] : undefined;
  const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'] : undefined;
  const unwrap = (wrapped: unknown, name: string): unknown =>
    isFields(wrapped) ? (wrapped[name] ?? wrapped) : wrapped;
  return {
    ...message,
    ...(contents !== undefined && { content: contents.map((content) => unwrap(content, 'message_content')) }),
    ...(calls !== undefined && { tool_calls: calls.map((call) => unwrap(call, 'tool_call')) }),
  };
};

type Reader = (content: RecordedContent) => Message[];

const readFromEvents: Reader = ({ events }) =>
  events.flatMap(({ name, attributes, body }): Message[] => {
    if (name === 'gen_ai.content.prompt') return toMessages(attributes['gen_ai.prompt'], 'input');
    if (name === 'gen_ai.content.completion') return toMessages(attributes['gen_ai.completion'], 'output');
    const role = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(name)?.[1];
    const content = isFields(body) ? { ...attributes, ...body } : attributes;
    if (role !== undefined) return [toMessage({ role, ...content }, 'input')];
    return name === 'gen_ai.choice' ? [toMessage(content, 'output')] : [];
  });

const readStructured = (attributes: RecordedContent['attributes']): Message[] => [
  ...toMessages(attributes['gen_ai.system_instructions'], 'input', 'system'),
  ...toMessages(attributes['gen_ai.input.messages'], 'input'),
  ...toMessages(attributes['gen_ai.output.messages'], 'output'),
];

/** Readers of each convention; the first with messages counts. */
const readers: readonly Reader[] = [
  ({ attributes }) => readStructured(attributes),
  ({ events }) =>
    events
      .filter(({ name }) => name === 'gen_ai.client.inference.operation.details')
      .flatMap(({ attributes, body }) => readStructured(isFields(body) ? { ...body, ...attributes } : attributes)),
  readFromEvents,
  ({ attributes }) => [
    ...collectIndexed(attributes, 'gen_ai.prompt.').map((item) => toMessage(item, 'input')),
    ...collectIndexed(attributes, 'gen_ai.completion.').map((item) => toMessage(item, 'output')),
  ],
  ({ attributes }) => [
    ...collectIndexed(attributes, 'llm.input_messages.').map((item) => toMessage(unwrapOpenInference(item), 'input')),
    ...collectIndexed(attributes, 'llm.output_messages.').map((item) => toMessage(unwrapOpenInference(item), 'output')),
  ],
  ({ attributes }) => {
    const output = [
      ...toParts(attributes['ai.response.reasoning']).map((part): MessagePart => ({ ...part, type: 'reasoning' })),
      ...toParts(attributes['ai.response.text'] ?? attributes['ai.response.object']),
      ...toParts(attributes['ai.response.toolCalls']).map((part): MessagePart => ({ ...part, type: 'tool_call' })),
    ];
    return [
      ...toMessages(attributes['ai.prompt.messages'] ?? attributes['ai.prompt'], 'input'),
      ...(output.length === 0 ? [] : [{ role: 'assistant', direction: 'output' as const, parts: output }]),
    ];
  },
  ({ attributes }) => [
    ...toMessages(attributes['langfuse.observation.input'] ?? attributes['input.value'], 'input'),
    ...toMessages(attributes['langfuse.observation.output'] ?? attributes['output.value'], 'output'),
  ],
];

/** Returns the messages of a call in order, input first. Broken JSON is shown as text. */
export const readMessages = (content: RecordedContent): Message[] => {
  for (const read of readers) {
    const messages = read(content).filter(({ parts }) => parts.length > 0);
    if (messages.length > 0) return messages.slice(0, maxMessages);
  }
  return [];
};
