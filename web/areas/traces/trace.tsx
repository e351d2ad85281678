/** One trace: its spans as a waterfall, and one of them beside it. */
import { computed } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Paged } from '../../client/paged.ts';
import { addressWith, change, inAddress } from '../../frame/address.ts';
import { shownDuration } from '../../frame/durations.ts';
import { Link } from '../../frame/link.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { Freshness, Problem } from '../../frame/standing.tsx';
import { Rows } from '../../lists/rows.tsx';
import { type Trace, traceCall } from './calls.ts';
import { OpenSpan } from './span.tsx';
import { inOrder, type PlacedSpan } from './span-order.ts';

const pages = new Paged(traceCall, ({ spans }) => spans);
const placed = computed(() => inOrder(pages.items.value, pages.first.standing.value.answer?.startTime ?? ''));

const Bar = ({ of: { span, offsetNs }, whole }: { readonly of: PlacedSpan; readonly whole: number }) => (
  <span class="track">
    <span
      class={span.status === 'error' ? 'bar failed' : 'bar'}
      style={{
        left: `${Math.min(100, Math.max(0, (offsetNs / whole) * 100))}%`,
        width: `${Math.min(100, (Number(span.durationNs) / whole) * 100)}%`,
      }}
    />
  </span>
);

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

const Facts = ({ trace }: { readonly trace: Trace }) => {
  const [root] = trace.roots;
  return (
    <>
      <h1>{root === undefined ? trace.traceId : shownText(`${root.service}: ${root.name}`)}</h1>
      <p class="legend">
        {shownTime(Date.parse(trace.startTime))}, <b id="duration">{shownDuration(trace.durationNs)}</b>,{' '}
        <b id="spans">{trace.spanCount}</b> spans, {trace.errorCount} failed.{' '}
        {trace.missingParentCount === 0 ? null : `${trace.missingParentCount} have a parent that is not there. `}
        <Link to={logsOf(trace)}>Logs of this trace</Link>
      </p>
    </>
  );
};

const Waterfall = ({ trace, open }: { readonly trace: Trace; readonly open: string }) => {
  const whole = Math.max(1, Number(trace.durationNs));
  return (
    <Rows<PlacedSpan>
      items={placed.value}
      label="Spans"
      class="waterfall"
      columns={['Span', 'Service', 'Duration', 'When']}
      keyOf={({ span }) => span.spanId}
      cellsOf={(each) => [
        <bdi key="name" style={{ paddingLeft: `${Math.min(each.depth, 20)}em` }}>
          {each.span.status === 'error' ? <b class="text-error">failed </b> : null}
          {shownText(each.span.name)}
        </bdi>,
        <bdi key="service">{shownText(each.span.service)}</bdi>,
        shownDuration(each.span.durationNs),
        <Bar key="bar" of={each} whole={whole} />,
      ]}
      open={open}
      onOpen={(span) => change({ span }, { replace: open !== '' })}
      onSeen={(_, last) => {
        if (last >= placed.peek().length - 1) pages.askFurther();
      }}
    />
  );
};

export const TraceView = ({ id }: { readonly id: string }) => {
  useEffect(() => {
    pages.first.clear();
    pages.ask({ params: { id }, query: {} });
    return () => pages.cancel();
  }, [id]);
  const { answer, error } = pages.first.standing.value;
  const open = inAddress('span');
  const span = pages.items.value.find(({ spanId }) => spanId === open);
  return (
    <div class="logs">
      <Link to={addressWith({ span: '' }, '/traces')}>All traces</Link>
      <Problem error={error} />
      {answer === undefined ? (
        <h1>Trace {shownText(id)}</h1>
      ) : (
        <>
          <Facts trace={answer} />
          <div class={span === undefined ? 'list' : 'list with-record'}>
            <Waterfall trace={answer} open={open} />
            {span === undefined ? null : <OpenSpan span={span} onClose={() => change({ span: '' })} />}
          </div>
        </>
      )}
      <Problem error={pages.furtherError.value} />
      <Freshness of={pages.first.standing.value} />
    </div>
  );
};
