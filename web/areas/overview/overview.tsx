/** Overview, the home of the page: is everything healthy, what needs attention, and what changed */
import { ChevronRight, CircleCheck, Lightbulb, Radar, Rocket } from 'lucide';
import { useEffect } from 'preact/hooks';
import type { showOnboarding } from '../../../api/groups/onboarding/checklist.ts';
import type { listEvents } from '../../../api/groups/overview/events.ts';
import type { listOverviewSeries, showOverview } from '../../../api/groups/overview/overview.ts';
import type { listServices } from '../../../api/groups/services/list.ts';
import { formatQuantity } from '../../charts/values.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Icon } from '../../components/icon.tsx';
import { Skeleton, SkeletonRows } from '../../components/skeleton.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { StatTile } from '../../components/stat-tile.tsx';
import { formatChangeTitle } from '../../frame/action-titles.ts';
import { navigate, toArea } from '../../frame/address.ts';
import { toColorClass } from '../../frame/colors.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatDay, formatShortTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { toResourcePage, toServicePage } from '../../frame/resource-links.ts';
import { isPermitted } from '../../frame/rights.ts';
import { setRange, timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { suggestionsCall } from '../ask/calls.ts';
import { getLatencyQuantile, getRequestMetrics } from '../services/figures.ts';
import { type AttentionItem, attentionTitles } from './attention-titles.ts';

const overviewCall = declareCall<typeof showOverview>('GET', '/api/overview');
const seriesCall = declareCall<typeof listOverviewSeries>('GET', '/api/overview/timeseries');
const eventsCall = declareCall<typeof listEvents>('GET', '/api/events');
const servicesCall = declareCall<typeof listServices>('GET', '/api/services');
const onboardingCall = declareCall<typeof showOnboarding>('GET', '/api/onboarding');

type Overview = ResponseBody<typeof showOverview>;
type CounterName = keyof Overview['counters'];
type SeriesResult = ResponseBody<typeof listOverviewSeries>;
type Service = ResponseBody<typeof listServices>['items'][number];

const useScopedQuery = () => ({ ...timeRange.value, ...projectScope.value });

/** Tiles: the counter, its series, and the page with its details */
const tiles: readonly {
  readonly title: string;
  readonly counter: CounterName;
  readonly isWorse: 'up' | 'neither';
  readonly unit: string;
  toUrl(): string;
}[] = [
  {
    title: 'Requests',
    counter: 'requests',
    isWorse: 'neither',
    unit: '',
    toUrl: () => toArea('/services', { sort: '-requests' }),
  },
  {
    title: 'Error rate',
    counter: 'errorRate',
    isWorse: 'up',
    unit: '%',
    toUrl: () => toArea('/services', { sort: '-errorRate' }),
  },
  {
    title: 'p95 latency',
    counter: 'p95',
    isWorse: 'up',
    unit: 'ns',
    toUrl: () => toArea('/services', { sort: '-p95' }),
  },
  {
    title: 'Error logs',
    counter: 'errorLogs',
    isWorse: 'up',
    unit: '',
    toUrl: () => toArea('/logs', { search: 'severity:>=error' }),
  },
];

/** Returns the values of complete steps. */
const readTrend = (result: SeriesResult | undefined, name: string): readonly (number | undefined)[] =>
  result?.series
    .find((series) => series.name === name)
    ?.points.filter(([at]) => !result.partialSteps.includes(at))
    .map(([, value]) => (typeof value === 'number' ? value : undefined)) ?? [];

const Tiles = ({ overview }: { readonly overview: Overview | undefined }) => {
  const { response: series } = useQuery(seriesCall, { query: useScopedQuery() });
  return (
    <div class="columns tiles">
      {tiles.map(({ title, counter: name, isWorse, unit, toUrl }) => {
        const { value, change } = overview?.counters[name] ?? {};
        const known = typeof value === 'number' ? value : undefined;
        return (
          <StatTile
            key={name}
            title={title}
            value={known === undefined ? '–' : formatQuantity(unit === '%' ? 100 * known : known, unit)}
            change={typeof change === 'number' ? change : undefined}
            note={
              typeof value === 'object'
                ? renderText(value.reason)
                : overview === undefined
                  ? 'Loading…'
                  : 'no earlier data'
            }
            isWorse={isWorse}
            trend={readTrend(series, name)}
            url={toUrl()}
          />
        );
      })}
    </div>
  );
};

const criticalKinds: ReadonlySet<AttentionItem['kind']> = new Set([
  'incident',
  'slo-burning',
  'check-failing',
  'service-errors',
  'full-disk',
  'platform',
]);
const toTone = ({ kind }: AttentionItem): Tone => (criticalKinds.has(kind) ? 'critical' : 'warning');

const AttentionRow = ({ item }: { readonly item: AttentionItem }) => {
  const url = toResourcePage(item.detail);
  const content = (
    <>
      <Badge tone={toTone(item)}>{attentionTitles[item.kind]}</Badge>
      <span class="item-text">
        <b>{renderText(item.name)}</b>
        <small>{renderText(item.reason)}</small>
      </span>
      {url === undefined ? null : <Icon shape={ChevronRight} />}
    </>
  );
  return (
    <li>
      {url === undefined ? (
        <div class="item">{content}</div>
      ) : (
        <a class="item" href={url} data-page-link>
          {content}
        </a>
      )}
    </li>
  );
};

const NeedsAttention = ({ overview }: { readonly overview: Overview | undefined }) => {
  const { items = [], unknown = [] } = overview?.attention ?? {};
  return (
    <Card title="Needs attention" note={items.length === 0 ? undefined : items.length} isFlush>
      {overview === undefined ? (
        <Skeleton lines={6} />
      ) : items.length === 0 ? (
        <p class="all-clear">
          <Icon shape={CircleCheck} /> No regressions against the previous period
        </p>
      ) : (
        <ul class="items">
          {items.map((item) => (
            <AttentionRow key={`${item.kind} ${item.detail} ${item.name}`} item={item} />
          ))}
        </ul>
      )}
      {unknown.map(({ kind, reason }) => (
        <p key={kind} class="soft card-text">
          {attentionTitles[kind]}: no data ({renderText(reason)})
        </p>
      ))}
    </Card>
  );
};

const eventTones: Readonly<Record<string, Tone>> = {
  critical: 'critical',
  error: 'critical',
  warning: 'warning',
  info: 'neutral',
};

/** Kinds of events that change a system. Signals and changes of files belong to Security. */
const changeKinds = 'deployment,config,custom,incident,alert,anomaly,check';

const RecentChanges = () => {
  const { response, error } = useQuery(eventsCall, { query: { ...useScopedQuery(), kinds: changeKinds, limit: 8 } });
  return (
    <Card
      title="Recent changes"
      isFlush
      actions={
        <ButtonLink kind="quiet" url={toArea('/events')}>
          View all
        </ButtonLink>
      }
    >
      <ErrorMessage error={error} />
      {response === undefined && error === undefined ? <Skeleton lines={5} /> : null}
      {response?.items.length === 0 ? (
        <p class="soft card-text">No deployments, alerts or configuration changes in this range.</p>
      ) : null}
      <ul class="items">
        {response?.items.map(({ id, kind, title, time, severity, service }) => (
          <li key={`${kind} ${id}`}>
            <a class="item" href={toArea('/events', { open: `${kind} ${id}` })} data-page-link>
              <Badge tone={eventTones[severity] ?? 'neutral'}>{kind}</Badge>
              <span class="item-text">
                <b>{renderText(formatChangeTitle(title))}</b>
                <small>
                  {service === '' ? null : <>{renderText(service)} · </>}
                  {formatDay(Date.parse(time))}, {formatShortTime(Date.parse(time))}
                </small>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
};

const toTrend = (values: readonly (number | null)[] | undefined): readonly (number | undefined)[] =>
  values?.map((value) => value ?? undefined) ?? [];

const ServiceRow = ({ service, seconds }: { readonly service: Service; readonly seconds: number }) => {
  const metrics = getRequestMetrics(service);
  const errorRate = metrics === undefined || metrics.requests === 0 ? undefined : metrics.errors / metrics.requests;
  const { trend } = service;
  return (
    <tr>
      <td>
        <a class="dot-name" href={toServicePage(service.name)} data-page-link>
          <span class={`dot ${toColorClass(service.name)}`} />
          {renderText(service.name)}
        </a>
      </td>
      <td>{metrics === undefined ? '–' : formatQuantity(metrics.requests / seconds, '{request}/s')}</td>
      <td class="trend-cell">
        <Sparkline values={toTrend(trend?.requests)} />
      </td>
      <td class={errorRate !== undefined && errorRate > 0 ? 'text-error' : ''}>
        {errorRate === undefined ? '–' : formatQuantity(100 * errorRate, '%')}
      </td>
      <td class="trend-cell errors">
        <Sparkline values={toTrend(trend?.errors)} />
      </td>
      <td>{formatQuantity(getLatencyQuantile(metrics, 'p95'), 'ns') || '–'}</td>
      <td class="trend-cell latency">
        <Sparkline values={toTrend(trend?.p95)} />
      </td>
    </tr>
  );
};

const ServicesCard = () => {
  const { response, error } = useQuery(servicesCall, {
    query: { ...useScopedQuery(), sort: '-requests', limit: 8, trend: 'true' },
  });
  const seconds =
    response === undefined ? 1 : Math.max(1, (Date.parse(response.to) - Date.parse(response.from)) / 1000);
  return (
    <Card
      title="Services"
      note="by requests"
      isFlush
      actions={
        <ButtonLink kind="quiet" url={toArea('/services')}>
          View all
        </ButtonLink>
      }
    >
      <ErrorMessage error={error} />
      {response === undefined ? (
        error === undefined ? (
          <Skeleton lines={6} />
        ) : null
      ) : (
        <table class="figures of-requests">
          <thead>
            <tr>
              <th scope="col">Service</th>
              <th scope="col" colSpan={2}>
                Request rate
              </th>
              <th scope="col" colSpan={2}>
                Error rate
              </th>
              <th scope="col" colSpan={2}>
                p95 latency
              </th>
            </tr>
          </thead>
          <tbody>
            {response.items.map((service) => (
              <ServiceRow key={service.name} service={service} seconds={seconds} />
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
};

/** Without data in the range; a new installation opens Get started instead. */
const NoData = () => {
  const { response } = useQuery(onboardingCall, {});
  const isNew = response?.steps.every(({ id, isDone }) => !id.startsWith('send-') || !isDone);
  useEffect(() => {
    if (isNew === true) navigate(toArea('/get-started'), { replace: true });
  }, [isNew]);
  if (response === undefined || isNew === true) return <SkeletonRows />;
  return (
    <div class="card">
      <EmptyState
        icon={Radar}
        title="No telemetry in this range"
        actions={
          <>
            <Button kind="primary" onClick={() => setRange({ from: 'now-7d', to: 'now' })}>
              Show last 7 days
            </Button>
            <ButtonLink icon={Rocket} url={toArea('/get-started')}>
              Get started
            </ButtonLink>
          </>
        }
      >
        Neither logs nor traces were received in the selected time range.
      </EmptyState>
    </div>
  );
};

export const OverviewPage = () => {
  const { response, error } = useQuery(overviewCall, { query: { ...useScopedQuery(), attention: 'true' } });
  const hasData = response === undefined || typeof response.lastRecord === 'string';
  return (
    <div class="page">
      <div class="page-head">
        <h1>Overview</h1>
        <p class="soft">compared with the previous period</p>
        <span class="grow" />
        {isPermitted(suggestionsCall) ? (
          <ButtonLink icon={Lightbulb} url={toArea('/ask/suggestions')}>
            Suggestions
          </ButtonLink>
        ) : null}
      </div>
      <ErrorMessage error={error} />
      {hasData ? null : <NoData />}
      {hasData ? (
        <>
          <Tiles overview={response} />
          <div class="columns wide-first">
            <NeedsAttention overview={response} />
            <RecentChanges />
          </div>
        </>
      ) : null}
      {hasData && isPermitted(servicesCall) ? <ServicesCard /> : null}
    </div>
  );
};
