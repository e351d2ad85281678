/** One call with its messages, tools, parameters, evaluations and conversation. */
import { z } from 'zod';
import { canRead } from '../../queries/entitlement.ts';
import { restrictToRetention } from '../../queries/range.ts';
import { buildCallsSource, llmSpansSource, requestedSpans } from '../../queries/signals/llm-calls-source.ts';
import type { LogRecord } from '../../queries/signals/log-record.ts';
import type { Span } from '../../queries/signals/span-record.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { readTraceLogs } from '../../queries/traces/logs.ts';
import { listSpans } from '../../queries/traces/spans.ts';
import { type LlmCallRow, LlmCallView, llmCallSelection, toLlmCallView } from './calls.ts';
import { tokenNames, usageDetailsName } from './conventions.ts';
import { Message, type RecordedContent, readMessages, toText } from './messages.ts';

const SpanReference = z.strictObject({
  traceId: z.string(),
  spanId: z.string(),
  name: z.string(),
  service: z.string(),
  durationMs: z.number(),
  status: z.string(),
});

const ToolCall = z.strictObject({
  callId: z.string().nullable(),
  name: z.string(),
  arguments: z.string(),
  result: z.string().nullable(),
  span: SpanReference.nullable().describe('Span that ran the tool; `null` if none was found'),
});

export const LlmRequest = z.strictObject({
  ...LlmCallView.shape,
  interpretation: z
    .strictObject({
      isInputWithoutCache: z.boolean(),
      isOutputWithoutReasoning: z.boolean(),
      inputReason: z.string(),
      outputReason: z.string(),
    })
    .nullable()
    .describe('How the numbers of tokens were read'),
  sentTokens: z.record(z.string(), z.unknown()).describe('Numbers of tokens as the sender reported them, by attribute'),
  messages: z.array(Message),
  messagesProblem: z.string().nullable().describe('Why there are no messages, or not all of them'),
  toolCalls: z.array(ToolCall),
  documents: z.array(z.unknown()).describe('Retrieved documents'),
  parameters: z.record(z.string(), z.unknown()),
  evaluations: z.array(
    z.strictObject({
      name: z.string(),
      score: z.number().nullable(),
      label: z.string().nullable(),
      explanation: z.string().nullable(),
    }),
  ),
  conversation: z.array(LlmCallView).describe('Other requests of the conversation, at most 100 around this one'),
  duplicates: z
    .array(z.strictObject({ traceId: z.string(), spanId: z.string(), scope: z.string(), reason: z.string() }))
    .describe('Other spans that report this request, which do not count'),
  logs: z.array(
    z.strictObject({ id: z.string(), time: z.string(), severity: z.string().nullable(), body: z.unknown() }),
  ),
});
export type LlmRequest = z.output<typeof LlmRequest>;

const hourNs = 3_600_000_000_000n;
const maxSpans = 1_000;
const maxLogs = 200;
const conversationLimit = 100;

export interface RequestId {
  readonly timeNs: bigint;
  readonly traceId: string;
  readonly spanId: string;
}

/** Parses the ID of a request; undefined if it is not one. */
export const parseRequestId = (id: string): RequestId | undefined => {
  const [, time, traceId = '', spanId = ''] = /^(\d{1,19})-([0-9a-f]{32})-([0-9a-f]{16})$/.exec(id) ?? [];
  return time === undefined ? undefined : { timeNs: BigInt(time), traceId, spanId };
};

const toSpanReference = (span: Span): z.output<typeof SpanReference> => ({
  traceId: span.traceId,
  spanId: span.spanId,
  name: span.name,
  service: span.service,
  durationMs: Number(span.durationNs) / 1e6,
  status: span.status,
});

/** Names of tools, their call and its arguments and result in spans. */
const toolNames = ['gen_ai.tool.name', 'ai.toolCall.name', 'tool.name', 'mcp.tool.name', 'traceloop.entity.name'];
const toolCallIds = ['gen_ai.tool.call.id', 'ai.toolCall.id', 'tool.id', 'tool_call.id'];
const toolArguments = [
  'gen_ai.tool.call.arguments',
  'ai.toolCall.args',
  'tool.parameters',
  'input.value',
  'traceloop.entity.input',
];
const toolResults = ['gen_ai.tool.call.result', 'ai.toolCall.result', 'output.value', 'traceloop.entity.output'];

const readFirst = ({ attributes }: Pick<Span, 'attributes'>, names: readonly string[]): string => {
  for (const name of names) {
    const text = toText(attributes[name]);
    if (text !== '') return text;
  }
  return '';
};

const isToolSpan = ({ attributes }: Span): boolean =>
  attributes['gen_ai.operation.name'] === 'execute_tool' ||
  attributes['ai.operationId'] === 'ai.toolCall' ||
  attributes['openinference.span.kind'] === 'TOOL' ||
  attributes['traceloop.span.kind'] === 'tool' ||
  attributes['langfuse.observation.type'] === 'tool' ||
  attributes['mcp.method.name'] === 'tools/call';

