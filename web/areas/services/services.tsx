/** Services: regressions, a list or map of services, and a side panel */
import { computed } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { PagedList } from '../../client/pages.ts';
import { ApiQuery } from '../../client/query.ts';
import { Sparkline } from '../../components/sparkline.tsx';
import { readParam, readPathName, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { useEscape } from '../../frame/escape.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { toServicePage } from '../../frame/resource-links.ts';
import { Search } from '../../frame/search.tsx';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ListResult } from '../../lists/list-result.tsx';
import { type Service, serviceMapCall, servicesCall } from './calls.ts';
import {
  findSlowestDependencies,
  formatDependency,
  formatErrors,
  formatQuantile,
  formatRequests,
  getRequestMetrics,
} from './figures.ts';
import { ServicePanel } from './side-panel.tsx';

const ServiceMap = lazyLoad(async () => (await import('./map.tsx')).ServiceMap);

const pagedServices = new PagedList(servicesCall, ({ items }) => items);
const serviceMapQuery = new ApiQuery(serviceMapCall);
/** Services of the map, independent of the search */
const mapServicesQuery = new ApiQuery(servicesCall);

const sortOptions = {
  '-p95': 'p95 latency',
  '-errorRate': 'Error rate',
  '-requests': 'Requests',
  name: 'Name',
} as const;
type Sort = keyof typeof sortOptions;
const sort = computed<Sort>(() => {
  const sortKey = readParam('sort');
  return sortKey in sortOptions ? (sortKey as Sort) : '-p95';
});
const openServiceName = computed(() => readParam('service'));
const isMap = computed(() => readParam('view') === 'map');
const slowestDependencyByService = computed(() =>
  findSlowestDependencies(serviceMapQuery.state.value.response?.edges ?? []),
);
const openService = (service: string): void => setParams({ service }, { replace: openServiceName.peek() !== '' });

const toTrend = (values: readonly (number | null)[] | undefined): readonly (number | undefined)[] =>
  values?.map((value) => value ?? undefined) ?? [];

const renderCells = (service: Service) => {
  const metrics = getRequestMetrics(service);
  const slowestDependency = slowestDependencyByService.value.get(service.name);
  return [
    <Link key="name" url={toServicePage(service.name)}>
      {renderText(service.name)}
    </Link>,
    formatRequests(metrics),
    <span key="errors" class="text-error">
      {formatErrors(metrics)}
    </span>,
    formatQuantile(metrics, 'p50'),
    <b key="p95">{formatQuantile(metrics, 'p95')}</b>,
    <Sparkline key="requests" values={toTrend(service.trend?.requests)} />,
    <Sparkline key="failures" values={toTrend(service.trend?.errors)} />,
    <Sparkline key="latency" values={toTrend(service.trend?.p95)} />,
    slowestDependency === undefined ? '' : <bdi key="wait">{renderText(formatDependency(slowestDependency))}</bdi>,
  ];
};

const ServiceTable = () => (
  <ListResult
    list={pagedServices}
    emptyText="No services in this range. No telemetry with a service.name was received."
    label="Services"
    class="services"
    columns={[
      'Service',
      'Requests',
      'Errors',
      'p50',
      'p95',
      'Request trend',
      'Error trend',
      'p95 trend',
      'Slowest dependency',
    ]}
    toKey={({ name }) => name}
    toCells={renderCells}
    openKey={openServiceName.value}
    onOpen={openService}
  />
);

const loadServices = (): void => {
  const query = { ...timeRange.value, ...projectScope.value };
  if (isMap.peek()) mapServicesQuery.run({ query: { ...query, sort: '-requests', limit: 1000 } });
  else
    pagedServices.load({
      query: { ...query, search: readParam('search'), sort: sort.value, limit: 200, trend: 'true' },
    });
  serviceMapQuery.run({ query: { ...query, limit: 2000 } });
};

const SelectedService = ({ name }: { readonly name: string }) => {
  const services = isMap.value ? mapServicesQuery.state.value.response?.items : pagedServices.items.value;
  return (
    <ServicePanel
      key={name}
      name={name}
      service={services?.find((service) => service.name === name)}
      slowestDependency={slowestDependencyByService.value.get(name)}
      onClose={() => openService('')}
    />
  );
};

const ListFields = () => {
  const search = readParam('search');
  return (
    <>
      <Search
        key={search}
        label="Search services"
        placeholder="Search by name"
        value={search}
        problem={pagedServices.first.state.value.error?.of('search')}
        onSearch={(text) => setParams({ search: text.trim() })}
      />
      <label>
        Sort by{' '}
        <select value={sort.value} onChange={({ currentTarget }) => setParams({ sort: currentTarget.value })}>
          {Object.entries(sortOptions).map(([key, title]) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </>
  );
};

const ServicePage = lazyLoad(async () => (await import('./details-page.tsx')).ServicePage);

/** Name of the service whose page is displayed; empty for the list */
const pageServiceName = computed(() => readPathName(1));

export const Services = () =>
  pageServiceName.value === '' ? <ServiceOverview /> : <ServicePage name={pageServiceName.value} />;

const ServiceOverview = () => {
  const { from, to } = timeRange.value;
  const search = readParam('search');
  useEffect(() => {
    loadServices();
    return () => {
      for (const query of [pagedServices, serviceMapQuery, mapServicesQuery]) query.cancel();
    };
  }, [from, to, search, sort.value, isMap.value, projectScope.value, refreshCount.value]);
  useEscape(() => {
    if (openServiceName.peek() !== '') openService('');
  });
  const activeState = isMap.value ? mapServicesQuery.state : pagedServices.first.state;
  const { error } = activeState.value;
  const name = openServiceName.value;
  return (
    <div class="logs">
      <h1 class="sr-only">Services</h1>
      <div class="toolbar">
        <button
          type="button"
          class="plain"
          aria-pressed={isMap.value}
          onClick={() => setParams({ view: isMap.value ? '' : 'map' })}
        >
          Map
        </button>
        {isMap.value ? null : <ListFields />}
      </div>
      {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
      <div class={name === '' ? 'list' : 'list with-record'}>
        {isMap.value ? (
          <ServiceMap map={serviceMapQuery} services={mapServicesQuery} openServiceName={name} onOpen={openService} />
        ) : (
          <ServiceTable />
        )}
        {name === '' ? null : <SelectedService name={name} />}
      </div>
      <ErrorMessage error={isMap.value ? undefined : pagedServices.loadMoreError.value} />
      <Freshness queryState={isMap.value ? serviceMapQuery.state.value : activeState.value} />
    </div>
  );
};
