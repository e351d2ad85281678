/** One trace: its spans as a waterfall or flame graph, with a side panel */
import { computed } from '@preact/signals';
import { Columns3, ScrollText } from 'lucide';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { PagedList } from '../../client/pages.ts';
import { ApiQuery } from '../../client/query.ts';
import { ButtonLink } from '../../components/button.tsx';
import { Popover } from '../../components/popover.tsx';
import { readParam, setParams, toChangedUrl } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatDuration } from '../../frame/durations.ts';
import { formatTime } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { toSessionPage } from '../../frame/resource-links.ts';
import { type Trace, traceCall, traceLogsCall } from './calls.ts';
import { Flame } from './flame.tsx';
import { CompareTraceForm } from './hold-against.tsx';
import { countLevels } from './repeats.ts';
import { LogPanel, SpanPanel } from './span.tsx';
import { matchesText, type OrderedSpan, toWaterfallOrder } from './span-order.ts';
import {
  expandedRepeats,
  foldedIds,
  logKey,
  type OptionalColumn,
  optionalColumns,
  readColumns,
  Waterfall,
  writeColumns,
} from './waterfall.tsx';

/** Maximum numbers of loaded spans and logs of a trace */
const [maxSpans, maxLogs] = [250_000, 1_000];

const tracePages = new PagedList(traceCall, ({ spans }) => spans);
const logs = new ApiQuery(traceLogsCall);
const positionedSpans = computed(() =>
  toWaterfallOrder(tracePages.items.value, tracePages.first.state.value.response?.startTime ?? ''),
);
const number = new Intl.NumberFormat('en');

const buildLogsPath = ({ startTime, durationNs, traceId: id }: Trace): string => {
  const start = Date.parse(startTime);
  const marginMs = 60_000;
  const query = new URLSearchParams({
    from: new Date(start - marginMs).toISOString(),
    to: new Date(start + Number(durationNs) / 1e6 + marginMs).toISOString(),
    search: `traceId:${id}`,
  });
  return `/logs?${query}`;
};

/** The call that a span repeats most often; one batch call could replace the repetitions. */
const RepeatedCalls = ({ trace: { repeatedCalls } }: { readonly trace: Trace }) => {
  const [repeatedCall] = repeatedCalls;
  if (repeatedCall === undefined) return null;
  const { count, service, name, criticalPathNs, firstSpanId } = repeatedCall;
  return (
    <p class="legend">
      {renderText(service)} calls{' '}
      <Link url={toChangedUrl({ span: firstSpanId })}>
        <bdi>{renderText(name)}</bdi>
      </Link>{' '}
      <b id="repeated">{number.format(count)} times</b> from one span: {formatDuration(criticalPathNs)} of the critical
      path.
      {repeatedCalls.length === 1 ? null : ` Other repeated calls: ${number.format(repeatedCalls.length - 1)}.`}
    </p>
  );
};

/** Service with the largest share of the critical path */
const findSlowestService = ({
  criticalPath,
  durationNs,
}: Trace): readonly [service: string, share: number] | undefined => {
  const serviceBySpan = new Map(tracePages.items.value.map(({ spanId, service }) => [spanId, service]));
  const durations = new Map<string, number>();
  for (const { spanId, durationNs: segmentNs } of criticalPath.segments) {
    const service = serviceBySpan.get(spanId);
    if (service !== undefined) durations.set(service, (durations.get(service) ?? 0) + Number(segmentNs));
  }
  const [slowest] = [...durations].sort(([, left], [, right]) => right - left);
  return slowest === undefined ? undefined : [slowest[0], slowest[1] / Math.max(1, Number(durationNs))];
};

/** Attributes that contain the session in spans of browsers */
const sessionAttributes = ['session.id', 'rum.sessionId', 'rumSessionId'];

/** Returns the session of the browser that sent a span of the trace. */
const findSession = (spans: readonly OrderedSpan[]): string | undefined => {
  for (const { span } of spans)
    if (span.resource['telemetry.sdk.language'] === 'webjs')
      for (const name of sessionAttributes) {
        const id = span.attributes[name] ?? span.resource[name];
        if (typeof id === 'string' && id !== '') return id;
      }
  return undefined;
};

