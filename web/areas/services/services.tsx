/** Services: regressions, the list with the slowest first, and a side panel */
import { computed } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Paged } from '../../client/pages.ts';
import { ApiQuery } from '../../client/query.ts';
import { change, inAddress } from '../../frame/address.ts';
import { useEscape } from '../../frame/escape.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { projectScope } from '../../frame/project.ts';
import { Search } from '../../frame/search.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Found } from '../../lists/empty-state.tsx';
import { Attention } from './attention.tsx';
import { mapCall, overviewCall, type Service, servicesCall } from './calls.ts';
import {
  figuresOf,
  quantileOf,
  shownErrors,
  shownQuantile,
  shownRequests,
  shownWait,
  slowestEdges,
} from './figures.ts';
import { OpenService } from './side-panel.tsx';

const ServiceMap = later(async () => (await import('./map.tsx')).ServiceMap);

const list = new Paged(servicesCall, ({ items }) => items);
const map = new ApiQuery(mapCall);
const overview = new ApiQuery(overviewCall);
/** Services of the map, independent of the search */
const all = new ApiQuery(servicesCall);

const sorts = {
  '-p95': 'p95 latency',
  '-errorRate': 'Error rate',
  '-requests': 'Requests',
  name: 'Name',
} as const;
type Sort = keyof typeof sorts;
const sort = computed<Sort>(() => {
  const written = inAddress('sort');
  return written in sorts ? (written as Sort) : '-p95';
});
const open = computed(() => inAddress('service'));
const isMap = computed(() => inAddress('view') === 'map');
const waits = computed(() => slowestEdges(map.state.value.answer?.edges ?? []));
const maxDuration = computed(() =>
  Math.max(1, ...list.items.value.map((service) => quantileOf(figuresOf(service), 'p95') ?? 0)),
);

const setOpen = (service: string): void => change({ service }, { replace: open.peek() !== '' });

const Bar = ({ of }: { readonly of: number }) => (
  <span class="track">
    <span class="bar" style={{ width: `${(of / maxDuration.value) * 100}%` }} />
  </span>
);

const cellsOf = (service: Service) => {
  const figures = figuresOf(service);
  const wait = waits.value.get(service.name);
  return [
    <bdi key="name">{shownText(service.name)}</bdi>,
    shownRequests(figures),
    <span key="errors" class="text-error">
      {shownErrors(figures)}
    </span>,
    shownQuantile(figures, 'p50'),
    <b key="p95">{shownQuantile(figures, 'p95')}</b>,
    <Bar key="bar" of={quantileOf(figures, 'p95') ?? 0} />,
    wait === undefined ? '' : <bdi key="wait">{shownText(shownWait(wait))}</bdi>,
  ];
};

const Listed = () => (
  <Found
    of={list}
    nothing="No services in this range: no telemetry with a service.name was received."
    label="Services"
    class="services"
    columns={['Service', 'Requests', 'Errors', 'p50', 'p95', 'Latency', 'Slowest dependency']}
    keyOf={({ name }) => name}
    cellsOf={cellsOf}
    open={open.value}
    onOpen={setOpen}
  />
);

const load = (): void => {
  const query = { ...writtenRange.value, ...projectScope.value };
  if (isMap.peek()) all.run({ query: { ...query, sort: '-requests', limit: 1000 } });
  else list.load({ query: { ...query, search: inAddress('search'), sort: sort.value, limit: 200 } });
  map.run({ query: { ...query, limit: 2000 } });
  overview.run({ query: { ...query, attention: 'true' } });
};

const Chosen = ({ name }: { readonly name: string }) => {
  const found = isMap.value ? all.state.value.answer?.items : list.items.value;
  return (
    <OpenService
      key={name}
      name={name}
      service={found?.find((service) => service.name === name)}
      wait={waits.value.get(name)}
      onClose={() => setOpen('')}
    />
  );
};

const ListFields = () => {
  const search = inAddress('search');
  return (
    <>
      <Search
        key={search}
        label="Search services"
        placeholder="Search by name"
        value={search}
        problem={list.first.state.value.error?.of('search')}
        onSearch={(text) => change({ search: text.trim() })}
      />
      <label>
        Sort by{' '}
        <select value={sort.value} onChange={({ currentTarget }) => change({ sort: currentTarget.value })}>
          {Object.entries(sorts).map(([key, title]) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </>
  );
};

export const Services = () => {
  const { from, to } = writtenRange.value;
  const search = inAddress('search');
  useEffect(() => {
    load();
    return () => {
      for (const question of [list, map, overview, all]) question.cancel();
    };
  }, [from, to, search, sort.value, isMap.value, projectScope.value, refreshes.value]);
  useEscape(() => {
    if (open.peek() !== '') setOpen('');
  });
  const activeState = isMap.value ? all.state : list.first.state;
  const { error } = activeState.value;
  const name = open.value;
  return (
    <div class="logs">
      <h1 class="sr-only">Services</h1>
      <Attention of={overview} />
      <div class="toolbar">
        <button
          type="button"
          class="plain"
          aria-pressed={isMap.value}
          onClick={() => change({ view: isMap.value ? '' : 'map' })}
        >
          Map
        </button>
        {isMap.value ? null : <ListFields />}
      </div>
      {error?.of('search') === undefined ? <Problem error={error} /> : null}
      <div class={name === '' ? 'list' : 'list with-record'}>
        {isMap.value ? <ServiceMap map={map} services={all} open={name} onOpen={setOpen} /> : <Listed />}
        {name === '' ? null : <Chosen name={name} />}
      </div>
      <Problem error={isMap.value ? undefined : list.furtherError.value} />
      <Freshness of={isMap.value ? map.state.value : activeState.value} />
    </div>
  );
};
