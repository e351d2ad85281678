/** Metrics: charts of PromQL expressions or of a metric from the catalog, and the number of series per metric */
import { useEffect } from 'preact/hooks';
import { formatNumber, formatUnit } from '../../charts/values.ts';
import { PagedList } from '../../client/pages.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { projectScope } from '../../frame/project.ts';
import { Search } from '../../frame/search.tsx';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ListResult } from '../../lists/list-result.tsx';
import { metricsCall } from '../../search/suggest-metrics.ts';
import { cardinalityCall, type Metric } from './calls.ts';
import { MetricQuery } from './metric-query.tsx';
import { chooseDefaultFunction, selectedMetric } from './query.ts';

const pagedMetrics = new PagedList(metricsCall, ({ items }) => items);

const selectMetric = (name: string): void => {
  const metric = pagedMetrics.items.peek().find((listedMetric) => listedMetric.name === name);
  if (metric !== undefined)
    setParams({
      metric: name,
      over: chooseDefaultFunction(metric),
      promql: '',
      editor: '',
      filter: '',
      by: '',
      across: '',
    });
};

const renderCells = ({ name, type, unit, seriesCount, services, description }: Metric) => [
  <bdi key="name">{renderText(name)}</bdi>,
  type,
  <bdi key="unit">{renderText(formatUnit(unit))}</bdi>,
  formatNumber(seriesCount),
  <bdi key="services">{renderText(services.join(', '))}</bdi>,
  <bdi key="description">{renderText(description)}</bdi>,
];

const MetricTable = () => (
  <ListResult
    list={pagedMetrics}
    emptyText="No metrics in this range."
    label="Metrics"
    class="metrics"
    columns={['Name', 'Type', 'Unit', 'Series', 'Services', 'Description']}
    toKey={({ name }) => name}
    toCells={renderCells}
    openKey={selectedMetric.value}
    onOpen={selectMetric}
  />
);

const MetricsExplorer = () => {
  const { from, to } = timeRange.value;
  const search = readParam('search');
  useEffect(() => {
    pagedMetrics.load({ query: { from, to, ...projectScope.value, search, limit: 200 } });
    return () => pagedMetrics.cancel();
  }, [from, to, search, projectScope.value, refreshCount.value]);
  const { error } = pagedMetrics.first.state.value;
  return (
    <>
      <MetricQuery />
      <Search
        key={search}
        label="Search metrics"
        placeholder="Search by name or description"
        value={search}
        problem={error?.of('search')}
        onSearch={(text) => setParams({ search: text.trim() })}
      />
      {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
      <div class="list">
        <MetricTable />
      </div>
      <ErrorMessage error={pagedMetrics.loadMoreError.value} />
      <Freshness queryState={pagedMetrics.first.state.value} />
    </>
  );
};

export const Metrics = createTabbedView('Metrics', [
  { name: '', title: 'Explore', View: MetricsExplorer, requiredCall: metricsCall },
  {
    name: 'cardinality',
    title: 'Cardinality',
    requiredCall: cardinalityCall,
    View: lazyLoad(async () => (await import('./cardinality.tsx')).Cardinality),
  },
]);
