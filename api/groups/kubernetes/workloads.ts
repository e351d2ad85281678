import { z } from 'zod';
import { listOf, listParameters, pageAsked, pageOf } from '../../../queries/infrastructure/paging.ts';
import { workloadKinds } from '../../../queries/kubernetes/names.ts';
import { readWorkloads, Workload } from '../../../queries/kubernetes/workloads.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'workloads';

export const listWorkloads = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/workloads',
  operationId: 'listWorkloads',
  summary:
    'List deployments, stateful sets, daemon sets, jobs and cron jobs: desired and ready, and what their pods use',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'cpu', 'memory', 'restarts']),
    cluster: z.string().max(256).optional(),
    namespace: z.string().max(256).optional(),
    kind: z.enum(workloadKinds).optional(),
    state: z.enum(['ready', 'degraded', 'unknown']).optional(),
  }),
  response: listOf(Workload),
  async handler({ caller, query }, ports) {
    const reading = readingOf(caller, ports);
    const page = pageAsked(kind, query, reading);
    const found = await readWorkloads(reading, page.range, query);
    const is = (asked: string | undefined, value: string | null): boolean => asked === undefined || asked === value;
    const items = found.items.filter(
      (item) =>
        is(query.cluster, item.cluster.value) &&
        is(query.namespace, item.namespace.value) &&
        is(query.kind, item.kind) &&
        is(query.state, item.state),
    );
    return pageOf(
      kind,
      query,
      page,
      { ...found, items },
      {
        sorts: {
          name: ({ name }) => name,
          cpu: ({ cpu }) => cpu.value,
          memory: ({ memory }) => memory.value,
          restarts: ({ restarts }) => restarts.value,
        },
        id: ({ id }) => id,
        texts: ({ id, name }) => [id, name],
      },
    );
  },
});
