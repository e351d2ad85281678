import { z } from 'zod';
import { HostSeries, hostSeriesNames, readHostSeries } from '../../../queries/infrastructure/host-series.ts';
import { readHosts } from '../../../queries/infrastructure/hosts.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters } from '../../../queries/range.ts';
import { formatTime, parseDuration } from '../../../queries/time.ts';
import { invalid, notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { readingOf } from './reading.ts';

const { from, to } = rangeParameters;
const mostSteps = 2000n;

export const showHostTimeseries = defineOperation({
  method: 'GET',
  path: '/api/infrastructure/hosts/{id}/timeseries',
  operationId: 'getHostTimeseries',
  summary: 'Get the figures of one host over time',
  role: 'viewer',
  cache: listCache,
  params: z.strictObject({ id: z.string().min(1).max(512) }),
  query: z.strictObject({
    ...{ from, to, ...projectScopeParameters },
    metric: z.enum(hostSeriesNames).optional().describe('Without it, all of them'),
    step: z.string().max(32).optional().describe('A duration such as 1m; without it one that gives about 300 points'),
  }),
  response: z.strictObject({ from: z.string(), to: z.string(), ...HostSeries.shape }),
  async handler({ caller, params, query }, ports) {
    const reading = readingOf(caller, ports);
    const range = rangeOf(query, { caller: reading, signal: 'metrics', nowMs: reading.nowMs });
    const stepNs = query.step === undefined ? undefined : parseDuration(query.step);
    if (query.step !== undefined && (stepNs === undefined || stepNs < 1_000_000_000n))
      throw invalid('step', 'must be a duration of a second or more, such as 30s or 5m');
    if (stepNs !== undefined && (range.to - range.from) / stepNs > mostSteps)
      throw invalid('step', `gives more than ${mostSteps} steps in this range: take a longer one`);
    const [host] = (await readHosts(reading, range, query, params.id)).items;
    if (host === undefined) throw notFound('host');
    const found = await readHostSeries(reading, range, query, {
      host,
      ...(query.metric === undefined ? {} : { names: [query.metric] }),
      ...(stepNs === undefined ? {} : { stepMs: Number(stepNs / 1_000_000n) }),
    });
    return { from: formatTime(range.from), to: formatTime(range.to), ...found };
  },
});
