import { z } from 'zod';
import { createListSchema, listParameters, readListPage } from '../../../subjects/infrastructure/paging.ts';
import { workloadKinds } from '../../../subjects/kubernetes/names.ts';
import { readWorkloads, Workload } from '../../../subjects/kubernetes/workloads.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'workloads';

export const listWorkloads = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/workloads',
  operationId: 'listWorkloads',
  summary:
    'List deployments, stateful sets, daemon sets, jobs and cron jobs: desired and ready replicas, and the usage of their pods',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'cpu', 'memory', 'restarts']),
    cluster: z.string().max(256).optional(),
    namespace: z.string().max(256).optional(),
    kind: z.enum(workloadKinds).optional(),
    state: z.enum(['ready', 'degraded', 'unknown']).optional(),
  }),
  response: createListSchema(Workload),
  handler: ({ caller, query }, ports) =>
    readListPage(cursorKind, query, createQueryReader(caller, ports), {
      readItems: readWorkloads,
      filters: {
        cluster: ({ cluster }) => cluster.value,
        namespace: ({ namespace }) => namespace.value,
        kind: (workload) => workload.kind,
        state: ({ state }) => state,
      },
      sorts: {
        name: ({ name }) => name,
        cpu: ({ cpu }) => cpu.value,
        memory: ({ memory }) => memory.value,
        restarts: ({ restarts }) => restarts.value,
      },
      id: ({ id }) => id,
      texts: ({ id, name }) => [id, name],
    }),
});
