/** One trace: its spans as a waterfall or flame graph, with a side panel */
import { computed } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Paged } from '../../client/pages.ts';
import { ApiQuery } from '../../client/query.ts';
import { addressWith, change, inAddress } from '../../frame/address.ts';
import { shownDuration } from '../../frame/durations.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { type Trace, traceCall, traceLogsCall } from './calls.ts';
import { Flame } from './flame.tsx';
import { CompareTraceForm } from './hold-against.tsx';
import { OpenLog, OpenSpan } from './span.tsx';
import { holds, inOrder, type PlacedSpan } from './span-order.ts';
import { folded, logKey, Waterfall } from './waterfall.tsx';

/** Maximum numbers of loaded spans and logs of a trace */
const [maxSpans, maxLogs] = [250_000, 1_000];

const pages = new Paged(traceCall, ({ spans }) => spans);
const logs = new ApiQuery(traceLogsCall);
const placed = computed(() => inOrder(pages.items.value, pages.first.state.value.answer?.startTime ?? ''));
const number = new Intl.NumberFormat('en');

const logsOf = ({ startTime, durationNs, traceId: id }: Trace): string => {
  const start = Date.parse(startTime);
  const around = 60_000;
  const query = new URLSearchParams({
    from: new Date(start - around).toISOString(),
    to: new Date(start + Number(durationNs) / 1e6 + around).toISOString(),
    search: `traceId:${id}`,
  });
  return `/logs?${query}`;
};

/** Calls that a span repeats most, which one batch call could replace. */
const Repeated = ({ of: { repeatedCalls } }: { readonly of: Trace }) => {
  const [first] = repeatedCalls;
  if (first === undefined) return null;
  const { count, service, name, criticalPathNs, firstSpanId } = first;
  return (
    <p class="legend">
      {shownText(service)} calls{' '}
      <Link to={addressWith({ span: firstSpanId })}>
        <bdi>{shownText(name)}</bdi>
      </Link>{' '}
      <b id="repeated">{number.format(count)} times</b> from one span: {shownDuration(criticalPathNs)} of the critical
      path.
      {repeatedCalls.length === 1 ? null : ` Other repeated calls: ${number.format(repeatedCalls.length - 1)}.`}
    </p>
  );
};

const Facts = ({ trace }: { readonly trace: Trace }) => {
  const [root] = trace.roots;
  const read = pages.items.value.length;
  return (
    <>
      <h1>{root === undefined ? trace.traceId : shownText(`${root.service}: ${root.name}`)}</h1>
      <p class="legend">
        {shownTime(Date.parse(trace.startTime))}, <b id="duration">{shownDuration(trace.durationNs)}</b>,{' '}
        <b id="spans">{number.format(trace.spanCount)}</b> spans, {number.format(trace.errorCount)} failed.{' '}
        {trace.missingParentCount === 0 ? null : `${number.format(trace.missingParentCount)} have a missing parent. `}
        {read < trace.spanCount ? <span role="status">{number.format(read)} are loaded. </span> : null}
        <Link to={logsOf(trace)}>Logs of this trace</Link>
      </p>
      <Repeated of={trace} />
    </>
  );
};

const nothing: ReadonlySet<string> = new Set();

/** Searches the spans for a text, and returns the matches. */
const useFind = (spans: readonly PlacedSpan[]) => {
  const [searchText, setSearchText] = useState('');
  const [at, setAt] = useState(-1);
  const found = useMemo(
    () =>
      searchText === ''
        ? []
        : spans.filter((each) => holds(each, searchText.toLowerCase())).map(({ span }) => span.spanId),
    [spans, searchText],
  );
  const matches = useMemo(() => (found.length === 0 ? nothing : new Set(found)), [found]);
  const find = (text: string, step: number): void => {
    folded.value = new Set();
    const isNew = text !== searchText;
    setSearchText(text);
    setAt(isNew ? 0 : (at + step + Math.max(1, found.length)) % Math.max(1, found.length));
  };
  return { searchText, matches, held: found[at] ?? '', at, count: found.length, find };
};

