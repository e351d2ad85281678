import { z } from 'zod';
import { projectScopeParameters, requireProjectScope } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { edgeParameters } from '../../../subjects/services/edges.ts';
import { readServiceMap, ServiceMap } from '../../../subjects/services/map.ts';
import { formatMinutes, toFullMinutes } from '../../../subjects/services/minutes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const { from, to } = rangeParameters;

export const showServiceMap = defineOperation({
  method: 'GET',
  path: '/api/service-map',
  operationId: 'showServiceMap',
  summary: 'Get the service map of a time range: nodes and the edges with the most requests',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    from,
    to,
    ...projectScopeParameters,
    ...edgeParameters,
    limit: z.coerce.number().int().min(1).max(2000).default(500).describe('Maximum number of edges'),
  }),
  response: ServiceMap,
  async handler({ caller, query }, { columns, clock }) {
    requireProjectScope(query);
    const nowMs = clock.now();
    const minutes = toFullMinutes(parseRetainedRange(query, { caller, signal: 'traces', nowMs }), nowMs);
    const map = await readServiceMap(columns.forTenant(caller.tenantId), query, { minutes, limit: query.limit });
    return { ...formatMinutes(minutes), ...map };
  },
});
