/** Traces area: search, list, heatmap, and the view of one trace */
import { useEffect } from 'preact/hooks';
import { PagedList } from '../../client/pages.ts';
import { navigate, path, readParam, setParams, toChangedUrl } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatDuration } from '../../frame/durations.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { projectScope } from '../../frame/project.ts';
import { TimeCell } from '../../frame/time-cell.tsx';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ListResult } from '../../lists/list-result.tsx';
import { SearchEditor } from '../../search/search-editor.tsx';
import { suggestSpanFields } from '../../search/suggest-span-fields.ts';
import { type TraceSummary, tracesCall } from './calls.ts';
import { Heatmap } from './heatmap.tsx';
import { limitToRegion, region } from './region.ts';
import { RegionComparison } from './region-comparison.tsx';
import { TraceView } from './trace.tsx';

const TwoTraces = lazyLoad(async () => (await import('./two.tsx')).TraceComparison);

const tracePages = new PagedList(tracesCall, ({ items }) => items);

const toCells = ({ startTime, durationNs, rootService, rootName, spanCount, errorCount }: TraceSummary) => [
  <TimeCell key="start" ms={Date.parse(startTime)} />,
  formatDuration(durationNs),
  <bdi key="service">{renderText(rootService)}</bdi>,
  <bdi key="name">{renderText(rootName)}</bdi>,
  String(spanCount),
  errorCount === 0 ? '' : <b class="text-error">{errorCount} failed</b>,
];

const TraceTable = () => (
  <ListResult
    list={tracePages}
    emptyText="No traces in this range."
    label="Traces"
    class="traces"
    columns={['Start', 'Duration', 'Service', 'Name', 'Spans', 'Failed']}
    toKey={({ traceId }) => traceId}
    toClass={({ errorCount }) => (errorCount > 0 ? 'level-error' : '')}
    toCells={toCells}
    openKey=""
    onOpen={(id) => navigate(toChangedUrl({}, `/traces/${id}`))}
  />
);

const TraceList = () => {
  const { from, to } = timeRange.value;
  const search = readParam('search');
  const selectedRegion = region.value;
  const listSearch = selectedRegion === undefined ? search : limitToRegion(search, selectedRegion);
  useEffect(() => {
    tracePages.load({ query: { from, to, search: listSearch, ...projectScope.value, limit: 100 } });
    return () => tracePages.cancel();
  }, [from, to, listSearch, projectScope.value, refreshCount.value]);
  const { error } = tracePages.first.state.value;
  const searchProblem = error?.of('search');
  return (
    <div class="logs">
      <h1 class="sr-only">Traces</h1>
      <SearchEditor
        key={search}
        label="Search traces"
        placeholder="status:error duration:>500ms service:checkout"
        value={search}
        problem={searchProblem}
        signal="traces"
        suggest={suggestSpanFields}
        onSearch={(text) => setParams({ search: text.trim() })}
      />
      {searchProblem === undefined ? <ErrorMessage error={error} /> : null}
      <Heatmap />
      <RegionComparison />
      {selectedRegion === undefined ? null : <p class="soft">Traces with a span of the selection:</p>}
      <div class="list">
        <TraceTable />
      </div>
      <ErrorMessage error={tracePages.loadMoreError.value} />
      <Freshness queryState={tracePages.first.state.value} />
    </div>
  );
};

export const Traces = () => {
  const id = path.value.split('/')[2];
  const withId = readParam('with');
  if (id === undefined) return <TraceList />;
  return withId === '' ? <TraceView key={id} id={id} /> : <TwoTraces key={`${id} ${withId}`} id={id} withId={withId} />;
};
