/** Page of a service: request rate, error rate and latency side by side, and its operations, dependencies and instances */
import { Bell, GitCompareArrows, ScrollText, Waypoints } from 'lucide';
import { useMemo } from 'preact/hooks';
import type { listErrors } from '../../../api/groups/errors/list.ts';
import type { listDependencies } from '../../../api/groups/services/dependencies.ts';
import type { listServiceDeployments } from '../../../api/groups/services/list-deployments.ts';
import type { listServiceSeries } from '../../../api/groups/services/timeseries.ts';
import { ChartCard } from '../../charts/chart-card.tsx';
import type { LineChartProps } from '../../charts/lines.tsx';
import { formatQuantity } from '../../charts/values.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { readParam, toArea, toChangedUrl } from '../../frame/address.ts';
import { toColorClass } from '../../frame/colors.ts';
import { toCondition } from '../../frame/conditions.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { toServicePage } from '../../frame/resource-links.ts';
import { comparesPrevious, setComparesPrevious, timeRange, toMilliseconds } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import type { Edge } from './calls.ts';
import { Deployments } from './deployments.tsx';
import { ServiceInstances } from './instances.tsx';
import { Operations } from './operations.tsx';
import { isTabPermitted, LogsTab, SlosTab, TracesTab } from './signal-tabs.tsx';

const ProbableCauses = lazyLoad(async () => (await import('../../lists/causes.tsx')).Causes);

const seriesCall = declareCall<typeof listServiceSeries>('GET', '/api/services/{name}/timeseries');
const deploymentsCall = declareCall<typeof listServiceDeployments>('GET', '/api/services/{name}/deployments');
const dependenciesCall = declareCall<typeof listDependencies>('GET', '/api/dependencies');
const errorsCall = declareCall<typeof listErrors>('GET', '/api/errors');

type SeriesResult = ResponseBody<typeof listServiceSeries>;
type ChartData = Omit<LineChartProps, 'title' | 'height' | 'hasDataTable'>;

/** Series of a chart: its name in the API, its name in the legend, and its color */
type ChartSeries = readonly (readonly [name: string, title: string, color: string])[];

/** Returns the values of a series; rates between 0 and 1 in percent. */
const readValues = (result: SeriesResult, name: string, factor: number): readonly (number | undefined)[] =>
  result.series
    .find((series) => series.name === name)
    ?.points.map(([, value]) => (typeof value === 'number' ? factor * value : undefined)) ?? [];

const buildChart = (
  [now, previous]: readonly [SeriesResult | undefined, SeriesResult | undefined],
  series: ChartSeries,
  unit: string,
  marks: ChartData['marks'],
): ChartData | undefined => {
  if (now === undefined) return undefined;
  const factor = unit === '%' ? 100 : 1;
  const steps = now.series[0]?.points.map(([at]) => at) ?? [];
  const lines = series.map(([name, title, colorName]) => ({
    name: title,
    values: readValues(now, name, factor),
    colorName,
  }));
  const [name = '', title = ''] = series.at(-1) ?? [];
  const earlier =
    previous === undefined
      ? []
      : [
          {
            name: series.length > 1 ? `${title}, previous` : 'Previous period',
            // The ranges are equally long, so the steps correspond by their position.
            values: readValues(previous, name, factor).slice(0, steps.length),
            colorName: 'grey',
            isEarlier: true,
          },
        ];
  return { unit, steps, stepMs: now.stepMs ?? 0, partialSteps: now.partialSteps, lines: [...lines, ...earlier], marks };
};

/** Returns the range of the same length before the displayed one. */
const getPreviousRange = (): { readonly from: string; readonly to: string } => {
  const [from, to] = [toMilliseconds(timeRange.value.from) ?? 0, toMilliseconds(timeRange.value.to, 'end') ?? 0];
  return { from: new Date(2 * from - to).toISOString(), to: new Date(from - 1).toISOString() };
};

const useServiceSeries = (name: string, range: { readonly from: string; readonly to: string }) =>
  useQuery(seriesCall, { params: { name }, query: { ...range, ...projectScope.value } });

const PreviousSeries = ({
  name,
  children,
}: {
  readonly name: string;
  readonly children: (previous: SeriesResult | undefined) => preact.ComponentChildren;
}) => {
  const previousRange = useMemo(getPreviousRange, [timeRange.value]);
  return <>{children(useServiceSeries(name, previousRange).response)}</>;
};

