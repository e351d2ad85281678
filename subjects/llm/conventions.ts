/**
 * The mapping table: how instrumentations report calls of models. A later name is another entry of a list; the first
 * name that a span has counts.
 */
import type { llmConventions } from '../../schemas/llm-calls.ts';

export type LlmConvention = (typeof llmConventions)[number];

/** Names of each part of a call, newest first. */
export const attributeNames = {
  operation: ['gen_ai.operation.name', 'ai.operationId', 'llm.request.type'],
  provider: [
    ...['gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system', 'ai.model.provider'],
    ...['langfuse.observation.metadata.ls_provider', 'llm.vendor'],
  ],
  requestModel: [
    ...['gen_ai.request.model', 'llm.model_name', 'embedding.model_name', 'ai.model.id'],
    ...['langfuse.observation.model.name', 'llm.request.model', 'reranker.model_name'],
  ],
  responseModel: ['gen_ai.response.model', 'ai.response.model', 'llm.response.model'],
  responseId: ['gen_ai.response.id', 'ai.response.id', 'llm.response.id'],
  conversationId: [
    ...['gen_ai.conversation.id', 'session.id', 'ai.telemetry.metadata.sessionId', 'langfuse.session.id'],
    ...['traceloop.association.properties.session_id', 'langfuse.trace.session_id'],
  ],
  agent: ['gen_ai.agent.name', 'ai.telemetry.functionId', 'agent.name', 'agent_name', 'gen_ai.agent.id'],
  prompt: [
    ...['gen_ai.prompt.name', 'langfuse.observation.prompt.name', 'llm.prompt_template.name'],
    ...['traceloop.prompt.key', 'ai.telemetry.metadata.promptName'],
  ],
  promptVersion: [
    ...['gen_ai.prompt.version', 'langfuse.observation.prompt.version', 'llm.prompt_template.version'],
    ...['traceloop.prompt.version', 'ai.telemetry.metadata.promptVersion'],
  ],
  userId: [
    ...['user.id', 'enduser.id', 'ai.telemetry.metadata.userId', 'langfuse.user.id', 'langfuse.trace.user_id'],
    ...['traceloop.association.properties.user_id', 'llm.user'],
  ],
  finishReasons: ['gen_ai.response.finish_reasons', 'ai.response.finishReason', 'llm.finish_reason'],
  isStreamed: ['gen_ai.request.stream', 'gen_ai.is_streaming', 'llm.is_streaming'],
  errorType: ['error.type', 'exception.type'],
} as const;

/** Times to the first token, with the number of nanoseconds of their unit. */
export const firstTokenNames: readonly (readonly [name: string, nanoseconds: number])[] = [
  ['gen_ai.response.time_to_first_chunk', 1e9],
  ['gen_ai.server.time_to_first_token', 1e9],
  ['ai.response.msToFirstChunk', 1e6],
  ['llm.response.time_to_first_token_ms', 1e6],
];

/** Names of the numbers of tokens. `total`, `uncachedInput` and `textOutput` only decide how others are read. */
export const tokenNames = {
  input: [
    ...['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt'],
    ...['ai.usage.inputTokens', 'ai.usage.promptTokens', 'ai.usage.tokens', 'llm.usage.prompt_tokens'],
  ],
  output: [
    ...['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.token_count.completion'],
    ...['ai.usage.outputTokens', 'ai.usage.completionTokens', 'llm.usage.completion_tokens'],
  ],
  total: ['gen_ai.usage.total_tokens', 'llm.usage.total_tokens', 'llm.token_count.total', 'ai.usage.totalTokens'],
  cacheRead: [
    ...['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens'],
    ...['gen_ai.usage.details.cache_read_tokens', 'gen_ai.usage.input_tokens.cached'],
    ...['llm.token_count.prompt_details.cache_read', 'ai.usage.inputTokenDetails.cacheReadTokens'],
    ...['ai.usage.cachedInputTokens', 'llm.usage.cache_read_input_tokens'],
  ],
  cacheWrite: [
    ...['gen_ai.usage.cache_write.input_tokens', 'gen_ai.usage.cache_creation.input_tokens'],
    ...['gen_ai.usage.cache_creation_input_tokens', 'gen_ai.usage.details.cache_write_tokens'],
    ...['llm.token_count.prompt_details.cache_write', 'ai.usage.inputTokenDetails.cacheWriteTokens'],
    'llm.usage.cache_creation_input_tokens',
  ],
  cacheWrite5m: ['gen_ai.usage.cache_creation.ephemeral_5m.input_tokens', 'gen_ai.usage.cache_write.5m.input_tokens'],
  cacheWrite1h: ['gen_ai.usage.cache_creation.ephemeral_1h.input_tokens', 'gen_ai.usage.cache_write.1h.input_tokens'],
  reasoning: [
    ...['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'],
    ...['gen_ai.usage.details.reasoning_tokens', 'llm.usage.reasoning_tokens'],
    ...['llm.token_count.completion_details.reasoning', 'ai.usage.outputTokenDetails.reasoningTokens'],
    'ai.usage.reasoningTokens',
  ],
  inputAudio: [
    ...['gen_ai.usage.audio.input_tokens', 'gen_ai.usage.details.input_audio_tokens'],
    'llm.token_count.prompt_details.audio',
  ],
  inputImage: ['gen_ai.usage.image.input_tokens', 'llm.token_count.prompt_details.image'],
  outputAudio: [
    ...['gen_ai.usage.audio.output_tokens', 'gen_ai.usage.details.output_audio_tokens'],
    'llm.token_count.completion_details.audio',
  ],
  outputImage: ['gen_ai.usage.image.output_tokens', 'llm.token_count.completion_details.image'],
  uncachedInput: ['ai.usage.inputTokenDetails.noCacheTokens'],
  textOutput: ['ai.usage.outputTokenDetails.textTokens'],
} as const;
export type SentToken = keyof typeof tokenNames;

