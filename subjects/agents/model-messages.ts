/** Reads requests to models and their responses from captured HTTP: Anthropic, OpenAI and Gemini, streamed or not. */
import { type Fields, isFields, toFields } from '../../runtime/fields.ts';
import {
  type AgentToolCall,
  type AgentToolResult,
  agentLimits,
  type ModelMessage,
} from '../../schemas/agent-events.ts';
import { toTextOrEmpty, truncateText } from '../../schemas/text.ts';

/** Paths of requests to models, of all providers. */
const modelPathPattern =
  /\/(?:v1\/messages|(?:chat\/)?completions|responses|v1\/complete|api\/(?:chat|generate)|invoke(?:-with-response-stream)?|converse(?:-stream)?)\/?(?:[?#]|$)|:(?:stream)?generateContent/i;

export const isModelPath = (path: string): boolean => modelPathPattern.test(path);

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const toJsonText = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const createCall = (id: unknown, name: unknown, input: unknown): AgentToolCall => ({
  callId: truncateText(toTextOrEmpty(id), agentLimits.id),
  name: truncateText(toTextOrEmpty(name), agentLimits.name),
  input: truncateText(toJsonText(input), agentLimits.command),
});

const createResult = (id: unknown, name: unknown, content: unknown): AgentToolResult => ({
  callId: truncateText(toTextOrEmpty(id), agentLimits.id),
  name: truncateText(toTextOrEmpty(name), agentLimits.name),
  text: truncateText(joinContent(content), agentLimits.text),
});

/** Returns the text of content that is a text, a part, or a list of parts. */
const joinContent = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (Array.isArray(content))
    return content
      .map(joinContent)
      .filter((text) => text !== '')
      .join('\n');
  if (!isFields(content)) return toJsonText(content);
  const { text, content: inner, output, result, thinking } = content;
  if (typeof text === 'string') return text;
  if (thinking !== undefined || content['type'] === 'image') return '';
  const nested = inner ?? output ?? result;
  return nested === undefined ? toJsonText(content) : joinContent(nested);
};

/** Parts of the last messages of a request. */
interface LastMessages {
  readonly prompts: string[];
  readonly results: AgentToolResult[];
}

const callNames = (messages: readonly unknown[]): ReadonlyMap<string, string> => {
  const names = new Map<string, string>();
  for (const message of messages.slice(-8)) {
    const { content, tool_calls: calls, type, call_id: id, name } = toFields(message);
    for (const part of toList(content)) {
      const fields = toFields(part);
      if (fields['type'] === 'tool_use') names.set(toTextOrEmpty(fields['id']), toTextOrEmpty(fields['name']));
    }
    for (const call of toList(calls)) {
      const fields = toFields(call);
      names.set(toTextOrEmpty(fields['id']), toTextOrEmpty(toFields(fields['function'])['name']));
    }
    if (/_call$/.test(toTextOrEmpty(type))) names.set(toTextOrEmpty(id), toTextOrEmpty(name));
  }
  return names;
};

const resultTypes = new Set([
  'tool_result',
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
]);

const readLastMessage = (
  message: Fields,
  names: ReadonlyMap<string, string>,
  { prompts, results }: LastMessages,
): void => {
  const role = toTextOrEmpty(message['role']);
  const type = toTextOrEmpty(message['type']);
  if (resultTypes.has(type)) {
    const id = message['call_id'];
    results.push(createResult(id, names.get(toTextOrEmpty(id)), message['output'] ?? message['content']));
    return;
  }
  if (role === 'tool') {
    const id = message['tool_call_id'];
    results.push(createResult(id, message['name'] ?? names.get(toTextOrEmpty(id)), message['content']));
    return;
  }
  const content = message['content'] ?? message['parts'];
  if (typeof content === 'string') {
    prompts.push(content);
    return;
  }
  for (const part of toList(content)) {
    const fields = toFields(part);
    const { functionResponse } = fields;
    if (resultTypes.has(toTextOrEmpty(fields['type']))) {
      const id = fields['tool_use_id'] ?? fields['call_id'];
      results.push(createResult(id, names.get(toTextOrEmpty(id)), fields['content'] ?? fields['output']));
    } else if (isFields(functionResponse))
      results.push(createResult(functionResponse['id'], functionResponse['name'], functionResponse['response']));
    else if (toTextOrEmpty(fields['text']) !== '') prompts.push(toTextOrEmpty(fields['text']));
  }
};

const isAssistant = (message: unknown): boolean => {
  const { role, type } = toFields(message);
  return role === 'assistant' || role === 'model' || /(?:_call|^reasoning)$/.test(toTextOrEmpty(type));
};

/** Texts that agents add to a prompt by themselves. */
const addedTextPattern = /^\s*<(?:system-reminder|environment_context|user_instructions|permissions instructions)/;

const folderMarks = /working directory|<cwd>|working in the directory/i;
const folderPattern = /^:? {0,4}(?:is:? {0,4})?["'`]?(\/[^\s"'`<>]{1,1024}|[A-Za-z]:\\[^\s"'`<>]{1,1024})/;

const maxFolderTexts = 12;
const maxSearchedLength = 65_536;
const maxFolderLength = 1_100;

/** Returns the folder in which the agent says that it works. */
const findWorkFolder = (texts: readonly string[]): string => {
  for (const text of texts.slice(0, maxFolderTexts)) {
    const mark = folderMarks.exec(text.slice(0, maxSearchedLength));
    if (mark === null) continue;
    const start = mark.index + mark[0].length;
    const found = folderPattern.exec(text.slice(start, start + maxFolderLength))?.[1];
    if (found !== undefined) return found.replace(/[.,;]$/, '');
  }
  return '';
};

const sessionPattern = /session_([0-9a-f-]{36})/i;

const readConversationId = (body: Fields, headers: Fields): string => {
  const metadata = toFields(body['metadata']);
  const conversation = body['conversation'];
  const inUserId = sessionPattern.exec(toTextOrEmpty(metadata['user_id']))?.[1];
  const candidates = [
    inUserId,
    body['conversation_id'],
    body['conversationId'],
    body['thread_id'],
    body['threadId'],
    isFields(conversation) ? conversation['id'] : conversation,
    metadata['conversation_id'],
    metadata['session_id'],
    headers['conversation_id'],
    headers['session_id'],
    headers['x-session-id'],
    headers['x-claude-code-session-id'],
    body['prompt_cache_key'],
    body['session_id'],
  ];
  return truncateText(toTextOrEmpty(candidates.find((candidate) => toTextOrEmpty(candidate) !== '')), agentLimits.id);
};

const emptyMessage: ModelMessage = {
  direction: 'request',
  model: '',
  responseId: '',
  conversationId: '',
  prompt: '',
  text: '',
  hasTools: false,
  workFolder: '',
  toolCalls: [],
  toolResults: [],
};

const pathModelPattern = /\/models?\/([^/:?]{1,256})/;

/** Returns the content of a message. */
const getContent = (message: unknown): unknown => {
  const { content, parts } = toFields(message);
  return content ?? parts ?? '';
};

const isInstruction = (message: unknown): boolean =>
  /^(?:system|developer)$/.test(toTextOrEmpty(toFields(message)['role']));

/** Reads the messages after the last one of the model: a prompt, or answers of tools. */
const readLastMessages = (body: Fields, list: readonly unknown[]): LastMessages => {
  const last: LastMessages = { prompts: [], results: [] };
  const names = callNames(list);
  for (const message of list.slice(list.findLastIndex(isAssistant) + 1))
    if (!isInstruction(message)) readLastMessage(toFields(message), names, last);
  const { input, prompt } = body;
  if (typeof input === 'string') last.prompts.push(input);
  if (list.length === 0 && typeof prompt === 'string') last.prompts.push(prompt);
  return last;
};

const readModel = (bodies: readonly Fields[], path: string): string => {
  const inBody = bodies.map(({ model }) => toTextOrEmpty(model)).find((model) => model !== '');
  return truncateText(inBody ?? pathModelPattern.exec(path)?.[1] ?? '', agentLimits.name);
};

/** Reads the body of a request to a model. */
export const readModelRequest = (
  body: unknown,
  { path, headers }: { readonly path: string; readonly headers: Fields },
): ModelMessage => {
  const outer = toFields(body);
  // Gemini CLI wraps the request.
  const fields = isFields(outer['request']) && outer['contents'] === undefined ? outer['request'] : outer;
  const { messages, input, contents, system, instructions, systemInstruction } = fields;
  const list = toList(messages ?? input ?? contents);
  const { prompts, results } = readLastMessages(fields, list);
  const systemText = joinContent(system ?? instructions ?? systemInstruction ?? '');
  const ownPrompts = prompts.filter((text) => !addedTextPattern.test(text));
  return {
    ...emptyMessage,
    model: readModel([outer, fields], path),
    conversationId: readConversationId(fields, headers) || readConversationId(outer, headers),
    // Answers of tools go on with the prompt before.
    prompt: results.length > 0 ? '' : truncateText(ownPrompts.join('\n').trim(), agentLimits.text),
    hasTools: toList(fields['tools']).length > 0,
    workFolder: findWorkFolder([systemText, ...list.slice(0, 3).map((message) => joinContent(getContent(message)))]),
    toolResults: results.slice(0, agentLimits.calls),
  };
};

/** A tool call that streams in several parts. */
interface StreamedCall {
  id: string;
  name: string;
  input: string;
}

/** Adds up a response from its JSON, or from the events of its stream. */
class ResponseReader {
  model = '';
  responseId = '';
  #text = '';
  readonly #calls = new Map<string, StreamedCall>();
  isModelResponse = false;

  #addText(text: string): void {
    if (this.#text.length < agentLimits.text) this.#text += text;
  }

  #getCall(key: string): StreamedCall {
    const existing = this.#calls.get(key);
    if (existing !== undefined) return existing;
    const created = { id: '', name: '', input: '' };
    if (this.#calls.size < agentLimits.calls) this.#calls.set(key, created);
    return created;
  }

  #addCall(id: unknown, name: unknown, input: unknown, key = toTextOrEmpty(id) || `call ${this.#calls.size}`): void {
    const call = this.#getCall(key);
    call.id = toTextOrEmpty(id) || call.id;
    call.name = toTextOrEmpty(name) || call.name;
    const text = toJsonText(input);
    if (text !== '' && text !== '{}') call.input = text;
  }

  #appendInput(key: string, part: unknown): void {
    const call = this.#getCall(key);
    if (call.input.length < agentLimits.command) call.input += toTextOrEmpty(part);
  }

  #identify(fields: Fields): void {
    this.isModelResponse = true;
    this.responseId ||= toTextOrEmpty(fields['id'] ?? fields['responseId'] ?? fields['response_id']);
    this.model ||= toTextOrEmpty(fields['model'] ?? fields['modelVersion']);
  }

  /** Reads a complete response, or a chunk of a stream in the same form. */
  addBody(body: Fields): void {
    const { type, content, choices, output, candidates, message, response } = body;
    if (type === 'message' && Array.isArray(content)) this.#addParts(body, content);
    else if (Array.isArray(choices)) this.#addChoices(body, choices);
    else if (Array.isArray(output) && (body['object'] === 'response' || body['model'] !== undefined))
      this.#addOutput(body, output);
    else if (Array.isArray(candidates)) this.#addCandidates(body, candidates);
    else if (isFields(message) && body['model'] !== undefined) this.#addChoices(body, [{ message }]);
    else if (isFields(response)) this.addBody(response);
  }

  #addParts(body: Fields, parts: readonly unknown[]): void {
    this.#identify(body);
    for (const [index, part] of parts.entries()) this.#addPart(toFields(part), `part ${index}`);
  }

  #addChoices(body: Fields, choices: readonly unknown[]): void {
    this.#identify(body);
    for (const choice of choices) {
      const { message, delta } = toFields(choice);
      this.#addChoice(toFields(message ?? delta ?? choice));
    }
  }

  #addOutput(body: Fields, items: readonly unknown[]): void {
    this.#identify(body);
    for (const item of items) this.#addItem(toFields(item));
  }

  #addCandidates(body: Fields, candidates: readonly unknown[]): void {
    this.#identify(body);
    for (const candidate of candidates)
      for (const part of toList(toFields(toFields(candidate)['content'])['parts'])) this.#addPart(toFields(part), '');
  }

  #addPart(part: Fields, key: string): void {
    const { type, text, functionCall } = part;
    if (type === 'tool_use') this.#addCall(part['id'], part['name'], part['input'], key === '' ? undefined : key);
    else if (isFields(functionCall)) this.#addCall(functionCall['id'], functionCall['name'], functionCall['args']);
    else if (typeof text === 'string' && part['thought'] !== true) this.#addText(text);
  }

  #addChoice(message: Fields): void {
    if (typeof message['content'] === 'string') this.#addText(message['content']);
    else this.#addText(joinContent(message['content'] ?? ''));
    toList(message['tool_calls']).forEach((call, position) => {
      const { id, index, function: details } = toFields(call);
      const { name, arguments: input } = toFields(details);
      const key = `call ${toJsonText(index ?? position)}`;
      const known = this.#getCall(key);
      known.id = toTextOrEmpty(id) || known.id;
      known.name = toTextOrEmpty(name) || known.name;
      if (typeof input === 'string') this.#appendInput(key, input);
      else if (input !== undefined) known.input = toJsonText(input);
    });
  }

  /** Reads an item of OpenAI's responses. */
  #addItem(item: Fields): void {
    const { type, id, call_id: callId, name } = item;
    const key = toTextOrEmpty(id) || toTextOrEmpty(callId);
    if (type === 'function_call') this.#addCall(callId ?? id, name, item['arguments'], key);
    else if (type === 'custom_tool_call') this.#addCall(callId ?? id, name, item['input'], key);
    else if (type === 'local_shell_call') this.#addCall(callId ?? id, 'local_shell', item['action'], key);
    else if (type === 'message') this.#addText(joinContent(item['content'] ?? ''));
  }

  /** Readers of the events of a stream, by their type. */
  readonly #streamed: Readonly<Record<string, (event: Fields) => void>> = {
    message_start: ({ message }) => this.#identify(toFields(message)),
    content_block_start: ({ index, content_block: block }) =>
      this.#addPart(toFields(block), `part ${toJsonText(index)}`),
    content_block_delta: ({ index, delta }) => {
      const { text, partial_json: json } = toFields(delta);
      if (typeof text === 'string') this.#addText(text);
      if (typeof json === 'string') this.#appendInput(`part ${toJsonText(index)}`, json);
    },
    'response.created': ({ response }) => this.#identify(toFields(response)),
    'response.in_progress': ({ response }) => this.#identify(toFields(response)),
    'response.completed': ({ response }) => this.#identify(toFields(response)),
    'response.failed': ({ response }) => this.#identify(toFields(response)),
    'response.incomplete': ({ response }) => this.#identify(toFields(response)),
    // The last event of an item has the complete arguments and text.
    'response.output_item.done': ({ item }) => this.#addItem(toFields(item)),
  };

  /** Reads an event of a stream. */
  addStreamed(event: Fields): void {
    const read = this.#streamed[toTextOrEmpty(event['type'])];
    if (read !== undefined) {
      this.isModelResponse = true;
      read(event);
    } else if (event['type'] === undefined) this.addBody(event);
  }

  finish(): ModelMessage | undefined {
    if (!this.isModelResponse) return undefined;
    return {
      ...emptyMessage,
      direction: 'response',
      model: truncateText(this.model, agentLimits.name),
      responseId: truncateText(this.responseId, agentLimits.id),
      text: truncateText(this.#text, agentLimits.text),
      toolCalls: [...this.#calls.values()].map(({ id, name, input }) => createCall(id, name, input)),
    };
  }
}

const maxStreamedEvents = 20_000;

const parseFields = (text: string): Fields | undefined => {
  try {
    const value = JSON.parse(text) as unknown;
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Returns the events of a stream in a text, one for each line of data. */
const parseStream = (text: string): Fields[] => {
  const events: Fields[] = [];
  for (const line of text.split('\n', maxStreamedEvents)) {
    if (!line.startsWith('data:')) continue;
    const event = parseFields(line.slice(5).trim());
    if (event !== undefined) events.push(event);
  }
  return events;
};

const toStreamed = (events: unknown): Fields[] =>
  toList(events).flatMap((event) => {
    const { parsed_data: parsed, data } = toFields(event);
    if (isFields(parsed)) return [parsed];
    const parsedData = typeof data === 'string' ? parseFields(data) : undefined;
    return parsedData === undefined ? [] : [parsedData];
  });

/** Returns the response in an event of AgentSight; `undefined` if it is not that of a model. */
export const readModelResponse = (data: Fields): ModelMessage | undefined => {
  const reader = new ResponseReader();
  const body = isFields(data['json_body']) ? data['json_body'] : undefined;
  const text = toTextOrEmpty(data['body']);
  const streamed = [
    ...toStreamed(data['sse_events']),
    ...toList(data['sse_raw_chunks']).flatMap((chunk) => toStreamed(toFields(chunk)['sse_events'])),
  ];
  if (body !== undefined) reader.addBody(body);
  else if (streamed.length > 0) for (const event of streamed.slice(0, maxStreamedEvents)) reader.addStreamed(event);
  else if (/^\s*\{/.test(text)) reader.addBody(parseFields(text) ?? {});
  else if (text.includes('data:')) for (const event of parseStream(text)) reader.addStreamed(event);
  const message = reader.finish();
  const messageId = toTextOrEmpty(data['message_id']);
  if (message === undefined || message.responseId !== '' || messageId === '') return message;
  return { ...message, responseId: truncateText(messageId, agentLimits.id) };
};
