/** One request: its messages as a chat, tokens, cost, tool calls and timing */
import { ArrowLeft, ChartGantt, ScrollText } from 'lucide';
import type { ComponentChildren } from 'preact';
import { formatQuantity } from '../../charts/values.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { setParams, toArea } from '../../frame/address.ts';
import { renderText, toText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { useQuery } from '../../frame/use-query.ts';
import { LongText } from '../../lists/long-text.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { type LlmRequestDetails, type LlmRequestItem, requestCall } from './calls.ts';
import { formatAmount, formatCost, formatTokens, listTokenKinds } from './figures.ts';

type Message = LlmRequestDetails['messages'][number];
type Part = Message['parts'][number];

const roleTitles: Readonly<Record<string, string>> = {
  system: 'System',
  developer: 'Developer',
  user: 'User',
  assistant: 'Assistant',
  model: 'Assistant',
  tool: 'Tool',
};

const partTitles: Readonly<Record<Part['type'], string>> = {
  text: '',
  reasoning: 'Reasoning',
  tool_call: 'Tool call',
  tool_result: 'Tool result',
  file: 'File',
  other: 'Other content',
};

const PartView = ({ part }: { readonly part: Part }) => {
  const title = partTitles[part.type];
  return (
    <div class={`chat-part ${part.type.replace('_', '-')}`}>
      {title === '' ? null : (
        <small>
          {title}
          {part.name === null ? '' : ': '}
          {part.name === null ? null : <b>{renderText(part.name)}</b>}
        </small>
      )}
      <div class="chat-text">
        <LongText text={part.text} />
      </div>
      {part.isTruncated ? <Badge tone="warning">truncated</Badge> : null}
    </div>
  );
};

const MessageView = ({ message }: { readonly message: Message }) => (
  <li class={`chat-message ${message.direction} ${message.role === 'user' ? 'user' : ''}`}>
    <h3>{roleTitles[message.role] ?? renderText(message.role)}</h3>
    {message.parts.map((part, index) => (
      <PartView key={index} part={part} />
    ))}
  </li>
);

const Chat = ({ messages, messagesProblem }: LlmRequestDetails) => (
  <Card title="Messages">
    {messagesProblem === null ? null : <p class="soft">{renderText(messagesProblem)}.</p>}
    <ol class="chat">
      {messages.map((message, index) => (
        <MessageView key={index} message={message} />
      ))}
    </ol>
  </Card>
);

const ToolCalls = ({ toolCalls }: LlmRequestDetails) =>
  toolCalls.length === 0 ? null : (
    <Card title="Tool calls">
      <ul class="tool-calls">
        {toolCalls.map((call, index) => (
          <li key={call.callId ?? index}>
            <h3>
              {renderText(call.name || 'unnamed tool')}{' '}
              {call.span === null ? (
                <Badge tone="neutral">no span found</Badge>
              ) : (
                <Badge tone={call.span.status === 'error' ? 'critical' : 'ok'}>
                  {formatQuantity(call.span.durationMs, 'ms')}
                </Badge>
              )}
            </h3>
            <div class="chat-text">
              <LongText text={call.arguments} />
            </div>
            {call.result === null ? null : (
              <div class="chat-text result">
                <LongText text={call.result} />
              </div>
            )}
            {call.span === null ? null : (
              <Link url={toArea(`/traces/${call.span.traceId}`, { span: call.span.spanId })}>
                {renderText(call.span.name)} in {renderText(call.span.service)}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );

const priceSources = { table: 'built-in table', organization: 'price of the organization' } as const;

const Facts = ({ request }: { readonly request: LlmRequestDetails }) => (
  <Card title="Request">
    <Fields
      values={{
        cost: request.cost === null ? `unpriced: ${request.priceProblem ?? ''}` : formatCost(request),
        'exact cost': request.cost === null ? '' : `${request.cost.amount} ${request.cost.currency}`,
        price: request.priceSource === null ? '' : priceSources[request.priceSource],
        'reported cost': request.reportedCost === null ? '' : formatAmount(request.reportedCost),
        duration: formatQuantity(request.durationMs, 'ms'),
        'first token':
          request.timeToFirstTokenMs === null ? 'not measured' : formatQuantity(request.timeToFirstTokenMs, 'ms'),
        'tokens per second':
          request.tokensPerSecond === null ? 'not measured' : formatQuantity(request.tokensPerSecond, ''),
        time: formatIsoTime(request.time),
        service: request.service,
        provider: request.provider,
        'requested model': request.requestModel,
        agent: request.agent,
        prompt: [request.prompt, request.promptVersion].filter((text) => text !== null).join(' '),
        user: request.userId,
        conversation: request.conversationId,
        'finish reason': request.finishReasons.join(', '),
        error: request.errorType,
      }}
    />
  </Card>
);

const Tokens = ({ request }: { readonly request: LlmRequestDetails }) => (
  <Card title="Tokens">
    {request.tokens === null ? (
      <p class="soft">Unknown: {renderText(request.usageProblem ?? '')}.</p>
    ) : (
      <>
        <Fields values={Object.fromEntries(listTokenKinds(request.tokens))} />
        {request.usageProblem === null ? null : <p class="soft">{renderText(request.usageProblem)}.</p>}
      </>
    )}
    {request.interpretation === null ? null : (
      <details>
        <summary>How the numbers were read</summary>
        <p class="soft">
          Input {request.interpretation.isInputWithoutCache ? 'excludes' : 'includes'} cached tokens:{' '}
          {renderText(request.interpretation.inputReason)}. Output{' '}
          {request.interpretation.isOutputWithoutReasoning ? 'excludes' : 'includes'} reasoning:{' '}
          {renderText(request.interpretation.outputReason)}.
        </p>
        <Fields values={request.sentTokens} />
      </details>
    )}
  </Card>
);

const OptionalFields = ({
  title,
  values,
}: {
  readonly title: string;
  readonly values: Readonly<Record<string, unknown>>;
}) =>
  Object.keys(values).length === 0 ? null : (
    <Card title={title}>
      <Fields values={values} />
    </Card>
  );

const RequestRow = ({ item, children }: { readonly item: LlmRequestItem; readonly children?: ComponentChildren }) => (
  <li>
    <Link url={toArea('/llm/requests', { request: item.id })}>
      {formatIsoTime(item.time).slice(11, 19)} {renderText(item.model)}
    </Link>{' '}
    <small class="soft">
      {item.tokens === null ? '' : `${formatTokens(item.tokens.total)} tokens, `}
      {formatCost(item)}
      {children}
    </small>
  </li>
);

const Related = ({ request }: { readonly request: LlmRequestDetails }) => (
  <>
    {request.conversation.length === 0 ? null : (
      <Card title="Conversation" note={`${request.conversation.length} other requests`}>
        <ul class="links">
          {request.conversation.map((item) => (
            <RequestRow key={item.id} item={item} />
          ))}
        </ul>
      </Card>
    )}
    {request.evaluations.length === 0 ? null : (
      <Card title="Evaluations">
        <ul class="links">
          {request.evaluations.map(({ name, score, label, explanation }) => (
            <li key={name}>
              <b>{renderText(name)}</b> {score ?? ''} {renderText(label ?? '')}{' '}
              <small class="soft">{renderText(explanation ?? '')}</small>
            </li>
          ))}
        </ul>
      </Card>
    )}
    {request.documents.length === 0 ? null : (
      <Card title="Retrieved documents">
        <ul class="links">
          {request.documents.map((document, index) => (
            <li key={index}>
              <LongText text={toText(document)} />
            </li>
          ))}
        </ul>
      </Card>
    )}
    {request.duplicates.length === 0 ? null : (
      <Card title="Other reports" note="do not count">
        <ul class="links">
          {request.duplicates.map(({ traceId, spanId, scope, reason }) => (
            <li key={spanId}>
              <Link url={toArea(`/traces/${traceId}`, { span: spanId })}>{renderText(scope || 'unnamed scope')}</Link>{' '}
              <small class="soft">{renderText(reason)}</small>
            </li>
          ))}
        </ul>
      </Card>
    )}
    {request.logs.length === 0 ? null : (
      <Card title="Logs">
        <ul class="links">
          {request.logs.map(({ id, time, severity, body }) => (
            <li key={id}>
              <small class="soft">
                {formatIsoTime(time).slice(11, 23)} {renderText(severity ?? '')}
              </small>{' '}
              <LongText text={toText(body)} />
            </li>
          ))}
        </ul>
      </Card>
    )}
  </>
);

export const LlmRequestPage = ({ id }: { readonly id: string }) => {
  const queryState = useQuery(requestCall, { params: { id }, query: projectScope.value });
  const { response: request, error } = queryState;
  return (
    <div class="llm">
      <div class="toolbar">
        <Button icon={ArrowLeft} kind="quiet" onClick={() => setParams({ request: '' })}>
          All requests
        </Button>
        {request === undefined ? null : (
          <>
            <h2>
              {renderText(request.model || 'no model')}{' '}
              {request.status === 'error' ? (
                <Badge tone="critical">{renderText(request.errorType ?? 'error')}</Badge>
              ) : (
                <Badge tone="ok">ok</Badge>
              )}
            </h2>
            <ButtonLink icon={ChartGantt} url={toArea(`/traces/${request.traceId}`, { span: request.spanId })}>
              Trace
            </ButtonLink>
            <ButtonLink icon={ScrollText} url={toArea('/logs', { search: `traceId:${request.traceId}` })}>
              Logs
            </ButtonLink>
          </>
        )}
      </div>
      <ErrorMessage error={error} />
      {request === undefined ? (
        error === undefined ? (
          <SkeletonRows />
        ) : null
      ) : (
        <div class="llm-request">
          <div class="llm-main">
            <Chat {...request} />
            <ToolCalls {...request} />
          </div>
          <div class="llm-aside">
            <Facts request={request} />
            <Tokens request={request} />
            <OptionalFields title="Parameters" values={request.parameters} />
            <Related request={request} />
          </div>
        </div>
      )}
      <Freshness queryState={queryState} />
    </div>
  );
};
