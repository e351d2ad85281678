/** Timeline of a session in two columns, turn by turn */
import { ArrowLeft } from 'lucide';
import { useState } from 'preact/hooks';
import { formatNumber } from '../../charts/values.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { LongText } from '../../lists/long-text.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { formatMs } from '../digital-experience/session-format.tsx';
import { areaPath, LinkBadge, renderProgram, toEffectText, toEffectTitle, UnexplainedCount } from './agent-format.tsx';
import { type Effect, sessionsCall, type Turn } from './calls.ts';

type ToolCall = Turn['calls'][number];

/** Texts of the input of a tool that people look for first. */
const inputNames = ['command', 'file_path', 'path', 'url', 'query', 'pattern', 'cmd'] as const;

const toInputText = (input: string): string => {
  try {
    const fields = JSON.parse(input) as Readonly<Record<string, unknown>>;
    const name = inputNames.find((each) => typeof fields[each] === 'string');
    return name === undefined ? input : String(fields[name]);
  } catch {
    return input;
  }
};

const formatClock = (time: string): string => formatIsoTime(time).slice(11, 19);

const EffectRow = ({ effect }: { readonly effect: Effect }) => (
  <li class={`agent-effect ${effect.link ?? ''}`}>
    <span class="agent-line">
      <time class="soft">{formatClock(effect.timestamp)}</time>
      <b>{toEffectTitle(effect)}</b>
      <span class="agent-code">
        <bdi>{renderText(toEffectText(effect))}</bdi>
      </span>
      {effect.count > 1 ? <span class="soft">× {formatNumber(effect.count)}</span> : null}
      {effect.link === null ? null : <LinkBadge link={effect.link} />}
    </span>
    <small class="soft">
      {renderProgram(effect.program ?? effect.threadName)} ({effect.pid}): {renderText(effect.reason ?? '')}
      {effect.logId === null ? null : (
        <>
          {' · '}
          <Link url={toArea('/logs', { record: effect.logId })}>log record</Link>
        </>
      )}
    </small>
  </li>
);

const maxShownEffects = 12;

/** Effects in the order of time; many are folded, unexplained ones never. */
const Effects = ({ effects, emptyText }: { readonly effects: readonly Effect[]; readonly emptyText: string }) => {
  const [isOpen, setOpen] = useState(false);
  const shown =
    isOpen || effects.length <= maxShownEffects
      ? effects
      : effects.filter(({ link }, index) => index < maxShownEffects || link === 'unexplained');
  if (effects.length === 0) return <p class="soft agent-empty">{emptyText}</p>;
  return (
    <>
      <ol class="agent-effects">
        {shown.map((effect) => (
          <EffectRow key={effect.id} effect={effect} />
        ))}
      </ol>
      {shown.length === effects.length ? null : (
        <Button kind="quiet" onClick={() => setOpen(true)}>
          Show {formatNumber(effects.length - shown.length)} more
        </Button>
      )}
    </>
  );
};

const CallView = ({ call }: { readonly call: ToolCall }) => (
  <div class="agent-intent">
    <span class="agent-line">
      <time class="soft">{formatClock(call.timestamp)}</time>
      <Badge tone="info">{renderText(call.name || 'tool')}</Badge>
      {call.hasInstructions ? <Badge tone="warning">Answer has instructions</Badge> : null}
    </span>
    <div class="agent-code">
      <LongText text={toInputText(call.input)} />
    </div>
    {call.result === null ? (
      <small class="soft">no answer captured</small>
    ) : (
      <details>
        <summary>Answer</summary>
        <div class="agent-code">
          <LongText text={call.result} />
        </div>
      </details>
    )}
  </div>
);