const ServiceCharts = ({ name }: { readonly name: string }) => {
  const queryState = useServiceSeries(name, timeRange.value);
  const { response: deployments } = useQuery(deploymentsCall, {
    params: { name },
    query: { ...timeRange.value, ...projectScope.value },
  });
  const marks = useMemo(
    () =>
      (deployments?.items ?? []).map(({ time, version }) => ({
        at: Date.parse(time),
        title: `Deployment ${version}`.trim(),
      })),
    [deployments],
  );
  const search = `${toCondition('service', name)} kind:server`;
  const scope = 'projectId' in projectScope.value ? { projectId: projectScope.value.projectId } : {};
  const { response, error } = queryState;
  const renderCharts = (previous: SeriesResult | undefined) => {
    const results = [response, previous] as const;
    return (
      <div class="columns three">
        <ChartCard
          title="Request rate"
          chart={buildChart(results, [['rate', 'Requests', 'blue']], '{request}/s', marks)}
          query={{ kind: 'aggregate', signal: 'traces', search, measures: [{ function: 'count' }], ...scope }}
        />
        <ChartCard
          title="Error rate"
          chart={buildChart(results, [['errorRate', 'Errors', 'red']], '%', marks)}
          query={{
            kind: 'aggregate',
            signal: 'traces',
            search: `${search} status:error`,
            measures: [{ function: 'count' }],
            ...scope,
          }}
        />
        <ChartCard
          title="Latency"
          chart={buildChart(
            results,
            [
              ['p50', 'p50', 'green'],
              ['p99', 'p99', 'purple'],
              ['p95', 'p95', 'orange'],
            ],
            'ns',
            marks,
          )}
          query={{
            kind: 'aggregate',
            signal: 'traces',
            search,
            measures: [{ function: 'percentile', field: 'duration', percentile: 95 }],
            ...scope,
          }}
        />
      </div>
    );
  };
  return (
    <>
      <ErrorMessage error={error} />
      {comparesPrevious.value ? <PreviousSeries name={name}>{renderCharts}</PreviousSeries> : renderCharts(undefined)}
      <Freshness queryState={queryState} />
    </>
  );
};

const getNodeName = ({ name, system, kind }: Edge['server']): string => name || system || kind;

const ShareBar = ({ share, colorClass }: { readonly share: number; readonly colorClass: string }) => (
  <span class={`share-bar ${colorClass}`}>
    <span style={{ width: `${Math.min(100, 100 * share)}%` }} />
  </span>
);

/** Dependencies with their share of the time that the service waits for all of them */
const TimeSpent = ({ edges }: { readonly edges: readonly Edge[] }) => {
  const timed = edges
    .map((edge) => ({ edge, time: edge.requests * (edge.duration?.mean ?? 0) }))
    .filter(({ time }) => time > 0)
    .sort((left, right) => right.time - left.time);
  const total = timed.reduce((sum, { time }) => sum + time, 0);
  if (timed.length === 0) return <p class="soft">No calls to dependencies in this range.</p>;
  return (
    <ul class="time-spent">
      {timed.slice(0, 6).map(({ edge: { server, via, duration }, time }) => (
        <li key={`${server.id} ${via}`}>
          <span>
            {server.kind === 'service' ? (
              <Link url={toServicePage(server.name)}>{renderText(server.name)}</Link>
            ) : (
              renderText(getNodeName(server))
            )}
            <small>{duration === null ? '' : `p95 ${formatQuantity(duration.p95, 'ns')}`}</small>
            <b>{Math.round((100 * time) / total)} %</b>
          </span>
          <ShareBar share={time / total} colorClass={toColorClass(getNodeName(server))} />
        </li>
      ))}
    </ul>
  );
};

const formatEdgeRate = ({ ratePerSecond }: Edge): string => formatQuantity(ratePerSecond, '{request}/s');

const NodeName = ({ node }: { readonly node: Edge['server'] }) => {
  if (node.kind === 'service') return <Link url={toServicePage(node.name)}>{renderText(node.name)}</Link>;
  return <>{renderText(node.kind === 'user' ? 'Users' : getNodeName(node))}</>;
};

const EdgeRow = ({ edge, node }: { readonly edge: Edge; readonly node: Edge['server'] }) => {
  const { duration, errors, errorRate } = edge;
  return (
    <tr>
      <td>
        <span class={`dot ${toColorClass(getNodeName(node))}`} /> <NodeName node={node} />
      </td>
      <td>{renderText(node.system || node.kind)}</td>
      <td>{formatEdgeRate(edge)}</td>
      <td class={errors > 0 ? 'text-error' : ''}>{formatQuantity(100 * errorRate, '%')}</td>
      <td>{duration === null ? '–' : formatQuantity(duration.p50, 'ns')}</td>
      <td>{duration === null ? '–' : formatQuantity(duration.p95, 'ns')}</td>
    </tr>
  );
};

const EdgeTable = ({
  title,
  edges,
  end,
}: {
  readonly title: string;
  readonly edges: readonly Edge[];
  /** End of the edges that the table names */
  readonly end: 'client' | 'server';
}) => (
  <Card title={title} isFlush>
    {edges.length === 0 ? (
      <p class="soft card-text">None in this range.</p>
    ) : (
      <table class="figures of-requests">
        <TableHeader columns={['Name', 'Type', 'Requests', 'Error rate', 'p50', 'p95']} />
        <tbody>
          {edges.map((edge) => (
            <EdgeRow key={`${edge[end].id} ${edge.connection} ${edge.via}`} edge={edge} node={edge[end]} />
          ))}
        </tbody>
      </table>
    )}
  </Card>
);

const useEdges = (name: string) =>
  useQuery(dependenciesCall, { query: { ...timeRange.value, ...projectScope.value, service: name, limit: 200 } });

