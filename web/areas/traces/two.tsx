/** Comparison of two traces: the duration of each call in both, and the difference */
import { computed } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { PagedList } from '../../client/pages.ts';
import { toChangedUrl } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatDuration } from '../../frame/durations.ts';
import { formatTime } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Trace, traceCall } from './calls.ts';
import { type CallComparison, type CallStats, compareCalls, toDurationDifference } from './compare-traces.ts';
import { toWaterfallOrder } from './span-order.ts';

/** Maximum numbers of loaded spans of each trace, and of displayed calls */
const [maxSpans, maxCalls] = [50_000, 1_000];

const number = new Intl.NumberFormat('en');

const createTraceLoader = () => {
  const pages = new PagedList(traceCall, ({ spans }) => spans);
  const orderedSpans = computed(() =>
    toWaterfallOrder(pages.items.value, pages.first.state.value.response?.startTime ?? ''),
  );
  return { pages, orderedSpans };
};
const [firstTrace, secondTrace] = [createTraceLoader(), createTraceLoader()];

/** Loads a trace page by page. */
const useLoadedTrace = ({ pages }: typeof firstTrace, id: string): Trace | undefined => {
  useEffect(() => {
    pages.first.clear();
    pages.load({ params: { id }, query: {} });
    return () => pages.cancel();
  }, [id]);
  const loadedCount = pages.items.value.length;
  useEffect(() => {
    if (loadedCount > 0 && loadedCount < maxSpans && pages.hasMore.value) pages.loadMore();
  }, [loadedCount, pages.hasMore.value, pages.isLoadingMore.value]);
  return pages.first.state.value.response;
};

const TraceHeading = ({ trace, loader }: { readonly trace: Trace; readonly loader: typeof firstTrace }) => {
  const loadedCount = loader.pages.items.value.length;
  const [root] = trace.roots;
  return (
    <p class="legend">
      <Link url={toChangedUrl({ with: '' }, `/traces/${trace.traceId}`)}>
        {root === undefined ? trace.traceId : renderText(`${root.service}: ${root.name}`)}
      </Link>
      , {formatTime(Date.parse(trace.startTime))}, <b>{formatDuration(trace.durationNs)}</b>,{' '}
      {number.format(trace.spanCount)} spans, {number.format(trace.errorCount)} failed.
      {loadedCount < trace.spanCount ? ` ${number.format(loadedCount)} spans are loaded.` : ''}
    </p>
  );
};

const CallStatsCell = ({ stats }: { readonly stats: CallStats | undefined }) =>
  stats === undefined ? (
    <td class="soft">no matching call</td>
  ) : (
    <td>
      {formatDuration(stats.durationNs)}
      {stats.count === 1 ? '' : ` in ${number.format(stats.count)} calls`}
      {stats.failedCount === 0 ? null : <b class="text-error"> {number.format(stats.failedCount)} failed</b>}
    </td>
  );

const CallRow = ({ call, maxDifference }: { readonly call: CallComparison; readonly maxDifference: number }) => {
  const difference = toDurationDifference(call);
  return (
    <tr>
      <td style={{ paddingLeft: `${Math.min(20, call.depth) * 0.9 + 0.4}rem` }}>
        <span class="soft">{renderText(call.service)}</span> <bdi>{renderText(call.name)}</bdi>
      </td>
      <CallStatsCell stats={call.firstStats} />
      <CallStatsCell stats={call.secondStats} />
      <td class={difference > 0 ? 'text-error' : ''}>
        {difference === 0
          ? 'no difference'
          : `${formatDuration(Math.abs(difference))} ${difference > 0 ? 'more' : 'less'}`}
        <span
          class={difference > 0 ? 'share selected' : 'share'}
          style={{ width: `${(100 * Math.abs(difference)) / maxDifference}%` }}
        />
      </td>
    </tr>
  );
};

const CallTable = () => {
  const [isSortedByDifference, setIsSortedByDifference] = useState(false);
  const calls = useMemo(
    () => compareCalls(firstTrace.orderedSpans.value, secondTrace.orderedSpans.value),
    [firstTrace.orderedSpans.value, secondTrace.orderedSpans.value],
  );
  const maxDifference = Math.max(1, ...calls.slice(0, 50_000).map((call) => Math.abs(toDurationDifference(call))));
  const sortedCalls = isSortedByDifference
    ? [...calls].sort((left, right) => Math.abs(toDurationDifference(right)) - Math.abs(toDurationDifference(left)))
    : calls;
  return (
    <>
      <label class="choice">
        <input
          type="checkbox"
          checked={isSortedByDifference}
          onChange={({ currentTarget }) => setIsSortedByDifference(currentTarget.checked)}
        />{' '}
        Sort by largest difference
      </label>
      <ScrollRegion class="scrolled" label="Calls of both traces">
        <table class="figures texts two">
          <TableHeader columns={['Call', 'First trace', 'Second trace', 'Difference']} />
          <tbody>
            {sortedCalls.slice(0, maxCalls).map((call) => (
              <CallRow key={call.key} call={call} maxDifference={maxDifference} />
            ))}
          </tbody>
        </table>
        {calls.length > maxCalls ? (
          <p class="soft">
            Only the first {number.format(maxCalls)} of {number.format(calls.length)} calls are shown.
          </p>
        ) : null}
      </ScrollRegion>
    </>
  );
};

export const TraceComparison = ({ id, withId }: { readonly id: string; readonly withId: string }) => {
  const traces = [useLoadedTrace(firstTrace, id), useLoadedTrace(secondTrace, withId)] as const;
  return (
    <div class="logs">
      <h1 class="sr-only">Trace comparison</h1>
      <Link url={toChangedUrl({ with: '' })}>Back to the first trace</Link>
      {[firstTrace, secondTrace].map((loader, index) => (
        <div key={index === 0 ? 'one' : 'other'}>
          <ErrorMessage error={loader.pages.first.state.value.error ?? loader.pages.loadMoreError.value} />
          {traces[index] === undefined ? null : <TraceHeading trace={traces[index]} loader={loader} />}
        </div>
      ))}
      {traces[0] === undefined || traces[1] === undefined ? null : <CallTable />}
      <Freshness queryState={secondTrace.pages.first.state.value} />
    </div>
  );
};
