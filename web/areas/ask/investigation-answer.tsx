/** Answers to "why" and "what changed": the root cause analysis of the service that the question names, and changes */
import type { answerQuestion } from '../../../api/groups/ai/query.ts';
import type { listServiceSeries } from '../../../api/groups/services/timeseries.ts';
import { SeriesSelectChart } from '../../charts/one-series.tsx';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { setParams, toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { CauseResult, CauseTitle, causeKindTitles } from '../../lists/causes.tsx';
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

export const ServicePicker = () => {
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

type Investigation = NonNullable<ResponseBody<typeof answerQuestion>['investigation']>;

const ChangeList = ({ investigation: { changes, changesInAll } }: { readonly investigation: Investigation }) => (
  <section aria-label="Changes">
    <h2>Changes</h2>
    {changes.length === 0 ? (
      <p role="status">No deployment, configuration change or restart is known in this range.</p>
    ) : (
      <ul>
        {changes.map(({ kind, at, time, title, link }, index) => (
          // Changes have no unique key.
          <li key={index}>
            {causeKindTitles[kind]} at <bdi>{renderText(at)}</bdi>, {formatIsoSecond(time)}:{' '}
            <CauseTitle cause={{ title, link }} />
          </li>
        ))}
      </ul>
    )}
    {changesInAll > changes.length ? (
      <p class="soft">
        The newest {changes.length} of {changesInAll} changes are shown.
      </p>
    ) : null}
  </section>
);

/** Causes and changes that answer a question such as "why is cart slow" or "what changed in cart" */
export const InvestigationAnswer = ({ investigation }: { readonly investigation: Investigation }) => {
  const { about, service, cause } = investigation;
  if (service === null || cause === null) return <ChangeList investigation={investigation} />;
  const causeSection = (
    <section aria-label="Cause">
      <CauseResult result={cause} />
    </section>
  );
  return (
    <>
      <p id="sentence">
        {about === 'cause' ? 'Root cause analysis' : 'Changes'} of <b>{renderText(service)}</b>,{' '}
        {formatIsoSecond(investigation.from)} to {formatIsoSecond(investigation.to)}
      </p>
      {about === 'cause' ? null : <ChangeList investigation={investigation} />}
      <ServiceChart investigation={{ service, from: investigation.from, to: investigation.to }} />
      {causeSection}
      {about === 'cause' ? <ChangeList investigation={investigation} /> : null}
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

const ServiceChart = ({
  investigation: { service, from, to },
}: {
  readonly investigation: { readonly service: string; readonly from: string; readonly to: string };
}) => {
  const { response } = useQuery(serviceSeriesCall, {
    params: { name: service },
    query: { from, to, ...projectScope.value },
  });
  return <SeriesSelectChart titles={chartTitles} defaultName="p95" result={response} />;
};