const OperationsTab = ({ name }: { readonly name: string }) => {
  const { response, error } = useEdges(name);
  return (
    <div class="columns wide-first">
      <Card title="Operations" note="slowest first" isFlush>
        <Operations name={name} />
      </Card>
      <Card title="Time spent in" note="share of the time in dependencies">
        <ErrorMessage error={error} />
        {response === undefined ? (
          <Skeleton />
        ) : (
          <TimeSpent edges={response.items.filter(({ client }) => client.name === name)} />
        )}
      </Card>
    </div>
  );
};

const DependenciesTab = ({ name }: { readonly name: string }) => {
  const { response, error } = useEdges(name);
  if (response === undefined) return error === undefined ? <Skeleton /> : <ErrorMessage error={error} />;
  return (
    <>
      <EdgeTable
        title="Dependencies"
        end="server"
        edges={response.items.filter(({ client }) => client.name === name)}
      />
      <EdgeTable title="Callers" end="client" edges={response.items.filter(({ server }) => server.name === name)} />
    </>
  );
};

const ErrorsTab = ({ name }: { readonly name: string }) => {
  const { response, error } = useQuery(errorsCall, {
    query: { ...timeRange.value, ...projectScope.value, service: name, limit: 50 },
  });
  if (response === undefined) return error === undefined ? <Skeleton /> : <ErrorMessage error={error} />;
  return (
    <Card title="Errors" isFlush>
      {response.items.length === 0 ? (
        <p class="soft card-text">No errors in this range.</p>
      ) : (
        <table class="figures texts">
          <TableHeader columns={['Error', 'Status', 'Events', 'First seen', 'Last seen']} />
          <tbody>
            {response.items.map(({ id, type, message, status, isNew, count, firstSeen, lastSeen }) => (
              <tr key={id}>
                <td>
                  <Link url={toArea('/errors', { error: id })}>
                    <b>{renderText(type ?? 'Error')}</b> {renderText(message)}
                  </Link>
                </td>
                <td>
                  <Badge tone={isNew ? 'critical' : status === 'unresolved' ? 'warning' : 'neutral'}>
                    {isNew ? 'New' : status}
                  </Badge>
                </td>
                <td class="number">{count}</td>
                <td>{formatIsoSecond(firstSeen)}</td>
                <td>{formatIsoSecond(lastSeen)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
};

const tabs = {
  '': ['Operations', OperationsTab],
  dependencies: ['Dependencies', DependenciesTab],
  errors: ['Errors', ErrorsTab],
  deployments: [
    'Deployments',
    ({ name }: { readonly name: string }) => (
      <div class="card padded">
        <Deployments name={name} />
      </div>
    ),
  ],
  instances: [
    'Instances',
    ({ name }: { readonly name: string }) => (
      <div class="card padded">
        <ServiceInstances name={name} />
      </div>
    ),
  ],
  logs: ['Logs', LogsTab],
  traces: ['Traces', TracesTab],
  slos: ['SLOs', SlosTab],
  'root-cause': [
    'Root cause',
    ({ name }: { readonly name: string }) => (
      <div class="card padded">
        <ProbableCauses symptom={{ service: name, ...timeRange.value }} />
      </div>
    ),
  ],
} as const;

export const ServicePage = ({ name }: { readonly name: string }) => {
  const tabName = readParam('tab') as keyof typeof tabs;
  const [, Tab] = tabs[tabName] ?? tabs[''];
  const condition = toCondition('service', name);
  if (name === '') return <EmptyState icon={Waypoints} title="Service not found" />;
  return (
    <div class="page">
      <div class="page-head">
        <span class={`dot ${toColorClass(name)}`} />
        <h1>{renderText(name)}</h1>
        <span class="grow" />
        <Button
          kind="quiet"
          icon={GitCompareArrows}
          aria-pressed={comparesPrevious.value}
          onClick={() => setComparesPrevious(!comparesPrevious.value)}
        >
          Compare
        </Button>
        <ButtonLink icon={ScrollText} url={toArea('/logs', { search: condition })}>
          View logs
        </ButtonLink>
        <ButtonLink icon={Waypoints} url={toArea('/traces', { search: condition })}>
          View traces
        </ButtonLink>
        <ButtonLink
          icon={Bell}
          url={toArea('/alerts/rule', {
            name: `p95 of ${name}`,
            query: JSON.stringify({
              kind: 'aggregate',
              signal: 'traces',
              search: `${condition} kind:server`,
              measures: [{ function: 'percentile', field: 'duration', percentile: 95 }],
            }),
          })}
        >
          Create alert
        </ButtonLink>
      </div>
      <ServiceCharts key={name} name={name} />
      <Tabs
        label={`Details of ${name}`}
        tabs={Object.entries(tabs)
          .filter(([key]) => isTabPermitted(key))
          .map(([key, [title]]) => ({
            title,
            url: toChangedUrl({ tab: key }),
            isCurrent: key === (tabName in tabs ? tabName : ''),
          }))}
      />
      <Tab key={name} name={name} />
    </div>
  );
};
