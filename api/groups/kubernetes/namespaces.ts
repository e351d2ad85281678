import { z } from 'zod';
import { listOf, listParameters, pageAsked, pageOf } from '../../../queries/infrastructure/paging.ts';
import { Namespace, readNamespaces } from '../../../queries/kubernetes/clusters.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'namespaces';

export const listNamespaces = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/namespaces',
  operationId: 'listNamespaces',
  summary: 'List namespaces with their pods and workloads, and what is requested and used',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'pods', 'cpu', 'memory', 'restarts']),
    cluster: z.string().max(256).optional(),
  }),
  response: listOf(Namespace),
  async handler({ caller, query }, ports) {
    const reading = readingOf(caller, ports);
    const page = pageAsked(kind, query, reading);
    const found = await readNamespaces(reading, page.range, query);
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
          pods: ({ pods }) => Object.values(pods).reduce((sum, count) => sum + count, 0),
          cpu: ({ cpu }) => cpu.used.value,
          memory: ({ memory }) => memory.used.value,
          restarts: ({ restarts }) => restarts.value,
        },
        id: ({ id }) => id,
        texts: ({ id, name }) => [id, name],
      },
    );
  },
});