const Find = ({ of: { searchText, at, count, find } }: { readonly of: ReturnType<typeof useFind> }) => {
  const [typed, setTyped] = useState('');
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        find(typed.trim(), 1);
      }}
    >
      <label>
        Search spans{' '}
        <input
          type="search"
          data-search
          value={typed}
          placeholder="Search by name, service or value"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </label>
      <button type="submit" class="plain">
        Next
      </button>
      <button type="button" class="plain" onClick={() => find(typed.trim(), -1)}>
        Previous
      </button>
      <span role="status">
        {searchText === '' ? '' : count === 0 ? 'No matching spans.' : `${at + 1} of ${number.format(count)}`}
      </span>
    </form>
  );
};

const Spans = ({ trace, isFlame }: { readonly trace: Trace; readonly isFlame: boolean }) => {
  const found = useFind(placed.value);
  const open = inAddress('span');
  const span = pages.items.value.find(({ spanId }) => spanId === open);
  const inLine = inAddress('logs') !== 'off';
  const items = logs.state.value.answer?.items;
  const log = items?.find(({ id }) => logKey(id) === open);
  const close = (): void => change({ span: '' });
  return (
    <>
      <div class="toolbar">
        {isFlame ? null : (
          <>
            <Find of={found} />
            <button
              type="button"
              class="plain"
              onClick={() => {
                folded.value = new Set(
                  placed
                    .peek()
                    .filter(({ depth, below }) => depth === 1 && below > 0)
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
                folded.value = new Set();
              }}
            >
              Expand all
            </button>
            <label>
              <input
                type="checkbox"
                checked={inLine}
                onChange={({ currentTarget }) =>
                  change({ logs: currentTarget.checked ? '' : 'off' }, { replace: true })
                }
              />{' '}
              Show logs inline
            </label>
            <span>
              <span class="swatch waited-swatch" /> Critical path
            </span>
          </>
        )}
        <button type="button" class="plain" onClick={() => change({ view: isFlame ? '' : 'flame' })}>
          {isFlame ? 'Waterfall' : 'Flame graph'}
        </button>
        <CompareTraceForm />
      </div>
      {logs.state.value.answer?.nextCursor == null ? null : (
        <p class="soft">Only the last {number.format(maxLogs)} logs are shown.</p>
      )}
      <div class={span === undefined && log === undefined ? 'list' : 'list with-record'}>
        {isFlame ? (
          <Flame placed={placed.value} />
        ) : (
          <Waterfall
            trace={trace}
            placed={placed.value}
            matches={found.matches}
            held={found.held}
            logs={inLine ? (items ?? noLogs) : noLogs}
          />
        )}
        {span === undefined ? null : <OpenSpan span={span} onClose={close} />}
        {log === undefined ? null : <OpenLog log={log} onClose={close} />}
      </div>
    </>
  );
};

const noLogs: readonly [] = [];

export const TraceView = ({ id }: { readonly id: string }) => {
  useEffect(() => {
    pages.first.clear();
    folded.value = new Set();
    pages.load({ params: { id }, query: {} });
    logs.run({ params: { id }, query: { limit: maxLogs } });
    return () => {
      pages.cancel();
      logs.cancel();
    };
  }, [id]);
  const { answer, error } = pages.first.state.value;
  const read = pages.items.value.length;
  // All pages are loaded in sequence, because the last one may contain descendants of known spans.
  useEffect(() => {
    if (read > 0 && read < maxSpans && pages.hasFurther.value) pages.loadMore();
  }, [read, pages.hasFurther.value, pages.isReading.value]);
  return (
    <div class="logs">
      <Link to={addressWith({ span: '', view: '', logs: '' }, '/traces')}>All traces</Link>
      <Problem error={error} />
      {answer === undefined ? (
        <h1>Trace {shownText(id)}</h1>
      ) : (
        <>
          <Facts trace={answer} />
          <Spans trace={answer} isFlame={inAddress('view') === 'flame'} />
        </>
      )}
      <Problem error={pages.furtherError.value} />
      <Freshness of={pages.first.state.value} />
    </div>
  );
};
