/** Comparison of two traces: each call with its time in both, and the largest differences */
import { computed } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Paged } from '../../client/pages.ts';
import { addressWith } from '../../frame/address.ts';
import { shownDuration } from '../../frame/durations.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Trace, traceCall } from './calls.ts';
import { moreOf, type PairedCall, paired, type Side } from './compare-traces.ts';
import { inOrder } from './span-order.ts';

/** Maximum numbers of loaded spans of each trace, and of displayed calls */
const [maxSpans, maxCalls] = [50_000, 1_000];

const number = new Intl.NumberFormat('en');

const traceOf = () => {
  const pages = new Paged(traceCall, ({ spans }) => spans);
  const placed = computed(() => inOrder(pages.items.value, pages.first.state.value.answer?.startTime ?? ''));
  return { pages, placed };
};
const [one, other] = [traceOf(), traceOf()];

/** Reads a trace page by page. */
const useTrace = ({ pages }: typeof one, id: string): Trace | undefined => {
  useEffect(() => {
    pages.first.clear();
    pages.load({ params: { id }, query: {} });
    return () => pages.cancel();
  }, [id]);
  const read = pages.items.value.length;
  useEffect(() => {
    if (read > 0 && read < maxSpans && pages.hasFurther.value) pages.loadMore();
  }, [read, pages.hasFurther.value, pages.isReading.value]);
  return pages.first.state.value.answer;
};

const Head = ({ trace, of }: { readonly trace: Trace; readonly of: typeof one }) => {
  const read = of.pages.items.value.length;
  const [root] = trace.roots;
  return (
    <p class="legend">
      <Link to={addressWith({ with: '' }, `/traces/${trace.traceId}`)}>
        {root === undefined ? trace.traceId : shownText(`${root.service}: ${root.name}`)}
      </Link>
      , {shownTime(Date.parse(trace.startTime))}, <b>{shownDuration(trace.durationNs)}</b>,{' '}
      {number.format(trace.spanCount)} spans, {number.format(trace.errorCount)} failed.
      {read < trace.spanCount ? ` ${number.format(read)} are loaded.` : ''}
    </p>
  );
};

const SideCells = ({ side }: { readonly side: Side | undefined }) =>
  side === undefined ? (
    <td class="soft">no matching call</td>
  ) : (
    <td>
      {shownDuration(side.durationNs)}
      {side.count === 1 ? '' : ` in ${number.format(side.count)} calls`}
      {side.failed === 0 ? null : <b class="text-error"> {number.format(side.failed)} failed</b>}
    </td>
  );

const Line = ({ call, maxDifference }: { readonly call: PairedCall; readonly maxDifference: number }) => {
  const more = moreOf(call);
  return (
    <tr>
      <td style={{ paddingLeft: `${Math.min(20, call.depth) * 0.9 + 0.4}rem` }}>
        <span class="soft">{shownText(call.service)}</span> <bdi>{shownText(call.name)}</bdi>
      </td>
      <SideCells side={call.one} />
      <SideCells side={call.other} />
      <td class={more > 0 ? 'text-error' : ''}>
        {more === 0 ? 'the same' : `${shownDuration(Math.abs(more))} ${more > 0 ? 'more' : 'less'}`}
        <span
          class={more > 0 ? 'share selected' : 'share'}
          style={{ width: `${(100 * Math.abs(more)) / maxDifference}%` }}
        />
      </td>
    </tr>
  );
};

const Calls = () => {
  const [isByDifference, setByDifference] = useState(false);
  const calls = useMemo(() => paired(one.placed.value, other.placed.value), [one.placed.value, other.placed.value]);
  const maxDifference = Math.max(1, ...calls.slice(0, 50_000).map((call) => Math.abs(moreOf(call))));
  const shown = isByDifference
    ? [...calls].sort((left, right) => Math.abs(moreOf(right)) - Math.abs(moreOf(left)))
    : calls;
  return (
    <>
      <label class="choice">
        <input
          type="checkbox"
          checked={isByDifference}
          onChange={({ currentTarget }) => setByDifference(currentTarget.checked)}
        />{' '}
        Sort by largest difference
      </label>
      <Scrolled class="scrolled" label="Calls of both traces">
        <table class="figures texts two">
          <TableHeader columns={['Call', 'In this trace', 'In other trace', 'Duration difference']} />
          <tbody>
            {shown.slice(0, maxCalls).map((call) => (
              <Line key={call.key} call={call} maxDifference={maxDifference} />
            ))}
          </tbody>
        </table>
        {calls.length > maxCalls ? (
          <p class="soft">
            First {number.format(maxCalls)} of {number.format(calls.length)} calls shown.
          </p>
        ) : null}
      </Scrolled>
    </>
  );
};

export const TwoTraces = ({ id, withId }: { readonly id: string; readonly withId: string }) => {
  const traces = [useTrace(one, id), useTrace(other, withId)] as const;
  return (
    <div class="logs">
      <h1 class="sr-only">Trace comparison</h1>
      <Link to={addressWith({ with: '' })}>Only the first trace</Link>
      {[one, other].map((each, index) => (
        <div key={index === 0 ? 'one' : 'other'}>
          <Problem error={each.pages.first.state.value.error ?? each.pages.furtherError.value} />
          {traces[index] === undefined ? null : <Head trace={traces[index]} of={each} />}
        </div>
      ))}
      {traces[0] === undefined || traces[1] === undefined ? null : <Calls />}
      <Freshness of={other.pages.first.state.value} />
    </div>
  );
};
