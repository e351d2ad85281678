/** Side panel of a service: requests over time, operations, deployments, instances, and links to its traces and logs */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { QueryLinks } from '../../editors/put-on-dashboard.tsx';
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { timeRange } from '../../frame/time-range.ts';
import { SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Edge, endpointsCall, type Service } from './calls.ts';
import { Deployments } from './deployments.tsx';
import {
  buildSlowSpansSearch,
  formatDependency,
  formatErrors,
  formatQuantile,
  formatRequests,
  getLatencyQuantile,
  getRequestMetrics,
} from './figures.ts';
import { ServiceInstances } from './running.tsx';

const ServiceCharts = lazyLoad(async () => (await import('./over-time.tsx')).ServiceCharts);
const ProbableCauses = lazyLoad(async () => (await import('../../lists/causes.tsx')).Causes);

const ServiceLinks = ({ name, service }: { readonly name: string; readonly service: Service | undefined }) => {
  const serviceCondition = toCondition('service', name);
  const p95 = service === undefined ? undefined : getLatencyQuantile(getRequestMetrics(service), 'p95');
  return (
    <ul class="links">
      <li>
        <Link url={toArea('/traces', { search: serviceCondition })}>Traces</Link>
      </li>
      {p95 === undefined ? null : (
        <li>
          <Link url={toArea('/traces', { search: buildSlowSpansSearch(name, p95) })}>Slowest traces</Link>
        </li>
      )}
      <li>
        <Link url={toArea('/traces', { search: `${serviceCondition} status:error` })}>Failed traces</Link>
      </li>
      <li>
        <Link url={toArea('/logs', { search: serviceCondition })}>Logs</Link>
      </li>
      <li>
        <Link url={toArea('/logs', { search: `${serviceCondition} severity:>=error` })}>Error logs</Link>
      </li>
    </ul>
  );
};

const Operations = ({ name }: { readonly name: string }) => {
  const [query] = useState(() => new ApiQuery(endpointsCall));
  const { from, to } = timeRange.value;
  useEffect(() => {
    query.run({ params: { name }, query: { from, to, ...projectScope.value, sort: '-p95', limit: 100 } });
    return () => query.cancel();
  }, [name, from, to, projectScope.value]);
  const { response, error } = query.state.value;
  return (
    <>
      <h3>Operations</h3>
      <ErrorMessage error={error} />
      {response === undefined ? null : (
        <table class="figures of-requests">
          <TableHeader columns={['Name', 'Requests', 'Errors', 'p50', 'p95', 'p99']} />
          <tbody>
            {response.items.map(({ name, kind, figures: metrics }) => (
              <tr key={`${kind} ${name}`}>
                <td>
                  <bdi>{renderText(name)}</bdi>
                </td>
                <td>{formatRequests(metrics)}</td>
                <td class="text-error">{formatErrors(metrics)}</td>
                <td>{formatQuantile(metrics, 'p50')}</td>
                <td>{formatQuantile(metrics, 'p95')}</td>
                <td>{formatQuantile(metrics, 'p99')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {response?.nextCursor ? <p class="soft">Only the slowest operations are shown.</p> : null}
    </>
  );
};

export const ServicePanel = ({
  name,
  service,
  slowestDependency,
  onClose,
}: {
  readonly name: string;
  readonly service: Service | undefined;
  readonly slowestDependency: Edge | undefined;
  readonly onClose: () => void;
}) => (
  <SidePanel label="Service" title={name} onClose={onClose}>
    <ServiceLinks name={name} service={service} />
    {slowestDependency === undefined ? null : (
      <p>
        Spends most time in:{' '}
        {slowestDependency.server.kind === 'service' ? (
          <Link url={toArea('/services', { service: slowestDependency.server.name })}>
            {renderText(formatDependency(slowestDependency))}
          </Link>
        ) : (
          renderText(formatDependency(slowestDependency))
        )}
        .
      </p>
    )}
    <ServiceCharts name={name} />
    <ProbableCauses symptom={{ service: name, ...timeRange.value }} />
    <Operations name={name} />
    <Deployments name={name} />
    <ServiceInstances name={name} />
    <p class="links">
      <QueryLinks
        title={`p95 of ${name}`}
        query={{
          kind: 'aggregate',
          signal: 'traces',
          search: `${toCondition('service', name)} kind:server`,
          measures: [{ function: 'percentile', field: 'duration', percentile: 95 }],
          ...('projectId' in projectScope.value ? { projectId: projectScope.value.projectId } : {}),
        }}
      />
    </p>
  </SidePanel>
);
