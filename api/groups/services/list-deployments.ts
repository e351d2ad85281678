import { z } from 'zod';
import { encodeCursor } from '../../../queries/cursor.ts';
import { projectScopeParameters, requireProjectScope } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { encodePosition, getSortedPage } from '../../../queries/sorted-page.ts';
import { apdexParameter, filterParameters } from '../../../subjects/services/activity-filter.ts';
import { readDeployments } from '../../../subjects/services/deployments.ts';
import { createThresholdLookup } from '../../../subjects/services/request-counts.ts';
import { readServiceSettings } from '../../../subjects/services/settings.ts';
import { extendByMargin, JudgedDeployment, toJudgedDeployment } from '../../../subjects/services/verdicts.ts';
import { requireKnownService } from '../../kernel/known-services.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { parseServiceCursor, serviceParams } from './parameters.ts';

const cursorKind = 'service-deployments';

export const listServiceDeployments = defineOperation({
  method: 'GET',
  path: '/api/services/{name}/deployments',
  operationId: 'listServiceDeployments',
  summary: 'List deployments of a service, the newest first, with its metrics before and after each and a verdict',
  role: 'viewer',
  cache: listCache,
  params: serviceParams,
  query: z.strictObject({
    ...rangeParameters,
    from: rangeParameters.from.describe('Default: now-24h'),
    limit: z.coerce.number().int().min(1).max(100).default(20),
    ...projectScopeParameters,
    ...filterParameters,
    ...apdexParameter,
  }),
  response: z.strictObject({
    items: z.array(JudgedDeployment),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, params, query }, ports) {
    requireProjectScope(query);
    const reader = createQueryReader(caller, ports);
    const { nowMs } = reader;
    const page = query.cursor === undefined ? undefined : parseServiceCursor(cursorKind, query.cursor, reader);
    const rangeQuery = { ...query, from: query.from ?? 'now-24h' };
    const range = page?.range ?? parseRetainedRange(rangeQuery, { caller: reader, signal: 'traces', nowMs });
    const serviceQuery = { ...query, service: params.name };
    await requireKnownService(reader, serviceQuery);
    const settings = await readServiceSettings(ports.documents.forTenant(caller.tenantId));
    const apdexThresholdMs = createThresholdLookup(settings, query.apdexThresholdMs)(params.name);
    const [{ deployments, partial }, { deployments: allDeployments }] = await Promise.all([
      readDeployments(reader, { ...serviceQuery, range }),
      readDeployments(reader, { ...serviceQuery, environment: undefined, range: extendByMargin(range) }),
    ]);
    const { pageItems, last } = getSortedPage(
      deployments,
      { getName: ({ id }) => id, getSortValue: ({ time }) => time, direction: 'descending' },
      { limit: query.limit, after: page?.after },
    );
    const items: JudgedDeployment[] = [];
    // One after another, so that a page with many deployments does not occupy all connections to ClickHouse.
    for (const deployment of pageItems)
      items.push(await toJudgedDeployment(reader, serviceQuery, deployment, { all: allDeployments, apdexThresholdMs }));
    return {
      items,
      nextCursor: last === undefined ? null : encodeCursor(cursorKind, [range.from, range.to, encodePosition(last)]),
      partial: [...partial],
    };
  },
});
