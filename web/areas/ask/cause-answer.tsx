/** Answer to a question about a cause: the root cause analysis of the service that the question names */
import type { listServiceSeries } from '../../../api/groups/services/timeseries.ts';
import { SeriesSelectChart } from '../../charts/one-series.tsx';
import { declareCall } from '../../client/call.ts';
import { setParams, toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { causeCall, RootCauseAnalysis } from '../../lists/causes.tsx';
import { servicesCall } from '../services/calls.ts';

const serviceSeriesCall = declareCall<typeof listServiceSeries>('GET', '/api/services/{name}/timeseries');

const chartTitles = { p95: 'p95 latency', errorRate: 'Error rate', rate: 'Request rate' } as const;

/** Names of the slowest services in the time range, without namespaces */
export const useServiceNames = (limit: number): readonly string[] => {
  const { response } = useQuery(servicesCall, {
    query: { ...timeRange.value, ...projectScope.value, sort: '-p95', limit },
  });
  return response?.items.map(({ name }) => name.slice(name.lastIndexOf('/') + 1)) ?? [];
};

const ServicePicker = () => {
  const names = useServiceNames(100);
  return (
    <>
      <p role="status">
        Which service? A root cause analysis compares the requests of one service with the hour before.
      </p>
      <ul class="links">
        {names.map((name) => (
          <li key={name}>
            <button type="button" class="plain" onClick={() => setParams({ q: `Why is ${name} slow?` })}>
              {renderText(name)}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
};

export const CauseAnswer = ({ service }: { readonly service: string | null }) => {
  if (service === null || !isPermitted(causeCall)) return <ServicePicker />;
  return <ServiceCause key={service} service={service} />;
};

const ServiceCause = ({ service }: { readonly service: string }) => {
  const { from, to } = timeRange.value;
  const { response } = useQuery(serviceSeriesCall, {
    params: { name: service },
    query: { from, to, ...projectScope.value },
  });
  return (
    <>
      <p id="sentence">
        Root cause analysis of <b>{renderText(service)}</b>
      </p>
      <SeriesSelectChart titles={chartTitles} defaultName="p95" result={response} />
      <RootCauseAnalysis symptom={{ service, from, to }} />
      <ul class="links">
        <li>
          <Link url={toArea('/services', { service })}>View service</Link>
        </li>
        <li>
          <Link url={toArea('/traces', { search: toCondition('service', service) })}>Traces</Link>
        </li>
      </ul>
    </>
  );
};
