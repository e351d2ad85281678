/** Page of a session: facts, timeline, events in the order of time, and the traces of its requests */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { formatNumber } from '../../charts/values.ts';
import { PagedList } from '../../client/pages.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { refreshCount } from '../../frame/time-range.ts';
import { RawText } from '../../lists/raw.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { ShowMore } from '../../lists/show-more.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Session, type SessionEvent, type SessionTrace, sessionCall } from './calls.ts';
import { type PlayRequest, Replay } from './replay.tsx';
import { areaPath, BadCount, formatBrowser, formatMs, formatSystem, formatVital, Rating } from './session-format.tsx';

/** Kinds of events by their lane in the timeline */
const lanes = {
  view: ['Views', 'info'],
  action: ['Actions', 'neutral'],
  frustration: ['Frustrations', 'warning'],
  error: ['Errors', 'critical'],
  request: ['Requests', 'ok'],
} as const satisfies Readonly<Record<string, readonly [title: string, tone: Tone]>>;
type Lane = keyof typeof lanes;

const kindTitles: Readonly<Record<SessionEvent['kind'], readonly [title: string, tone: Tone]>> = {
  view: ['View', 'info'],
  vital: ['Web vital', 'neutral'],
  action: ['Action', 'neutral'],
  frustration: ['Frustration', 'warning'],
  error: ['Error', 'critical'],
  resource: ['Resource', 'neutral'],
  request: ['Request', 'ok'],
  navigation: ['Navigation', 'neutral'],
  session: ['Session', 'neutral'],
  log: ['Console', 'neutral'],
  custom: ['Custom', 'neutral'],
};

const frustrationTitles: Readonly<Record<string, string>> = {
  rage_click: 'Rage click',
  dead_click: 'Dead click',
  error_click: 'Click before an error',
};

const describeEvent = (event: SessionEvent): string => {
  const { kind, name, page, url, element, elementText, target, method, message, errorType, value } = event;
  const place = [elementText, element].filter(Boolean).join(' · ');
  switch (kind) {
    case 'view':
      return page ?? url ?? 'unknown page';
    case 'vital':
      return `${name ?? ''} ${value === null ? '' : formatVital(value, name === 'CLS' ? '1' : 'ms')}`;
    case 'frustration':
      return [frustrationTitles[name ?? ''] ?? name, place].filter(Boolean).join(': ');
    case 'error':
      return [errorType, message].filter(Boolean).join(': ');
    case 'resource':
    case 'request':
      return [method, target].filter(Boolean).join(' ');
    default:
      return [name, place, message].filter(Boolean).join(' · ');
  }
};

