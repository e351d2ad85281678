import { z } from 'zod';
import { createListSchema, listParameters, readListPage } from '../../../subjects/infrastructure/paging.ts';
import { Container, readContainers } from '../../../subjects/kubernetes/containers.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'containers';

export const listContainers = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/containers',
  operationId: 'listContainers',
  summary: 'List containers with their usage against request and limit, and whether they ran out of memory',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'cpu', 'memory', 'memoryOfLimit', 'restarts']),
    cluster: z.string().max(256).optional(),
    namespace: z.string().max(256).optional(),
    pod: z.string().max(512).optional(),
    node: z.string().max(256).optional(),
    oom: z.enum(['yes', 'likely', 'no', 'unknown']).optional().describe('Whether it ran out of memory'),
  }),
  response: createListSchema(Container),
  handler: ({ caller, query }, ports) =>
    readListPage(cursorKind, query, createQueryReader(caller, ports), {
      readItems: readContainers,
      filters: {
        cluster: ({ cluster }) => cluster.value,
        namespace: ({ namespace }) => namespace.value,
        pod: ({ pod }) => pod.value,
        node: ({ node }) => node.value,
        oom: ({ oom }) => oom.verdict,
      },
      sorts: {
        name: ({ name }) => name,
        cpu: ({ cpu }) => cpu.used.value,
        memory: ({ memory }) => memory.used.value,
        memoryOfLimit: ({ memory }) => memory.limitUtilization.value,
        restarts: ({ restarts }) => restarts.value,
      },
      id: ({ id }) => id,
      texts: ({ id, name, pod, image }) => [id, name, pod.value, image.value],
    }),
});
