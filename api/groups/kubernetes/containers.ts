import { z } from 'zod';
import { listOf, listParameters, pageAsked, pageOf } from '../../../queries/infrastructure/paging.ts';
import { Container, readContainers } from '../../../queries/kubernetes/containers.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'containers';

export const listContainers = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/containers',
  operationId: 'listContainers',
  summary: 'List containers with their use against request and limit, and whether memory ran out',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'cpu', 'memory', 'memoryOfLimit', 'restarts']),
    cluster: z.string().max(256).optional(),
    namespace: z.string().max(256).optional(),
    pod: z.string().max(512).optional(),
    node: z.string().max(256).optional(),
    oom: z.enum(['yes', 'likely', 'no', 'unknown']).optional().describe('Whether memory ran out'),
  }),
  response: listOf(Container),
  async handler({ caller, query }, ports) {
    const reading = readingOf(caller, ports);
    const page = pageAsked(kind, query, reading);
    const found = await readContainers(reading, page.range, query);
    const is = (asked: string | undefined, value: string | null): boolean => asked === undefined || asked === value;
    const items = found.items.filter(
      (item) =>
        is(query.cluster, item.cluster.value) &&
        is(query.namespace, item.namespace.value) &&
        is(query.pod, item.pod.value) &&
        is(query.node, item.node.value) &&
        is(query.oom, item.oom.verdict),
    );
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
          memoryOfLimit: ({ memory }) => memory.ofLimit.value,
          restarts: ({ restarts }) => restarts.value,
        },
        id: ({ id }) => id,
        texts: ({ id, name, pod, image }) => [id, name, pod.value, image.value],
      },
    );
  },
});
