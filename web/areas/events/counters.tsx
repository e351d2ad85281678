/** What the overview counts, over time: all services together. */
import type { listOverviewSeries } from '../../../api/groups/overview/overview.ts';
import { OneSeries } from '../../charts/one-series.tsx';
import { callOf } from '../../client/call.ts';
import { useAsked } from '../../frame/asked.ts';
import { projectScope } from '../../frame/project.ts';
import { Problem } from '../../frame/standing.tsx';
import { writtenRange } from '../../frame/time-range.ts';

const seriesCall = callOf<typeof listOverviewSeries>('GET', '/api/overview/timeseries');

const titles = {
  requests: 'requests',
  errors: 'requests that fail',
  errorRate: 'share of requests that fail',
  p95: 'p95 of requests',
  spans: 'spans',
  logs: 'log records',
  errorLogs: 'log records of errors',
} as const;

export const Counters = () => {
  const { answer, error } = useAsked(seriesCall, { query: { ...writtenRange.value, ...projectScope.value } });
  return (
    <div>
      <Problem error={error} />
      <OneSeries titles={titles} usual="requests" answer={answer} />
    </div>
  );
};