const TraceFacts = ({ trace }: { readonly trace: Trace }) => {
  const spans = positionedSpans.value;
  const serviceCount = useMemo(() => new Set(spans.map(({ span }) => span.service)).size, [spans]);
  const levels = useMemo(() => countLevels(spans), [spans]);
  const slowest = useMemo(() => findSlowestService(trace), [trace, spans]);
  const session = useMemo(() => findSession(spans), [spans]);
  return (
    <dl class="facts">
      <div>
        <dt>Duration</dt>
        <dd id="duration">{formatDuration(trace.durationNs)}</dd>
      </div>
      <div>
        <dt>Services</dt>
        <dd>{number.format(serviceCount)}</dd>
      </div>
      <div>
        <dt>Spans</dt>
        <dd id="spans">{number.format(trace.spanCount)}</dd>
      </div>
      <div>
        <dt>Errors</dt>
        <dd class={trace.errorCount === 0 ? '' : 'text-error'}>{number.format(trace.errorCount)}</dd>
      </div>
      <div>
        <dt>Depth</dt>
        <dd>{number.format(levels)}</dd>
      </div>
      {session === undefined ? null : (
        <div>
          <dt>Session</dt>
          <dd>
            <Link url={toSessionPage(session)}>{renderText(session.slice(0, 8))}</Link>
          </dd>
        </div>
      )}
      {slowest === undefined ? null : (
        <div>
          <dt>Slowest service</dt>
          <dd>
            {renderText(slowest[0])}
            <small>{Math.round(100 * slowest[1])} % of the duration</small>
          </dd>
        </div>
      )}
    </dl>
  );
};

const TraceSummary = ({ trace }: { readonly trace: Trace }) => {
  const [root] = trace.roots;
  const loadedSpans = tracePages.items.value.length;
  return (
    <>
      <div class="page-head">
        <h1>{root === undefined ? trace.traceId : renderText(`${root.service}: ${root.name}`)}</h1>
        <span class="soft">{formatTime(Date.parse(trace.startTime))}</span>
        <span class="grow" />
        <ButtonLink icon={ScrollText} url={buildLogsPath(trace)}>
          Logs of this trace
        </ButtonLink>
      </div>
      <TraceFacts trace={trace} />
      {trace.missingParentCount === 0 && loadedSpans >= trace.spanCount ? null : (
        <p class="legend">
          {trace.missingParentCount === 0
            ? null
            : `${number.format(trace.missingParentCount)} spans have a missing parent. `}
          {loadedSpans < trace.spanCount ? (
            <span role="status">{number.format(loadedSpans)} spans are loaded.</span>
          ) : null}
        </p>
      )}
      <RepeatedCalls trace={trace} />
    </>
  );
};

/** Choice of the columns between the name and the timeline */
const ColumnsMenu = () => (
  <Popover title="Columns" icon={Columns3}>
    {() => {
      const columns = readColumns();
      return (
        <div class="form columns-menu">
          {(Object.keys(optionalColumns) as OptionalColumn[]).map((column) => (
            <label key={column} class="choice">
              <input
                type="checkbox"
                checked={columns.includes(column)}
                onChange={({ currentTarget: { checked } }) =>
                  writeColumns(checked ? [...columns, column] : columns.filter((name) => name !== column))
                }
              />{' '}
              {optionalColumns[column]}
            </label>
          ))}
        </div>
      );
    }}
  </Popover>
);

const noMatches: ReadonlySet<string> = new Set();

/** Searches the spans for a text, and steps through the matches. */
const useSpanSearch = (spans: readonly OrderedSpan[]) => {
  const [searchText, setSearchText] = useState('');
  const [matchIndex, setMatchIndex] = useState(-1);
  const matchIds = useMemo(
    () =>
      searchText === ''
        ? []
        : spans
            .filter((orderedSpan) => matchesText(orderedSpan, searchText.toLowerCase()))
            .map(({ span }) => span.spanId),
    [spans, searchText],
  );
  const matches = useMemo(() => (matchIds.length === 0 ? noMatches : new Set(matchIds)), [matchIds]);
  const find = (text: string, step: number): void => {
    foldedIds.value = new Set();
    expandedRepeats.value = 'all';
    const isNew = text !== searchText;
    setSearchText(text);
    setMatchIndex(isNew ? 0 : (matchIndex + step + Math.max(1, matchIds.length)) % Math.max(1, matchIds.length));
  };
  return { searchText, matches, currentId: matchIds[matchIndex] ?? '', at: matchIndex, count: matchIds.length, find };
};

