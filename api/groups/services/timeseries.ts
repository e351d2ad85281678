import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Result } from '../../../queries/result.ts';
import { resolveStepMs, stepParameter } from '../../../queries/steps.ts';
import { apdexParameter, filterParameters } from '../../../subjects/services/activity-filter.ts';
import { formatMinutes, minuteMs } from '../../../subjects/services/minutes.ts';
import { createThresholdLookup } from '../../../subjects/services/request-counts.ts';
import { readServiceSeries } from '../../../subjects/services/series.ts';
import { readServiceSettings } from '../../../subjects/services/settings.ts';
import { requireKnownService } from '../../kernel/known-services.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { parseMinutes, serviceParams } from './parameters.ts';

const { from, to } = rangeParameters;

export const listServiceSeries = defineOperation({
  method: 'GET',
  path: '/api/services/{name}/timeseries',
  operationId: 'getServiceTimeseries',
  summary:
    'Get series of a service in steps of whole minutes: requests, rate, errors, errorRate, p50, p95, p99 and apdex, as counted by /api/services',
  role: 'viewer',
  cache: listCache,
  params: serviceParams,
  query: z.strictObject({
    from,
    to,
    ...projectScopeParameters,
    ...filterParameters,
    ...apdexParameter,
    ...stepParameter,
    endpoint: z.string().min(1).max(1024).optional().describe('Only requests to this endpoint'),
  }),
  response: Result,
  async handler({ caller, params, query }, ports) {
    const startedMs = performance.now();
    const reader = createQueryReader(caller, ports);
    const { minutes } = parseMinutes('service', query, reader);
    const serviceQuery = { ...query, minutes, service: params.name };
    const stepMs = resolveStepMs(query.step, { from: minutes.from, to: minutes.to - 1n }, { minMs: minuteMs });
    await requireKnownService(reader, serviceQuery);
    const settings = await readServiceSettings(ports.documents.forTenant(caller.tenantId));
    const apdexThresholdMs = createThresholdLookup(settings, query.apdexThresholdMs)(params.name);
    const seriesResult = await readServiceSeries(reader, { ...serviceQuery, stepMs, apdexThresholdMs });
    return {
      ...seriesResult,
      ...formatMinutes(minutes),
      stepMs,
      cost: { rowsRead: 0, bytesRead: 0, elapsedMs: performance.now() - startedMs, isCached: false },
      freshness: { value: null, reason: 'not known yet' },
    };
  },
});
