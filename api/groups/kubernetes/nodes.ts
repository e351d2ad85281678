import { z } from 'zod';
import { createListSchema, listParameters, readListPage } from '../../../subjects/infrastructure/paging.ts';
import { Node, readNodes } from '../../../subjects/kubernetes/nodes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'nodes';

export const listNodes = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/nodes',
  operationId: 'listNodes',
  summary: 'List nodes with their conditions, and allocatable, requested and used resources',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'cpu', 'memory', 'pods']),
    cluster: z.string().max(256).optional(),
  }),
  response: createListSchema(Node),
  handler: ({ caller, query }, ports) =>
    readListPage(cursorKind, query, createQueryReader(caller, ports), {
      readItems: readNodes,
      filters: { cluster: ({ cluster }) => cluster.value },
      sorts: {
        name: ({ name }) => name,
        cpu: ({ cpu }) => cpu.used.value,
        memory: ({ memory }) => memory.used.value,
        pods: ({ pods }) => pods.running,
      },
      id: ({ id }) => id,
      texts: ({ id, name, kubeletVersion }) => [id, name, kubeletVersion.value],
    }),
});