const TurnView = ({ turn }: { readonly turn: Turn }) => {
  const callIds = new Set(turn.calls.map(({ callId }) => callId));
  const others = turn.effects.filter(({ callId }) => callId === null || !callIds.has(callId));
  return (
    <Card
      title={turn.turn === 0 ? 'Before the first prompt' : `Turn ${turn.turn}`}
      note={turn.models.join(', ')}
      actions={
        turn.counts.unexplained > 0 ? <Badge tone="critical">{turn.counts.unexplained} unexplained</Badge> : null
      }
    >
      <div class="agent-turn">
        <h3>Intent</h3>
        <h3>Effect</h3>
        {turn.prompt === null && turn.calls.length > 0 ? null : (
          <>
            <div class="agent-intent">
              <span class="agent-line">
                <time class="soft">{formatClock(turn.startedAt)}</time>
                <b>Prompt</b>
              </span>
              <div class="chat-text">
                {turn.prompt === null ? <span class="soft">none captured</span> : <LongText text={turn.prompt} />}
              </div>
            </div>
            <Effects effects={others} emptyText="No effects other than the tool calls." />
          </>
        )}
        {turn.calls.map((call) => (
          <div key={call.callId} class="agent-pair">
            <CallView call={call} />
            <Effects
              effects={turn.effects.filter(({ callId }) => callId === call.callId)}
              emptyText="No effect was captured."
            />
          </div>
        ))}
        {turn.prompt === null && turn.calls.length > 0 && others.length > 0 ? (
          <div class="agent-pair">
            <span class="soft">No tool call</span>
            <Effects effects={others} emptyText="" />
          </div>
        ) : null}
        {turn.response === null ? null : (
          <div class="agent-intent agent-response">
            <b>Response</b>
            <div class="chat-text">
              <LongText text={turn.response} />
            </div>
          </div>
        )}
      </div>
      {turn.omittedEffects === 0 ? null : (
        <p class="soft">{formatNumber(turn.omittedEffects)} more effects are not shown.</p>
      )}
    </Card>
  );
};

export const SessionTimeline = ({ id }: { readonly id: string }) => {
  const sessions = useQuery(sessionsCall, { query: { ...timeRange.value, ...projectScope.value, sessionId: id } });
  const session = sessions.response?.items[0];
  return (
    <ScrollRegion class="scrolled agents" label="Session">
      <div class="page-head">
        <Button kind="quiet" icon={ArrowLeft} onClick={() => setParams({ session: '', turn: '' })}>
          All sessions
        </Button>
        <h2>
          {session === undefined ? 'Session' : renderText(`${session.agent} on ${session.host ?? 'an unknown host'}`)}
        </h2>
        {session?.isActive === true ? <Badge tone="ok">Active</Badge> : null}
        {session?.hasInstructions === true ? <Badge tone="warning">Answer of a tool has instructions</Badge> : null}
        <span class="grow" />
        {session === undefined ? null : (
          <ButtonLink url={toArea(areaPath, { agent: session.agentId })}>Agent</ButtonLink>
        )}
      </div>
      <ErrorMessage error={sessions.error} />
      {sessions.response === undefined && sessions.error === undefined ? <Skeleton height={240} /> : null}
      {sessions.response !== undefined && session === undefined ? (
        <p class="said">This range has no events of the session.</p>
      ) : null}
      {session === undefined ? null : (
        <>
          <dl class="facts">
            {(
              [
                ['Started', formatIsoSecond(session.startedAt)],
                ['Duration', formatMs(session.durationMs)],
                ['Turns', formatNumber(session.turnCount)],
                ['Tool calls', formatNumber(session.toolCalls)],
                ['Stated', formatNumber(session.effects.stated)],
                ['Likely', formatNumber(session.effects.likely)],
                ['Unexplained', <UnexplainedCount key="unexplained" count={session.effects.unexplained} />],
                [
                  'Conversation',
                  <span key="conversation" title={session.conversationId ?? ''}>
                    {renderText((session.conversationId ?? '–').slice(0, 8))}
                  </span>,
                ],
              ] as const
            ).map(([title, value]) => (
              <div key={title}>
                <dt>{title}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          {session.turns.map((turn) => (
            <TurnView key={turn.turn} turn={turn} />
          ))}
        </>
      )}
      <Freshness queryState={sessions} />
    </ScrollRegion>
  );
};
