import { z } from 'zod';
import { Compute, ComputeGroup, countComputeGroups, readCompute } from '../../../subjects/infrastructure/compute.ts';
import {
  createFilter,
  createListSchema,
  createPage,
  listParameters,
  parsePage,
} from '../../../subjects/infrastructure/paging.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'compute';

export const listCompute = defineOperation({
  method: 'GET',
  path: '/api/infrastructure/compute',
  operationId: 'listCompute',
  summary: 'List instances and containers, with counts by provider, region and type',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'cpu', 'memory']),
    kind: z.enum(['instance', 'container']).optional(),
    provider: z.string().max(128).optional(),
    region: z.string().max(128).optional(),
    type: z.string().max(512).optional(),
  }),
  response: z.strictObject({
    ...createListSchema(Compute).shape,
    groups: z.array(ComputeGroup).describe('Counts for all matches of the filters, not only for the page'),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const page = parsePage(cursorKind, query, reader);
    const computeResult = await readCompute(reader, page.range, query);
    const items = computeResult.items.filter(
      createFilter(query, {
        kind: (item: Compute) => item.kind,
        provider: ({ provider }) => provider.value,
        region: ({ region }) => region.value,
        type: ({ type }) => type.value,
      }),
    );
    const computePage = createPage(
      cursorKind,
      query,
      page,
      { ...computeResult, items },
      {
        sorts: {
          name: ({ name, id }) => name.value ?? id,
          cpu: ({ cpuCores }) => cpuCores.value,
          memory: ({ memory }) => memory.value,
        },
        id: ({ id }) => id,
        texts: ({ id, name, type, host }) => [id, name.value, type.value, host.value],
      },
    );
    return { ...computePage, groups: countComputeGroups(items) };
  },
});
