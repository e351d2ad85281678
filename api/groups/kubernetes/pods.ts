import { z } from 'zod';
import { createListSchema, listParameters, readListPage } from '../../../subjects/infrastructure/paging.ts';
import { Pod, readPods } from '../../../subjects/kubernetes/pods.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'pods';

export const listPods = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/pods',
  operationId: 'listPods',
  summary: 'List pods with their phase, restarts, and the last termination reasons of their containers',
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
  response: createListSchema(Pod),
  handler: ({ caller, query }, ports) =>
    readListPage(cursorKind, query, createQueryReader(caller, ports), {
      readItems: readPods,
      filters: {
        cluster: ({ cluster }) => cluster.value,
        namespace: ({ namespace }) => namespace.value,
        node: ({ node }) => node.value,
        owner: ({ owner }) => owner.name.value,
        phase: ({ phase }) => phase.value,
      },
      sorts: {
        name: ({ name, id }) => name.value ?? id,
        cpu: ({ cpu }) => cpu.value,
        memory: ({ memory }) => memory.value,
        restarts: ({ restarts }) => restarts.value,
      },
      id: ({ id }) => id,
      texts: ({ id, name, node, owner }) => [id, name.value, node.value, owner.name.value],
    }),
});
