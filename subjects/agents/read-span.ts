/** Reads the request and the response in a span that AgentSight exports. */
import type { ModelMessage } from '../../schemas/agent-events.ts';
import { agentLimits } from '../../schemas/agent-events.ts';
import { truncateText } from '../../schemas/text.ts';
import { readModelRequest, readModelResponse } from './model-messages.ts';
import { createEmptyReport, type ReadReport } from './read-report.ts';

export interface CapturedCall {
  readonly attributes: ReadonlyMap<string, string>;
  readonly startMs: number;
  readonly endMs: number;
  readonly service: string;
  readonly host: string;
}

const parseJson = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
};

const emptyResponse = { toolCalls: [], toolResults: [], prompt: '', text: '', workFolder: '', hasTools: false };

/** Returns two reports: the request and the response. Messages are only in spans of tracers that record content. */
export const readSpanReports = ({ attributes, startMs, endMs, service, host }: CapturedCall): ReadReport[] => {
  const get = (...names: readonly string[]): string => {
    const found = names.map((name) => attributes.get(name)).find((text) => text !== undefined && text !== '');
    return found ?? '';
  };
  const pid = Number(get('process.pid'));
  const model = truncateText(get('gen_ai.response.model', 'gen_ai.request.model'), agentLimits.name);
  const conversationId = truncateText(get('gen_ai.conversation.id'), agentLimits.id);
  const responseId = truncateText(get('gen_ai.response.id'), agentLimits.id);
  const base: ReadReport = {
    ...createEmptyReport('spans', 'model_request'),
    host: truncateText(host, agentLimits.name),
    pid: Number.isSafeInteger(pid) && pid > 0 ? pid : 0,
    threadName: truncateText(get('process.executable.name', 'process.command') || service, agentLimits.name),
    hostName: truncateText(get('server.address').toLowerCase(), agentLimits.name),
  };
  const input = parseJson(attributes.get('gen_ai.input.messages'));
  const output = parseJson(attributes.get('gen_ai.output.messages'));
  const request = readModelRequest({ messages: input, model }, { path: '', headers: {} });
  const response = typeof output === 'object' && output !== null ? readModelResponse({ json_body: output }) : undefined;
  const identity: Pick<ModelMessage, 'model' | 'responseId' | 'conversationId'> = { model, responseId, conversationId };
  return [
    {
      ...base,
      reportedMs: startMs,
      direction: 'out',
      message: { ...request, ...identity, responseId: '', hasTools: true },
    },
    {
      ...base,
      kind: 'model_response',
      reportedMs: endMs,
      direction: 'in',
      status: Math.min(65_535, Math.max(0, Number.parseInt(get('http.response.status_code'), 10) || 0)),
      message: { direction: 'response', ...emptyResponse, ...response, ...identity },
    },
  ];
};
