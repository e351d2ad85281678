/** Traces: search, list, and one trace by its id */
import { useEffect } from 'preact/hooks';
import { Paged } from '../../client/pages.ts';
import { addressWith, change, go, inAddress, path } from '../../frame/address.ts';
import { shownDuration } from '../../frame/durations.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Found } from '../../lists/empty-state.tsx';
import { SearchEditor } from '../../search/search-editor.tsx';
import { type TraceSummary, tracesCall } from './calls.ts';
import { Compared } from './compared.tsx';
import { Heatmap } from './heatmap.tsx';
import { suggestOfTraces } from './suggest.ts';
import { TraceView } from './trace.tsx';

const TwoTraces = later(async () => (await import('./two.tsx')).TwoTraces);

const list = new Paged(tracesCall, ({ items }) => items);

const cellsOf = ({ startTime, durationNs, rootService, rootName, spanCount, errorCount }: TraceSummary) => [
  shownTime(Date.parse(startTime)),
  shownDuration(durationNs),
  <bdi key="service">{shownText(rootService)}</bdi>,
  <bdi key="name">{shownText(rootName)}</bdi>,
  String(spanCount),
  errorCount === 0 ? '' : <b class="text-error">{errorCount} failed</b>,
];

const Listed = () => (
  <Found
    of={list}
    nothing="No traces in this range."
    label="Traces"
    class="traces"
    columns={['Start', 'Duration', 'Service', 'Name', 'Spans', 'Failed']}
    keyOf={({ traceId }) => traceId}
    classOf={({ errorCount }) => (errorCount > 0 ? 'level-error' : '')}
    cellsOf={cellsOf}
    open=""
    onOpen={(id) => go(addressWith({}, `/traces/${id}`))}
  />
);

const List = () => {
  const { from, to } = writtenRange.value;
  const search = inAddress('search');
  useEffect(() => {
    list.load({ query: { from, to, search, ...projectScope.value, limit: 100 } });
    return () => list.cancel();
  }, [from, to, search, projectScope.value, refreshes.value]);
  const { error } = list.first.state.value;
  const atSearch = error?.of('search');
  return (
    <div class="logs">
      <h1 class="sr-only">Traces</h1>
      <SearchEditor
        key={search}
        label="Search traces"
        placeholder="status:error duration:>500ms service:checkout"
        value={search}
        problem={atSearch}
        signal="traces"
        suggest={suggestOfTraces}
        onSearch={(text) => change({ search: text.trim() })}
      />
      {atSearch === undefined ? <Problem error={error} /> : null}
      <Heatmap />
      <Compared />
      <div class="list">
        <Listed />
      </div>
      <Problem error={list.furtherError.value} />
      <Freshness of={list.first.state.value} />
    </div>
  );
};

export const Traces = () => {
  const id = path.value.split('/')[2];
  const withId = inAddress('with');
  if (id === undefined) return <List />;
  return withId === '' ? <TraceView key={id} id={id} /> : <TwoTraces key={`${id} ${withId}`} id={id} withId={withId} />;
};
