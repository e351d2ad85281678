/** Metrics: PromQL or one metric of the catalogue as a chart, and the number of series per metric */
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
import { chosen, defaultOverTime } from './query.ts';

const catalogue = new Paged(metricsCall, ({ items }) => items);

const setChosen = (name: string): void => {
  const metric = catalogue.items.peek().find((each) => each.name === name);
  if (metric !== undefined) change({ metric: name, over: defaultOverTime(metric), promql: '', by: '' });
};

const cellsOf = ({ name, type, unit, seriesCount, services, description }: Metric) => [
  <bdi key="name">{shownText(name)}</bdi>,
  type,
  <bdi key="unit">{shownText(unit)}</bdi>,
  String(seriesCount),
  <bdi key="services">{shownText(services.join(', '))}</bdi>,
  <bdi key="description">{shownText(description)}</bdi>,
];

const Listed = () => (
  <Found
    of={catalogue}
    nothing="No metrics in this range."
    label="Metrics"
    class="metrics"
    columns={['Name', 'Type', 'Unit', 'Series', 'Services', 'Description']}
    keyOf={({ name }) => name}
    cellsOf={cellsOf}
    open={chosen.value}
    onOpen={setChosen}
  />
);

const Explore = () => {
  const { from, to } = writtenRange.value;
  const search = inAddress('search');
  useEffect(() => {
    catalogue.load({ query: { from, to, ...projectScope.value, search, limit: 200 } });
    return () => catalogue.cancel();
  }, [from, to, search, projectScope.value, refreshes.value]);
  const { error } = catalogue.first.state.value;
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
        <Listed />
      </div>
      <Problem error={catalogue.furtherError.value} />
      <Freshness of={catalogue.first.state.value} />
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
