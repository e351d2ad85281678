import { z } from 'zod';
import { listOf, listParameters, pageAsked, pageOf } from '../../../queries/infrastructure/paging.ts';
import { Pod, readPods } from '../../../queries/kubernetes/pods.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'pods';

export const listPods = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/pods',
  operationId: 'listPods',
  summary: 'List pods with their phase, restarts, and why their containers ended last',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'cpu', 'memory', 'restarts']),
    cluster: z.string().max(256).optional(),
    namespace: z.string().max(256).optional(),
    node: z.string().max(256).optional(),
    owner: z.string().max(256).optional().describe('Name of the workload'),
    phase: z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']).optional(),
  }),
  response: listOf(Pod),
  async handler({ caller, query }, ports) {
    const reading = readingOf(caller, ports);
    const page = pageAsked(kind, query, reading);
    const found = await readPods(reading, page.range, query);
    const is = (asked: string | undefined, value: string | null): boolean => asked === undefined || asked === value;
    const items = found.items.filter(
      (item) =>
        is(query.cluster, item.cluster.value) &&
        is(query.namespace, item.namespace.value) &&
        is(query.node, item.node.value) &&
        is(query.owner, item.owner.name.value) &&
        is(query.phase, item.phase.value),
    );
    return pageOf(
      kind,
      query,
      page,
      { ...found, items },
      {
        sorts: {
          name: ({ name, id }) => name.value ?? id,
          cpu: ({ cpu }) => cpu.value,
          memory: ({ memory }) => memory.value,
          restarts: ({ restarts }) => restarts.value,
        },
        id: ({ id }) => id,
        texts: ({ id, name, node, owner }) => [id, name.value, node.value, owner.name.value],
      },
    );
  },
});