/** JSON of token numbers in Langfuse's SDK, whose `input` and `output` are without all others. */
export const usageDetailsName = 'langfuse.observation.usage_details';
export const usageDetailKeys: Readonly<Record<string, SentToken>> = {
  input: 'input',
  input_tokens: 'input',
  prompt_tokens: 'input',
  promptTokens: 'input',
  output: 'output',
  output_tokens: 'output',
  completion_tokens: 'output',
  completionTokens: 'output',
  total: 'total',
  total_tokens: 'total',
  totalTokens: 'total',
  cache_read_input_tokens: 'cacheRead',
  input_cache_read: 'cacheRead',
  input_cached_tokens: 'cacheRead',
  cache_creation_input_tokens: 'cacheWrite',
  input_cache_creation: 'cacheWrite',
  input_cache_creation_5m: 'cacheWrite5m',
  input_cache_creation_1h: 'cacheWrite1h',
  input_audio_tokens: 'inputAudio',
  input_audio: 'inputAudio',
  output_reasoning_tokens: 'reasoning',
  output_reasoning: 'reasoning',
  reasoning_tokens: 'reasoning',
  output_audio_tokens: 'outputAudio',
  output_audio: 'outputAudio',
};
/** JSON of costs in Langfuse's SDK. */
export const costDetailsName = 'langfuse.observation.cost_details';

/** Costs in US dollars that senders report. */
export const costNames = ['llm.cost.total', 'gen_ai.usage.cost', 'operation.cost', 'ai.response.cost'] as const;

export type SpanRole = 'call' | 'container';

/**
 * Attributes that identify spans about models, the most specific first: spans of some instrumentations have names of
 * two conventions. Values are compared without case; `*` is any other value.
 */
export const roleRules: readonly {
  readonly attribute: string;
  readonly convention: LlmConvention;
  readonly roles: Readonly<Record<string, SpanRole>>;
}[] = [
  {
    attribute: 'ai.operationId',
    convention: 'vercel-ai-sdk',
    roles: {
      'ai.generatetext.dogenerate': 'call',
      'ai.streamtext.dostream': 'call',
      'ai.generateobject.dogenerate': 'call',
      'ai.streamobject.dostream': 'call',
      'ai.embed.doembed': 'call',
      'ai.embedmany.doembed': 'call',
      'ai.rerank.dorerank': 'call',
      '*': 'container',
    },
  },
  {
    attribute: 'openinference.span.kind',
    convention: 'openinference',
    roles: { llm: 'call', embedding: 'call', '*': 'container' },
  },
  {
    attribute: 'langfuse.observation.type',
    convention: 'langfuse',
    roles: { generation: 'call', embedding: 'call', '*': 'container' },
  },
  {
    attribute: 'traceloop.span.kind',
    convention: 'openllmetry',
    roles: { '*': 'container' },
  },
  {
    attribute: 'llm.request.type',
    convention: 'openllmetry',
    roles: { chat: 'call', completion: 'call', embedding: 'call', rerank: 'call', unknown: 'call', '*': 'container' },
  },
  {
    attribute: 'gen_ai.operation.name',
    convention: 'opentelemetry',
    roles: {
      chat: 'call',
      generate_content: 'call',
      text_completion: 'call',
      completion: 'call',
      responses: 'call',
      embeddings: 'call',
      '*': 'container',
    },
  },
  // Spans before the operation had a name.
  { attribute: 'gen_ai.request.model', convention: 'opentelemetry', roles: { '*': 'call' } },
];

