/** Overview counters over time, for all services */
import type { listOverviewSeries } from '../../../api/groups/overview/overview.ts';
import { SeriesSelectChart } from '../../charts/one-series.tsx';
import { declareCall } from '../../client/call.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';

const seriesCall = declareCall<typeof listOverviewSeries>('GET', '/api/overview/timeseries');

const titles = {
  requests: 'Requests',
  errors: 'Errors',
  errorRate: 'Error rate',
  p95: 'Request latency, p95',
  spans: 'Spans',
  logs: 'Logs',
  errorLogs: 'Error logs',
} as const;

export const Counters = () => {
  const { response, error } = useQuery(seriesCall, { query: { ...timeRange.value, ...projectScope.value } });
  return (
    <div>
      <ErrorMessage error={error} />
      <SeriesSelectChart titles={titles} defaultName="requests" result={response} />
    </div>
  );
};
