/** Overview counters over time, for all services */
import type { listOverviewSeries } from '../../../api/groups/overview/overview.ts';
import { OneSeries } from '../../charts/one-series.tsx';
import { callOf } from '../../client/call.ts';
import { Problem } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';

const seriesCall = callOf<typeof listOverviewSeries>('GET', '/api/overview/timeseries');

const titles = {
  requests: 'requests',
  errors: 'Errors',
  errorRate: 'Error rate',
  p95: 'p95 of requests',
  spans: 'spans',
  logs: 'Logs',
  errorLogs: 'Error logs',
} as const;

export const Counters = () => {
  const { answer, error } = useQuery(seriesCall, { query: { ...writtenRange.value, ...projectScope.value } });
  return (
    <div>
      <Problem error={error} />
      <OneSeries titles={titles} defaultName="requests" answer={answer} />
    </div>
  );
};
