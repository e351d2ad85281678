/** Logs: search, counts over time, field values, list, side panel, patterns, and live tail */
import { useEffect } from 'preact/hooks';
import { change, toArea } from '../../frame/address.ts';
import { useEscape } from '../../frame/escape.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { SearchEditor } from '../../search/search-editor.tsx';
import { Facets } from './facets.tsx';
import { LogHistogram } from './histogram.tsx';
import { Listed } from './listed.tsx';
import { Live, tail } from './live.tsx';
import {
  context,
  groupBy,
  histogram,
  list,
  loadLogs,
  openId,
  order,
  patternId,
  search,
  setOpen,
  setSearch,
  type View,
  view,
  views,
} from './log-search.ts';
import { Patterns } from './patterns.tsx';
import { OpenRecord } from './record.tsx';
import { suggestOfLogs } from './suggest.ts';
import { FieldNames, Toolbar } from './toolbar.tsx';

const Tabs = () => (
  <nav class="tabs" aria-label="Logs">
    <ul>
      {Object.entries(views).map(([name, title]: [View | string, string]) => (
        <li key={name}>
          <Link to={toArea('/logs', { search: search.value, view: name })} isCurrent={view.value === name}>
            {title}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
);

const Editor = ({ problem }: { readonly problem: string | undefined }) => (
  <SearchEditor
    key={search.value}
    label="Search logs"
    placeholder="declined service:payments -severity:info"
    value={search.value}
    problem={problem}
    signal="logs"
    suggest={suggestOfLogs}
    onSearch={setSearch}
  />
);

const RecordPanel = ({ of: known }: { readonly of: (id: string) => Parameters<typeof OpenRecord>[0]['listed'] }) => {
  const id = openId.value;
  return id === '' ? null : <OpenRecord id={id} listed={known(id)} />;
};

const Records = () => {
  const { from, to } = writtenRange.value;
  const scope = projectScope.value;
  useEffect(loadLogs, [from, to, search.value, order.value, groupBy.value, patternId.value, scope, refreshes.value]);
  useEffect(
    () => () => {
      list.cancel();
      histogram.cancel();
      context.cancel();
    },
    [],
  );
  const { error } = list.first.state.value;
  const atSearch = error?.of('search');
  const counted = histogram.state.value;
  const known = (id: string) =>
    list.items.value.find((record) => record.id === id) ??
    [...(context.state.value.answer?.before?.items ?? []), ...(context.state.value.answer?.after?.items ?? [])].find(
      (record) => record.id === id,
    );
  return (
    <>
      <Editor problem={atSearch} />
      <Toolbar />
      {atSearch === undefined ? <Problem error={error} /> : null}
      {patternId.value === '' ? (
        <>
          <Problem error={counted.error?.of('groupBy') === undefined ? undefined : counted.error} />
          <LogHistogram answer={counted.answer} field={groupBy.value} isOld={counted.isLoading} />
        </>
      ) : (
        <p>
          Filtered to one pattern.{' '}
          <button type="button" class="plain" onClick={() => change({ pattern: '' })}>
            All records
          </button>
        </p>
      )}
      <div class={openId.value === '' ? 'explored' : 'explored with-record'}>
        <Facets />
        <Listed />
        <RecordPanel of={known} />
      </div>
      <Problem error={list.furtherError.value} />
      <Freshness of={list.first.state.value} />
    </>
  );
};

const Arriving = () => (
  <>
    <Editor problem={undefined} />
    <Toolbar />
    <div class={openId.value === '' ? 'list' : 'list with-record'}>
      <div class="listed">
        <Live />
      </div>
      <RecordPanel of={(id) => tail.records.value.find((record) => record.id === id)} />
    </div>
  </>
);

const FiguresOf = later(async () => (await import('./figures.tsx')).Figures);
const Counted = () => (
  <>
    <Editor problem={undefined} />
    <FiguresOf />
  </>
);

const shown: Readonly<Record<View, preact.ComponentType>> = {
  '': Records,
  patterns: Patterns,
  figures: Counted,
  live: Arriving,
};

export const Logs = () => {
  useEscape(() => {
    if (openId.peek() !== '') setOpen('');
  });
  const Shown = shown[view.value];
  return (
    <div class="logs">
      <h1 class="sr-only">Logs</h1>
      <Tabs />
      <FieldNames />
      <Shown />
    </div>
  );
};