/** Finds the spans that ran the tools which a response called: by call ID, or else the first one with the name. */
const readToolCalls = (
  messages: readonly Message[],
  spans: readonly Span[],
  startTime: string,
): LlmRequest['toolCalls'] => {
  const toolSpans = spans.filter(isToolSpan).filter((span) => span.startTime >= startTime);
  const used = new Set<Span>();
  return messages
    .filter(({ direction }) => direction === 'output')
    .flatMap(({ parts }) => parts)
    .filter(({ type }) => type === 'tool_call')
    .map(({ callId, name, text }) => {
      const span =
        toolSpans.find((candidate) => callId !== null && readFirst(candidate, toolCallIds) === callId) ??
        toolSpans.find(
          (candidate) =>
            !used.has(candidate) &&
            readFirst(candidate, toolCallIds) === '' &&
            readFirst(candidate, toolNames) === name,
        );
      if (span !== undefined) used.add(span);
      const result = span === undefined ? '' : readFirst(span, toolResults);
      return {
        callId,
        name: name ?? '',
        arguments: text || (span === undefined ? '' : readFirst(span, toolArguments)),
        result: result === '' ? null : result,
        span: span === undefined ? null : toSpanReference(span),
      };
    });
};

const parameterNames =
  /^(?:gen_ai\.request\.|gen_ai\.output\.type$|openai\.request\.|llm\.invocation_parameters$|ai\.settings\.|langfuse\.observation\.model\.parameters$)/;

const readParameters = (span: Span | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(span?.attributes ?? {}).filter(
      ([name]) => parameterNames.test(name) && name !== 'gen_ai.request.model',
    ),
  );

const readSentTokens = (span: Span | undefined): Record<string, unknown> => {
  const names = new Set<string>([...Object.values(tokenNames).flat(), usageDetailsName]);
  return Object.fromEntries(Object.entries(span?.attributes ?? {}).filter(([name]) => names.has(name)));
};

const parseDocuments = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string' || value === '') return [];
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? parsed : [parsed];
  } catch {
    return [value];
  }
};

const readDocuments = (spans: readonly Span[], time: string): unknown[] =>
  spans
    .filter(({ startTime }) => startTime <= time)
    .flatMap(({ attributes }) =>
      parseDocuments(attributes['gen_ai.retrieval.documents'] ?? attributes['retrieval.documents']),
    )
    .slice(0, 100);

