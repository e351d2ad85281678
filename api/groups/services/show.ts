import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Incompleteness, Unknown } from '../../../queries/result.ts';
import { apdexParameter, filterParameters } from '../../../subjects/services/activity-filter.ts';
import { readServiceParts, ServiceParts } from '../../../subjects/services/detail.ts';
import { createEmptyService, readService, ServiceTotal } from '../../../subjects/services/inventory.ts';
import { formatMinutes, minutesFields } from '../../../subjects/services/minutes.ts';
import { readServiceSettings } from '../../../subjects/services/settings.ts';
import { requireKnownService } from '../../kernel/known-services.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { parseMinutes, serviceParams } from './parameters.ts';

const { from, to } = rangeParameters;

export const showService = defineOperation({
  method: 'GET',
  path: '/api/services/{name}',
  operationId: 'showService',
  summary: 'Get a service in a time range: metrics, instances, versions, runtimes, SDKs, dependencies',
  role: 'viewer',
  cache: listCache,
  params: serviceParams,
  query: z.strictObject({ from, to, ...projectScopeParameters, ...filterParameters, ...apdexParameter }),
  response: z.strictObject({
    ...minutesFields,
    ...ServiceTotal.shape,
    lastSeen: z.union([z.string(), Unknown]).describe('In the range'),
    ...ServiceParts.shape,
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { minutes } = parseMinutes('service', query, reader);
    const serviceQuery = {
      ...query,
      minutes,
      service: params.name,
      settings: await readServiceSettings(ports.documents.forTenant(caller.tenantId)),
    };
    const [total, { parts, partial }] = await Promise.all([
      readService(reader, serviceQuery),
      readServiceParts(reader, serviceQuery),
    ]);
    if (total === undefined) await requireKnownService(reader, serviceQuery);
    return {
      ...formatMinutes(minutes),
      ...(total ?? createEmptyService(params.name)),
      ...parts,
      partial: [...partial],
    };
  },
});