const SpanSearch = ({
  search: { searchText, at, count, find },
}: {
  readonly search: ReturnType<typeof useSpanSearch>;
}) => {
  const [draft, setDraft] = useState('');
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        find(draft.trim(), 1);
      }}
    >
      <label>
        Search spans{' '}
        <input
          type="search"
          data-search
          value={draft}
          placeholder="Search by name, service or value"
          onInput={({ currentTarget }) => setDraft(currentTarget.value)}
        />
      </label>
      <button type="submit" class="plain">
        Next
      </button>
      <button type="button" class="plain" onClick={() => find(draft.trim(), -1)}>
        Previous
      </button>
      <span role="status">
        {searchText === '' ? '' : count === 0 ? 'No matching spans.' : `${at + 1} of ${number.format(count)}`}
      </span>
    </form>
  );
};

const SpanView = ({ trace, isFlame }: { readonly trace: Trace; readonly isFlame: boolean }) => {
  const search = useSpanSearch(positionedSpans.value);
  const openId = readParam('span');
  const span = tracePages.items.value.find(({ spanId }) => spanId === openId);
  const isInline = readParam('logs') !== 'off';
  const items = logs.state.value.response?.items;
  const log = items?.find(({ id }) => logKey(id) === openId);
  const close = (): void => setParams({ span: '' });
  return (
    <>
      <div class="toolbar">
        {isFlame ? null : (
          <>
            <SpanSearch search={search} />
            <button
              type="button"
              class="plain"
              onClick={() => {
                expandedRepeats.value = new Set();
                foldedIds.value = new Set(
                  positionedSpans
                    .peek()
                    .filter(({ depth, descendantCount }) => depth === 1 && descendantCount > 0)
                    .map(({ span }) => span.spanId),
                );
              }}
            >
              Collapse all
            </button>
            <button
              type="button"
              class="plain"
              onClick={() => {
                expandedRepeats.value = 'all';
                foldedIds.value = new Set();
              }}
            >
              Expand all
            </button>
            <label>
              <input
                type="checkbox"
                checked={isInline}
                onChange={({ currentTarget }) =>
                  setParams({ logs: currentTarget.checked ? '' : 'off' }, { replace: true })
                }
              />{' '}
              Show logs inline
            </label>
            <ColumnsMenu />
            <span>
              <span class="swatch waited-swatch" /> Critical path
            </span>
          </>
        )}
        <button type="button" class="plain" onClick={() => setParams({ view: isFlame ? '' : 'flame' })}>
          {isFlame ? 'Waterfall' : 'Flame graph'}
        </button>
        <CompareTraceForm />
      </div>
      {logs.state.value.response?.nextCursor == null ? null : (
        <p class="soft">Only the last {number.format(maxLogs)} logs are shown.</p>
      )}
      <div class={span === undefined && log === undefined ? 'list' : 'list with-record'}>
        {isFlame ? (
          <Flame placed={positionedSpans.value} />
        ) : (
          <Waterfall
            trace={trace}
            placed={positionedSpans.value}
            matches={search.matches}
            currentId={search.currentId}
            logs={isInline ? (items ?? noLogs) : noLogs}
          />
        )}
        {span === undefined ? null : <SpanPanel span={span} onClose={close} />}
        {log === undefined ? null : <LogPanel log={log} onClose={close} />}
      </div>
    </>
  );
};

const noLogs: readonly [] = [];

export const TraceView = ({ id }: { readonly id: string }) => {
  useEffect(() => {
    tracePages.first.clear();
    foldedIds.value = new Set();
    expandedRepeats.value = new Set();
    tracePages.load({ params: { id }, query: {} });
    logs.run({ params: { id }, query: { limit: maxLogs } });
    return () => {
      tracePages.cancel();
      logs.cancel();
    };
  }, [id]);
  const { response, error } = tracePages.first.state.value;
  const loadedSpans = tracePages.items.value.length;
  // All pages are loaded in sequence, because a later page can contain descendants of loaded spans.
  useEffect(() => {
    if (loadedSpans > 0 && loadedSpans < maxSpans && tracePages.hasMore.value) tracePages.loadMore();
  }, [loadedSpans, tracePages.hasMore.value, tracePages.isLoadingMore.value]);
  return (
    <div class="logs">
      <Link url={toChangedUrl({ span: '', view: '', logs: '' }, '/traces')}>All traces</Link>
      <ErrorMessage error={error} />
      {response === undefined ? (
        <h1>Trace {renderText(id)}</h1>
      ) : (
        <>
          <TraceSummary trace={response} />
          <SpanView trace={response} isFlame={readParam('view') === 'flame'} />
        </>
      )}
      <ErrorMessage error={tracePages.loadMoreError.value} />
      <Freshness queryState={tracePages.first.state.value} />
    </div>
  );
};