const SessionFacts = ({ session }: { readonly session: Session }) => (
  <dl class="facts">
    {(
      [
        ['Duration', formatMs(session.durationMs)],
        ['Views', formatNumber(session.views)],
        ['Actions', formatNumber(session.actions)],
        ['Errors', <BadCount key="errors" count={session.errors} />],
        ['Frustrations', <BadCount key="frustrations" count={session.frustrations} />],
        ['User', renderText(session.userId ?? 'anonymous')],
        ['Browser', renderText(formatBrowser(session) || '–')],
        ['System', renderText(formatSystem(session) || '–')],
        ['Country', session.country ?? '–'],
        ['Release', renderText(session.release ?? '–')],
      ] as const
    ).map(([title, value]) => (
      <div key={title}>
        <dt>{title}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

const percent = (share: number): string => `${Math.min(100, Math.max(0, share * 100)).toFixed(2)}%`;

/** Events by time, one lane per kind. The list of events has the same content for screen readers. */
const Timeline = ({ session, events }: { readonly session: Session; readonly events: readonly SessionEvent[] }) => {
  const length = Math.max(1, session.durationMs);
  return (
    <div class="session-lanes">
      {(Object.keys(lanes) as Lane[]).map((kind) => {
        const [title, tone] = lanes[kind];
        const ofLane = events.filter((event) => event.kind === kind);
        return (
          <div key={kind} class="session-lane">
            <span>
              {title} <small>{ofLane.length}</small>
            </span>
            <div class="session-track" aria-hidden="true">
              {ofLane.map((event) => (
                <i
                  key={event.id}
                  class={tone}
                  style={{ left: percent(event.offsetMs / length), width: percent((event.durationMs ?? 0) / length) }}
                  title={`${formatMs(event.offsetMs)} ${describeEvent(event)}`}
                />
              ))}
            </div>
          </div>
        );
      })}
      <p class="axis">
        <span>0 s</span>
        <span>{formatMs(session.durationMs)}</span>
      </p>
    </div>
  );
};

const EventLinks = ({ event: { fingerprint, traceId, logId } }: { readonly event: SessionEvent }) => (
  <span class="event-links">
    {fingerprint === null ? null : <Link url={toArea('/errors', { error: fingerprint })}>Error group</Link>}
    {traceId === null ? null : <Link url={toArea(`/traces/${traceId}`)}>Trace</Link>}
    {logId === null ? null : <Link url={toArea('/logs', { record: logId })}>Log record</Link>}
  </span>
);

interface EventRowProps {
  readonly event: SessionEvent;
  readonly isCurrent: boolean;
  readonly onPlay: (offsetMs: number) => void;
}

const EventRow = ({ event, isCurrent, onPlay }: EventRowProps) => {
  const [title, tone] = kindTitles[event.kind];
  const { replayOffsetMs } = event;
  return (
    <tr aria-current={isCurrent ? 'step' : undefined}>
      <td class="no-wrap">
        <span title={formatIsoTime(event.timestamp)}>+{formatMs(event.offsetMs)}</span>
      </td>
      <td>
        <Badge tone={tone}>{title}</Badge>
      </td>
      <td>
        <bdi>{renderText(describeEvent(event))}</bdi> {event.rating === null ? null : <Rating rating={event.rating} />}
        {event.status === null ? null : (
          <span class={event.status >= 400 ? 'text-error' : 'soft'}> {event.status}</span>
        )}
        {event.stack === null ? null : (
          <details>
            <summary>Stack trace</summary>
            <RawText label="Stack trace" text={event.stack} />
          </details>
        )}
      </td>
      <td class="number">{event.durationMs === null ? '' : formatMs(event.durationMs)}</td>
      <td>
        <EventLinks event={event} />
        {replayOffsetMs === null ? null : (
          <button type="button" class="value" onClick={() => onPlay(replayOffsetMs)}>
            Play
          </button>
        )}
      </td>
    </tr>
  );
};

const kindFilters = [
  ['', 'All events'],
  ['view,action,frustration,error', 'Views, actions and errors'],
  ['error,frustration', 'Errors and frustrations'],
  ['resource,request', 'Resources and requests'],
  ['vital', 'Web vitals'],
] as const;

const Traces = ({ traces }: { readonly traces: readonly SessionTrace[] }) => (
  <Card title="Traces" note="of its requests" isFlush>
    {traces.length === 0 ? (
      <p class="soft card-text">No request of these events belongs to a stored trace.</p>
    ) : (
      <table class="figures texts">
        <TableHeader columns={['Start', 'Services', 'Spans', 'Errors', 'Duration']} />
        <tbody>
          {traces.map(({ traceId, startedAt, services, spans, errors, durationMs }) => (
            <tr key={traceId}>
              <td>
                <Link url={toArea(`/traces/${traceId}`)}>{formatIsoSecond(startedAt)}</Link>
              </td>
              <td>{renderText(services.join(', '))}</td>
              <td class="number">{formatNumber(spans)}</td>
              <td class="number">
                <BadCount count={errors} />
              </td>
              <td class="number">{formatMs(durationMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </Card>
);

export const SessionPage = ({ id }: { readonly id: string }) => {
  const [list] = useState(() => new PagedList(sessionCall, ({ items }) => items));
  const selected = readParam('kind');
  const kind = kindFilters.find(([value]) => value === selected)?.[0] ?? '';
  useEffect(() => {
    list.load({
      params: { id },
      query: { ...projectScope.value, limit: 500, ...(kind === '' ? {} : { kind }) },
    });
    return () => list.cancel();
  }, [id, kind, projectScope.value, refreshCount.value]);
  const [playRequest, setPlayRequest] = useState<PlayRequest>();
  const [replayMs, setReplayMs] = useState<number>();
  const { response, error } = list.first.state.value;
  const events = list.items.value;
  const known = useMemo(() => events.filter((event) => event !== undefined), [events]);
  if (response === undefined) return error === undefined ? <Skeleton height={240} /> : <ErrorMessage error={error} />;
  const { session, traces } = response;
  const current =
    replayMs === undefined
      ? undefined
      : known.findLast(({ replayOffsetMs }) => replayOffsetMs !== null && replayOffsetMs <= replayMs);
  const play = (offsetMs: number): void => setPlayRequest({ offsetMs });
  return (
    <ScrollRegion class="scrolled session-page" label="Session">
      <div class="page-head">
        <h2>{renderText(`${session.application}: ${formatIsoSecond(session.startedAt)}`)}</h2>
        {session.isActive ? <Badge tone="ok">Active</Badge> : null}
        <span class="grow" />
        {session.hasReplay && playRequest === undefined ? (
          <Button kind="primary" onClick={() => play(0)}>
            Play the replay
          </Button>
        ) : null}
        <Link url={toArea(`${areaPath}/sessions`)}>All sessions</Link>
      </div>
      <SessionFacts session={session} />
      <Card title="Timeline">
        <Timeline session={session} events={known} />
      </Card>
      <div class={playRequest === undefined ? 'session-page' : 'session-page with-replay'}>
        {playRequest === undefined ? null : <Replay id={id} playRequest={playRequest} onTime={setReplayMs} />}
        <Card
          title="Events"
          isFlush
          actions={
            <select
              aria-label="Events to show"
              value={kind}
              onChange={({ currentTarget }) => setParams({ kind: currentTarget.value })}
            >
              {kindFilters.map(([value, title]) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </select>
          }
        >
          {known.length === 0 ? (
            <p class="soft card-text">The session has no events of this kind.</p>
          ) : (
            <table class="figures texts">
              <TableHeader columns={['Time', 'Type', 'Event', 'Duration', 'Links']} />
              <tbody>
                {known.map((event) => (
                  <EventRow key={event.id} event={event} isCurrent={event === current} onPlay={play} />
                ))}
              </tbody>
            </table>
          )}
          <ShowMore list={list} />
        </Card>
      </div>
      <Traces traces={traces} />
      <Freshness queryState={list.first.state.value} />
    </ScrollRegion>
  );
};
