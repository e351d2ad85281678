import { z } from 'zod';
import { Compute, ComputeGroup, computeGroups, readCompute } from '../../../subjects/infrastructure/compute.ts';
import { listOf, listParameters, matching, pageOf, parsePage } from '../../../subjects/infrastructure/paging.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'compute';

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
    ...listOf(Compute).shape,
    groups: z.array(ComputeGroup).describe('Counts for all matches of the filters, not only for the page'),
  }),
  async handler({ caller, query }, ports) {
    const reading = readingOf(caller, ports);
    const page = parsePage(kind, query, reading);
    const found = await readCompute(reading, page.range, query);
    const items = found.items.filter(
      matching(query, {
        kind: (item: Compute) => item.kind,
        provider: ({ provider }) => provider.value,
        region: ({ region }) => region.value,
        type: ({ type }) => type.value,
      }),
    );
    const listed = pageOf(
      kind,
      query,
      page,
      { ...found, items },
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
    return { ...listed, groups: computeGroups(items) };
  },
});
