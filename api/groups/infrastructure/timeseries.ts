import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { buildSteps, resolveStepMs, stepParameter } from '../../../queries/steps.ts';
import { formatTime } from '../../../queries/time.ts';
import { HostSeries, hostSeriesNames, readHostSeries } from '../../../subjects/infrastructure/host-series.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { findHost, hostParams } from './find-host.ts';

const { from, to } = rangeParameters;

export const showHostTimeseries = defineOperation({
  method: 'GET',
  path: '/api/infrastructure/hosts/{id}/timeseries',
  operationId: 'getHostTimeseries',
  summary: 'Get the metrics of a host over time',
  role: 'viewer',
  cache: listCache,
  params: hostParams,
  query: z.strictObject({
    from,
    to,
    ...projectScopeParameters,
    metric: z.enum(hostSeriesNames).optional().describe('Default: all of them'),
    ...stepParameter,
  }),
  response: z.strictObject({ from: z.string(), to: z.string(), ...HostSeries.shape }),
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const range = parseRetainedRange(query, { caller: reader, signal: 'metrics', nowMs: reader.nowMs });
    const stepMs = resolveStepMs(query.step, range, { minMs: 1000 });
    buildSteps(range, stepMs);
    const host = await findHost(reader, { range, scope: query, idOrName: params.id });
    const hostSeries = await readHostSeries(reader, range, query, {
      host,
      ...(query.metric === undefined ? {} : { names: [query.metric] }),
      stepMs,
    });
    return { from: formatTime(range.from), to: formatTime(range.to), ...hostSeries };
  },
});
