/** Logs: search, counts over time, field values, list, side panel, patterns, and live tail */
import { useEffect } from 'preact/hooks';
import { setParams, toArea } from '../../frame/address.ts';
import { useEscape } from '../../frame/escape.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { SearchEditor } from '../../search/search-editor.tsx';
import { suggestLogFields } from '../../search/suggest-log-fields.ts';
import { Facets } from './facets.tsx';
import { LogHistogram } from './histogram.tsx';
import { LiveRecords, liveTail } from './live.tsx';
import {
  changeSearch,
  context,
  groupBy,
  histogram,
  loadLogs,
  logPages,
  openId,
  openRecord,
  order,
  patternId,
  search,
  type View,
  view,
  views,
} from './log-search.ts';
import { Patterns } from './patterns.tsx';
import { OpenRecord } from './record.tsx';
import { RecordList } from './record-list.tsx';
import { FieldNames, Toolbar } from './toolbar.tsx';

const LogTabs = () => (
  <nav class="tabs" aria-label="Logs">
    <ul>
      {Object.entries(views).map(([name, title]: [View | string, string]) => (
        <li key={name}>
          <Link url={toArea('/logs', { search: search.value, view: name })} isCurrent={view.value === name}>
            {title}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
);

const LogSearchEditor = ({ problem }: { readonly problem: string | undefined }) => (
  <SearchEditor
    key={search.value}
    label="Search logs"
    placeholder="declined service:payments -severity:info"
    value={search.value}
    problem={problem}
    signal="logs"
    suggest={suggestLogFields}
    onSearch={changeSearch}
  />
);

const RecordPanel = ({
  findLoadedRecord: findLoaded,
}: {
  readonly findLoadedRecord: (id: string) => Parameters<typeof OpenRecord>[0]['listedRecord'];
}) => {
  const id = openId.value;
  return id === '' ? null : <OpenRecord id={id} listedRecord={findLoaded(id)} />;
};

const RecordsView = () => {
  const { from, to } = timeRange.value;
  const scope = projectScope.value;
  useEffect(loadLogs, [from, to, search.value, order.value, groupBy.value, patternId.value, scope, refreshCount.value]);
  useEffect(
    () => () => {
      logPages.cancel();
      histogram.cancel();
      context.cancel();
    },
    [],
  );
  const { error } = logPages.first.state.value;
  const searchProblem = error?.of('search');
  const histogramState = histogram.state.value;
  const findLoadedRecord = (id: string) =>
    logPages.items.value.find((record) => record.id === id) ??
    [
      ...(context.state.value.response?.before?.items ?? []),
      ...(context.state.value.response?.after?.items ?? []),
    ].find((record) => record.id === id);
  return (
    <>
      <LogSearchEditor problem={searchProblem} />
      <Toolbar />
      {searchProblem === undefined ? <ErrorMessage error={error} /> : null}
      {patternId.value === '' ? (
        <>
          <ErrorMessage error={histogramState.error?.of('groupBy') === undefined ? undefined : histogramState.error} />
          <LogHistogram answer={histogramState.response} field={groupBy.value} isStale={histogramState.isLoading} />
        </>
      ) : (
        <p>
          Filtered to one pattern.{' '}
          <button type="button" class="plain" onClick={() => setParams({ pattern: '' })}>
            All records
          </button>
        </p>
      )}
      <div class={openId.value === '' ? 'explored' : 'explored with-record'}>
        <Facets />
        <RecordList />
        <RecordPanel findLoadedRecord={findLoadedRecord} />
      </div>
      <ErrorMessage error={logPages.loadMoreError.value} />
      <Freshness queryState={logPages.first.state.value} />
    </>
  );
};

const LiveView = () => (
  <>
    <LogSearchEditor problem={undefined} />
    <Toolbar />
    <div class={openId.value === '' ? 'list' : 'list with-record'}>
      <div class="listed">
        <LiveRecords />
      </div>
      <RecordPanel findLoadedRecord={(id) => liveTail.records.value.find((record) => record.id === id)} />
    </div>
  </>
);

const AggregationView = lazyLoad(async () => (await import('./figures.tsx')).AggregationView);
const AggregationTab = () => (
  <>
    <LogSearchEditor problem={undefined} />
    <AggregationView />
  </>
);

const viewComponents: Readonly<Record<View, preact.ComponentType>> = {
  '': RecordsView,
  patterns: Patterns,
  figures: AggregationTab,
  live: LiveView,
};

export const Logs = () => {
  useEscape(() => {
    if (openId.peek() !== '') openRecord('');
  });
  const CurrentView = viewComponents[view.value];
  return (
    <div class="logs">
      <h1 class="sr-only">Logs</h1>
      <LogTabs />
      <FieldNames />
      <CurrentView />
    </div>
  );
};