/** Operations by the texts of senders, without case. Other texts are unchanged. */
export const operations: Readonly<Record<string, string>> = {
  'ai.generatetext.dogenerate': 'chat',
  'ai.streamtext.dostream': 'chat',
  'ai.generateobject.dogenerate': 'chat',
  'ai.streamobject.dostream': 'chat',
  'ai.embed.doembed': 'embeddings',
  'ai.embedmany.doembed': 'embeddings',
  'ai.rerank.dorerank': 'rerank',
  completion: 'text_completion',
  embedding: 'embeddings',
  llm: 'chat',
  generation: 'chat',
};

/** Calls that report themselves as streamed by their operation. */
export const streamedOperations: ReadonlySet<string> = new Set(['ai.streamtext.dostream', 'ai.streamobject.dostream']);

/** Providers by the texts of senders, without case; the part after the first period is ignored if nothing matches. */
export const providers: Readonly<Record<string, string>> = {
  'az.ai.openai': 'azure.ai.openai',
  'az.ai.inference': 'azure.ai.inference',
  azure: 'azure.ai.openai',
  'azure-openai': 'azure.ai.openai',
  'azure.ai.openai': 'azure.ai.openai',
  'azure.ai.inference': 'azure.ai.inference',
  bedrock: 'aws.bedrock',
  aws: 'aws.bedrock',
  'amazon-bedrock': 'aws.bedrock',
  'aws.bedrock': 'aws.bedrock',
  vertex_ai: 'gcp.vertex_ai',
  vertexai: 'gcp.vertex_ai',
  google_vertexai: 'gcp.vertex_ai',
  'google.vertex': 'gcp.vertex_ai',
  'gcp.vertex_ai': 'gcp.vertex_ai',
  gemini: 'gcp.gemini',
  google: 'gcp.gemini',
  google_genai: 'gcp.gemini',
  'google.generative-ai': 'gcp.gemini',
  'gcp.gemini': 'gcp.gemini',
  'gcp.gen_ai': 'gcp.gen_ai',
  mistralai: 'mistral_ai',
  mistral: 'mistral_ai',
  mistral_ai: 'mistral_ai',
  xai: 'x_ai',
  x_ai: 'x_ai',
  'x-ai': 'x_ai',
  'ibm.watsonx.ai': 'ibm.watsonx.ai',
  watsonx: 'ibm.watsonx.ai',
};

/**
 * What senders mean by input and output. `before` is the first version to which a rule no longer applies. `without`
 * names attributes of newer versions, for senders without a version.
 */
export const usageRules: readonly {
  readonly scope: RegExp;
  readonly before?: string;
  readonly provider?: RegExp;
  readonly without?: readonly SentToken[];
  readonly isInputWithoutCache?: true;
  readonly isOutputWithoutReasoning?: true;
  readonly reason: string;
}[] = [
  {
    scope: /^ai$/,
    provider: /^(?:anthropic|aws\.bedrock)/,
    without: ['uncachedInput'],
    isInputWithoutCache: true,
    reason: 'before version 6, the AI SDK reports input of Anthropic without cached tokens',
  },
  {
    scope: /^langfuse/,
    isInputWithoutCache: true,
    isOutputWithoutReasoning: true,
    reason: 'kinds of tokens of Langfuse exclude each other',
  },
  {
    scope: /^agentsight$/,
    provider: /^anthropic/,
    isInputWithoutCache: true,
    reason: 'AgentSight reports usage as the API of Anthropic returns it, without cached tokens',
  },
  {
    scope: /^@traceloop\/instrumentation-anthropic$/,
    before: '0.15.0',
    isInputWithoutCache: true,
    reason: 'older versions report input without cached tokens',
  },
  {
    scope: /google[._-]?gen(?:erative)?[._-]?ai|vertexai/,
    isOutputWithoutReasoning: true,
    reason: 'Gemini reports candidates without thoughts',
  },
];

/** Names of messages and other contents, which are not copied to calls. Prefixes end with a period. */
export const contentNames: readonly string[] = [
  ...['gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.system_instructions', 'gen_ai.tool.definitions'],
  ...['gen_ai.prompt', 'gen_ai.prompt.', 'gen_ai.completion', 'gen_ai.completion.', 'gen_ai.retrieval.documents'],
  ...['input.value', 'output.value', 'llm.input_messages.', 'llm.output_messages.', 'llm.tools.', 'llm.prompts.'],
  ...['llm.invocation_parameters', 'ai.prompt', 'ai.prompt.', 'ai.response.text', 'ai.response.toolCalls'],
  ...['ai.response.object', 'ai.response.reasoning', 'ai.schema', 'embedding.embeddings.', 'retrieval.documents.'],
  ...['langfuse.observation.input', 'langfuse.observation.output', 'traceloop.entity.input', 'traceloop.entity.output'],
  ...['gen_ai.tool.call.arguments', 'gen_ai.tool.call.result', 'llm.request.functions.'],
];
