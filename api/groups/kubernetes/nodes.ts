import { z } from 'zod';
import { listOf, listParameters, pageAsked, pageOf } from '../../../queries/infrastructure/paging.ts';
import { Node, readNodes } from '../../../queries/kubernetes/nodes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'nodes';

export const listNodes = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/nodes',
  operationId: 'listNodes',
  summary: 'List nodes with their conditions, and what is allocatable, requested and used',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'cpu', 'memory', 'pods']),
    cluster: z.string().max(256).optional(),
  }),
  response: listOf(Node),
  async handler({ caller, query }, ports) {
    const reading = readingOf(caller, ports);
    const page = pageAsked(kind, query, reading);
    const found = await readNodes(reading, page.range, query);
    const is = (asked: string | undefined, value: string | null): boolean => asked === undefined || asked === value;
    const items = found.items.filter(({ cluster }) => is(query.cluster, cluster.value));
    return pageOf(
      kind,
      query,
      page,
      { ...found, items },
      {
        sorts: {
          name: ({ name }) => name,
          cpu: ({ cpu }) => cpu.used.value,
          memory: ({ memory }) => memory.used.value,
          pods: ({ pods }) => pods.running,
        },
        id: ({ id }) => id,
        texts: ({ id, name, kubeletVersion }) => [id, name, kubeletVersion.value],
      },
    );
  },
});
