import { z } from 'zod';
import { createListSchema, listParameters, readListPage } from '../../../subjects/infrastructure/paging.ts';
import { Namespace, readNamespaces } from '../../../subjects/kubernetes/clusters.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'namespaces';

export const listNamespaces = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/namespaces',
  operationId: 'listNamespaces',
  summary: 'List namespaces with their pods and workloads, and requested and used resources',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'pods', 'cpu', 'memory', 'restarts']),
    cluster: z.string().max(256).optional(),
  }),
  response: createListSchema(Namespace),
  handler: ({ caller, query }, ports) =>
    readListPage(cursorKind, query, createQueryReader(caller, ports), {
      readItems: readNamespaces,
      filters: { cluster: ({ cluster }) => cluster.value },
      sorts: {
        name: ({ name }) => name,
        pods: ({ pods }) => Object.values(pods).reduce((sum, count) => sum + count, 0),
        cpu: ({ cpu }) => cpu.used.value,
        memory: ({ memory }) => memory.used.value,
        restarts: ({ restarts }) => restarts.value,
      },
      id: ({ id }) => id,
      texts: ({ id, name }) => [id, name],
    }),
});