interface Event {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

const readEvaluations = (events: readonly Event[]): LlmRequest['evaluations'] =>
  events
    .filter(({ name }) => name === 'gen_ai.evaluation.result')
    .map(({ attributes }) => {
      const score = Number(attributes['gen_ai.evaluation.score.value'] ?? Number.NaN);
      const readText = (name: string): string | null => toText(attributes[name]) || null;
      return {
        name: toText(attributes['gen_ai.evaluation.name']),
        score: Number.isFinite(score) ? score : null,
        label: readText('gen_ai.evaluation.score.label'),
        explanation: readText('gen_ai.evaluation.explanation'),
      };
    });

interface CallRow extends LlmCallRow {
  readonly interpretation: string;
}

const readCallRow = async (
  { columns }: TenantReader,
  id: RequestId,
  project: string | undefined,
): Promise<CallRow | undefined> => {
  const rows = await columns.query<CallRow>(
    `SELECT ${llmCallSelection}, interpretation FROM ${llmSpansSource}
    WHERE trace_id = {trace:String} AND span_id = {span:String} AND kind = 'call'${project === undefined ? '' : ' AND project_id = {project:String}'} LIMIT 1`,
    {
      from: String(id.timeNs),
      to: String(id.timeNs),
      trace: id.traceId,
      span: id.spanId,
      ...(project !== undefined && { project }),
    },
  );
  return rows[0];
};

/** A call may have several rows, and spans that do not count. */
const maxConversationRows = 3 * conversationLimit;

const readConversation = async (
  { columns }: TenantReader,
  call: LlmCallView,
  { timeNs }: RequestId,
): Promise<LlmCallView[]> => {
  if (call.conversationId === null) return [];
  const dayNs = 24n * hourNs;
  const parameters = {
    from: String(timeNs - dayNs),
    to: String(timeNs + dayNs),
    at: String(timeNs),
    conversation: call.conversationId,
    project: call.projectId,
    span: call.spanId,
  };
  const distance = 'abs(toUnixTimestamp64Nano(timestamp) - {at:Int64})';
  // Merging the rows of two days takes long, so only times of the conversation are merged.
  const [found] = await columns.query<{ times: string[] }>(
    `SELECT groupUniqArray(toString(toUnixTimestamp64Nano(timestamp))) AS times FROM (
      SELECT timestamp FROM llm_calls
      WHERE tenant_id = {tenant:String} AND ${requestedSpans.range} AND conversation_id = {conversation:String}
      ORDER BY ${distance} LIMIT ${maxConversationRows})`,
    parameters,
  );
  const times = (found?.times ?? []).map(BigInt).sort((left, right) => Number(left - right));
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return [];
  const isInConversation = `llm_calls.timestamp IN (${times.map((time) => `fromUnixTimestamp64Nano(toInt64(${time}), 'UTC')`).join(', ')})`;
  const source = buildCallsSource({ ...requestedSpans, range: `${requestedSpans.range} AND ${isInConversation}` });
  const rows = await columns.query<LlmCallRow>(
    `SELECT ${llmCallSelection} FROM ${source}
    WHERE conversation_id = {conversation:String} AND project_id = {project:String} AND span_id != {span:String}
    ORDER BY ${distance} LIMIT ${conversationLimit}`,
    { ...parameters, from: String(first), to: String(last) },
  );
  return rows.map(toLlmCallView).sort((left, right) => (left.time < right.time ? -1 : 1));
};

const readDuplicates = async (
  { columns }: TenantReader,
  call: LlmCallView,
  { timeNs }: RequestId,
): Promise<LlmRequest['duplicates']> => {
  const rows = await columns.query<{ trace: string; span: string; scope: string; nested: number }>(
    `SELECT trace_id AS trace, span_id AS span, scope_name AS scope, toUInt8(is_nested) AS nested FROM ${llmSpansSource}
    WHERE kind = 'call' AND not_counted = 1 AND span_id != {span:String}
      AND ((response_id != '' AND response_id = {response:String}) OR (trace_id = {trace:String} AND is_nested = 1 AND (model = {model:String} OR request_model = {request:String})))
    ORDER BY timestamp LIMIT 20`,
    {
      from: String(timeNs - hourNs),
      to: String(timeNs + hourNs),
      trace: call.traceId,
      span: call.spanId,
      response: call.responseId ?? '',
      model: call.model,
      request: call.requestModel ?? call.model,
    },
  );
  return rows.map(({ trace, span, scope, nested }) => ({
    traceId: trace,
    spanId: span,
    scope,
    reason: nested === 1 ? 'nested call of the same model' : 'same response ID',
  }));
};

const toEvent = ({ eventName, attributes, body }: LogRecord): Event => ({
  name: eventName ?? toText(attributes['event.name']),
  attributes,
  body,
});

const isMessageEvent = ({ name }: Event): boolean => name.startsWith('gen_ai.');

const describeMissingMessages = (span: Span | undefined, messages: readonly Message[]): string | null => {
  if (span === undefined) return 'the span of the request is not stored, so its messages are unknown';
  if (messages.length === 0)
    return 'the sender recorded no messages: most instrumentations record them only if their setting for content is on';
  if (span.dropped.attributes > 0 || span.dropped.events > 0)
    return `the sender dropped ${span.dropped.attributes} attributes and ${span.dropped.events} events of the span`;
  return messages.some(({ parts }) => parts.some(({ isTruncated }) => isTruncated))
    ? 'some contents are truncated'
    : null;
};

/** Reads a call; undefined if there is none with that ID. */
export const readLlmRequest = async (
  reader: TenantReader,
  id: RequestId,
  scope: { readonly projectId?: string | undefined; readonly scope?: 'account' | undefined },
): Promise<LlmRequest | undefined> => {
  const projectId = scope.scope === 'account' ? undefined : scope.projectId;
  const row = await readCallRow(reader, id, projectId);
  if (row === undefined) return undefined;
  const call = toLlmCallView(row);
  const hasLogs = canRead(reader, 'logs');
  const { range } = restrictToRetention({ from: id.timeNs - hourNs, to: id.timeNs + hourNs }, ['traces'], {
    caller: reader,
    nowMs: reader.nowMs,
  });
  const [{ items: spans }, logs, conversation, duplicates] = await Promise.all([
    listSpans(
      {
        from: formatTime(range.from),
        to: formatTime(range.to),
        search: `traceId:${id.traceId}`,
        limit: maxSpans,
        order: 'oldest',
      },
      reader,
    ),
    hasLogs
      ? readTraceLogs(reader, id.traceId, { scope: { scope: 'account' }, spanId: id.spanId, limit: maxLogs })
      : undefined,
    readConversation(reader, call, id),
    readDuplicates(reader, call, id),
  ]);
  const span = spans.find(({ spanId }) => spanId === id.spanId);
  const logItems = (logs?.items ?? []).toReversed();
  const logEvents = logItems.map(toEvent);
  const content: RecordedContent = {
    attributes: span?.attributes ?? {},
    events: [...(span?.events ?? []), ...logEvents],
  };
  const messages = readMessages(content);
  return {
    ...call,
    interpretation: row.interpretation === '' ? null : (JSON.parse(row.interpretation) as LlmRequest['interpretation']),
    sentTokens: readSentTokens(span),
    messages,
    messagesProblem: describeMissingMessages(span, messages),
    toolCalls: readToolCalls(messages, spans, span?.startTime ?? call.time),
    documents: readDocuments(spans, call.time),
    parameters: readParameters(span),
    evaluations: readEvaluations(content.events),
    conversation,
    duplicates,
    logs: logItems
      .filter((_, index) => !isMessageEvent(logEvents[index] as Event))
      .map((record) => ({ id: record.id, time: record.timestamp, severity: record.severity, body: record.body })),
  };
};
