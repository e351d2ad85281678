import { z } from 'zod';
import { createListSchema, listParameters, readListPage } from '../../../subjects/infrastructure/paging.ts';
import { Cluster, readClusters } from '../../../subjects/kubernetes/clusters.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'clusters';

export const listClusters = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/clusters',
  operationId: 'listClusters',
  summary: 'List clusters with their nodes, pods, and requested and used resources',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({ ...listParameters(['name', 'pods', 'cpu', 'memory']) }),
  response: createListSchema(Cluster),
  handler: ({ caller, query }, ports) =>
    readListPage(cursorKind, query, createQueryReader(caller, ports), {
      readItems: readClusters,
      filters: {},
      sorts: {
        name: ({ name, id }) => name.value ?? id,
        pods: ({ pods }) => Object.values(pods).reduce((sum, count) => sum + count, 0),
        cpu: ({ cpu }) => cpu.used.value,
        memory: ({ memory }) => memory.used.value,
      },
      id: ({ id }) => id,
      texts: ({ id, name }) => [id, name.value],
    }),
});
