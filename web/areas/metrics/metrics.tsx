/** Metrics: charts of PromQL expressions or of a metric from the catalog, and the number of series per metric */
import { useEffect } from 'preact/hooks';
import { Paged } from '../../client/pages.ts';
import { change, inAddress } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { partsOf } from '../../frame/parts.tsx';
import { projectScope } from '../../frame/project.ts';
import { Search } from '../../frame/search.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Found } from '../../lists/empty-state.tsx';
import { MetricQuery } from './answer.tsx';
import { cardinalityCall, type Metric, metricsCall } from './calls.ts';
import { defaultTimeFunction, selectedMetric } from './query.ts';

const metricPages = new Paged(metricsCall, ({ items }) => items);

const selectMetric = (name: string): void => {
  const metric = metricPages.items.peek().find((each) => each.name === name);
  if (metric !== undefined) change({ metric: name, over: defaultTimeFunction(metric), promql: '', by: '' });
};

const renderCells = ({ name, type, unit, seriesCount, services, description }: Metric) => [
  <bdi key="name">{shownText(name)}</bdi>,
  type,
  <bdi key="unit">{shownText(unit)}</bdi>,
  String(seriesCount),
  <bdi key="services">{shownText(services.join(', '))}</bdi>,
  <bdi key="description">{shownText(description)}</bdi>,
];

const MetricTable = () => (
  <Found
    of={metricPages}
    nothing="No metrics in this range."
    label="Metrics"
    class="metrics"
    columns={['Name', 'Type', 'Unit', 'Series', 'Services', 'Description']}
    keyOf={({ name }) => name}
    cellsOf={renderCells}
    open={selectedMetric.value}
    onOpen={selectMetric}
  />
);

const Explore = () => {
  const { from, to } = writtenRange.value;
  const search = inAddress('search');
  useEffect(() => {
    metricPages.load({ query: { from, to, ...projectScope.value, search, limit: 200 } });
    return () => metricPages.cancel();
  }, [from, to, search, projectScope.value, refreshes.value]);
  const { error } = metricPages.first.state.value;
  return (
    <>
      <MetricQuery />
      <Search
        key={search}
        label="Search metrics"
        placeholder="Search by name or description"
        value={search}
        problem={error?.of('search')}
        onSearch={(text) => change({ search: text.trim() })}
      />
      {error?.of('search') === undefined ? <Problem error={error} /> : null}
      <div class="list">
        <MetricTable />
      </div>
      <Problem error={metricPages.furtherError.value} />
      <Freshness of={metricPages.first.state.value} />
    </>
  );
};

export const Metrics = partsOf('Metrics', [
  { name: '', title: 'Explore', View: Explore, requiredCall: metricsCall },
  {
    name: 'cardinality',
    title: 'Cardinality',
    requiredCall: cardinalityCall,
    View: later(async () => (await import('./cardinality.tsx')).Cardinality),
  },
]);
