/** Log patterns with their frequency; marks new, disappeared and increased patterns, compared with the previous period */
import { useEffect, useState } from 'preact/hooks';
import { PagedList } from '../../client/pages.ts';
import { ApiQuery } from '../../client/query.ts';
import { QueryLinks } from '../../editors/put-on-dashboard.tsx';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { Search } from '../../frame/search.tsx';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ListResult } from '../../lists/list-result.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { comparePatternsCall, type LogPattern, patternCall, patternsCall } from './calls.ts';

const patternPages = new PagedList(patternsCall, ({ items }) => items);
const disappearedQuery = new ApiQuery(comparePatternsCall);

const numberFormat = new Intl.NumberFormat('en');
const formatPercent = (share: number): string => `${Number((share * 100).toPrecision(2))} %`;

const getOpenPatternId = (): string => readParam('shown');
const setOpenPattern = (id: string): void => setParams({ shown: id }, { replace: getOpenPatternId() !== '' });

const describeChange = ({ isNew, isGone, isSpiking }: LogPattern): string =>
  [isNew === true ? 'new' : '', isGone === true ? 'gone' : '', isSpiking === true ? 'increased' : '']
    .filter((word) => word !== '')
    .join(', ');

/** Counts over time as bars; the adjacent number provides the text alternative. */
const Trend = ({ counts }: { readonly counts: readonly number[] }) => {
  const maxCount = Math.max(1, ...counts);
  return (
    <svg class="trend" viewBox={`0 0 ${counts.length} 16`} preserveAspectRatio="none" aria-hidden="true">
      {counts.map((count, index) => (
        <rect
          key={index}
          x={index + 0.1}
          width={0.8}
          y={16 - (count / maxCount) * 16}
          height={(count / maxCount) * 16}
        />
      ))}
    </svg>
  );
};

const formatTemplate = (template: string | null): string => template ?? 'pending';

const renderCells = (pattern: LogPattern) => [
  numberFormat.format(pattern.count),
  formatPercent(pattern.share),
  <Trend key="trend" counts={pattern.trend.counts} />,
  <b key="verdict" class={pattern.isSpiking === true || pattern.isGone === true ? 'text-error' : 'text-warn'}>
    {describeChange(pattern)}
  </b>,
  <bdi key="services">{renderText(pattern.services.join(', '))}</bdi>,
  <bdi key="template">{renderText(formatTemplate(pattern.template))}</bdi>,
];

/** Returns the query that counts the records of a pattern. */
const toCountQuery = (id: string) => ({
  kind: 'aggregate' as const,
  signal: 'log-patterns' as const,
  search: `pattern:${id}`,
  measures: [{ function: 'count' as const }],
});

const PatternPanel = ({ id }: { readonly id: string }) => {
  const [query] = useState(() => new ApiQuery(patternCall));
  const { from, to } = timeRange.value;
  useEffect(() => {
    query.run({ params: { id }, query: { from, to, ...projectScope.value } });
    return () => query.cancel();
  }, [id, from, to, projectScope.value]);
  const { response: pattern, error } = query.state.value;
  return (
    <SidePanel label="Pattern" title="Pattern" onClose={() => setOpenPattern('')}>
      <ErrorMessage error={error} />
      {pattern === undefined ? null : (
        <>
          <p class="body">{renderText(formatTemplate(pattern.template), { lines: true })}</p>
          <ul class="links">
            <li>
              <Link url={toArea('/logs', { pattern: pattern.id })}>View records</Link>
            </li>
            <li>
              <QueryLinks query={toCountQuery(pattern.id)} title={formatTemplate(pattern.template).slice(0, 100)} />
            </li>
          </ul>
          <Fields
            values={{
              records: numberFormat.format(pattern.count),
              share: formatPercent(pattern.share),
              'first seen': formatIsoTime(pattern.firstSeen),
              'last seen': formatIsoTime(pattern.lastSeen),
              change: describeChange(pattern),
              services: pattern.services.join(', '),
              ...pattern.severities,
            }}
          />
          {pattern.parameters.map(({ name, top, distinct }) => (
            <section key={name}>
              <h3>
                Variable {renderText(name)}, {distinct.isEstimate ? 'about ' : ''}
                {numberFormat.format(distinct.count)} values
              </h3>
              <Fields values={Object.fromEntries(top.map(({ value, minCount }) => [value, `${minCount} or more`]))} />
            </section>
          ))}
        </>
      )}
    </SidePanel>
  );
};

/** Patterns of the previous period, a range of equal length, that no longer occur. */
const DisappearedPatterns = () => {
  const { response, error } = disappearedQuery.state.value;
  if (response === undefined || response.items.length === 0) return <ErrorMessage error={error} />;
  return (
    <details class="attention">
      <summary>{response.items.length} patterns of the previous period no longer occur</summary>
      <ul>
        {response.items.map(({ id, template, baseline }) => (
          <li key={id}>
            <Link url={toArea('/logs', { view: 'patterns', shown: id })}>{renderText(formatTemplate(template))}</Link>,
            previously {numberFormat.format(baseline.count)} records
          </li>
        ))}
      </ul>
    </details>
  );
};

const changeLabels = { '': 'all', new: 'new', gone: 'gone', spiking: 'increased' } as const;
type ChangeFilter = Exclude<keyof typeof changeLabels, ''>;
const parseChangeFilter = (text: string): ChangeFilter | undefined =>
  text === 'new' || text === 'gone' || text === 'spiking' ? text : undefined;

export const Patterns = () => {
  const { from, to } = timeRange.value;
  const [searchText, changeFilter] = [readParam('words'), readParam('only')];
  useEffect(() => {
    const scope = { from, to, ...projectScope.value };
    patternPages.load({
      query: { ...scope, search: searchText || undefined, only: parseChangeFilter(changeFilter), limit: 100 },
    });
    disappearedQuery.run({ query: { ...scope, change: 'gone', limit: 20 } });
    return () => {
      patternPages.cancel();
      disappearedQuery.cancel();
    };
  }, [from, to, searchText, changeFilter, projectScope.value, refreshCount.value]);
  const { error } = patternPages.first.state.value;
  const id = getOpenPatternId();
  return (
    <>
      <Search
        key={searchText}
        label="Search patterns"
        placeholder="declined card"
        value={searchText}
        problem={error?.of('search')}
        onSearch={(text) => setParams({ words: text.trim(), shown: '' })}
      />
      <div class="toolbar">
        <label>
          Status{' '}
          <select
            value={changeFilter}
            onChange={({ currentTarget }) => setParams({ only: currentTarget.value, shown: '' })}
          >
            {Object.entries(changeLabels).map(([kind, title]) => (
              <option key={kind} value={kind}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ErrorMessage error={error?.of('search') === undefined ? error : undefined} />
      <DisappearedPatterns />
      <div class={id === '' ? 'list' : 'list with-record'}>
        <ListResult
          list={patternPages}
          emptyText="No patterns in this range."
          label="Patterns"
          class="patterns"
          columns={['Records', 'Share', 'Trend', 'Change', 'Services', 'Pattern']}
          toKey={(pattern) => pattern.id}
          toCells={renderCells}
          openKey={id}
          onOpen={setOpenPattern}
        />
        {id === '' ? null : <PatternPanel key={id} id={id} />}
      </div>
      <ErrorMessage error={patternPages.loadMoreError.value} />
      <Freshness queryState={patternPages.first.state.value} />
    </>
  );
};
