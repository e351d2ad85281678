/** Side panel of a service: requests over time, operations, deployments, instances, and links to its traces and logs */
import { QueryLinks } from '../../editors/put-on-dashboard.tsx';
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { renderText } from '../../frame/display-text.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { toServicePage } from '../../frame/resource-links.ts';
import { timeRange } from '../../frame/time-range.ts';
import { SidePanel } from '../../lists/side-panel.tsx';
import type { Edge, Service } from './calls.ts';
import { Deployments } from './deployments.tsx';
import { buildSlowSpansSearch, formatDependency, getLatencyQuantile, getRequestMetrics } from './figures.ts';
import { ServiceInstances } from './instances.tsx';
import { Operations } from './operations.tsx';

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
  <SidePanel label="Service" title={name} url={toServicePage(name)} onClose={onClose}>
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
    <h3>Operations</h3>
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
