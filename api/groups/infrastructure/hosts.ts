import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { Host, readHosts } from '../../../subjects/infrastructure/hosts.ts';
import { createListSchema, listParameters, readListPage } from '../../../subjects/infrastructure/paging.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { findHost, hostParams } from './find-host.ts';

const cursorKind = 'hosts';

export const listHosts = defineOperation({
  method: 'GET',
  path: '/api/infrastructure/hosts',
  operationId: 'listHosts',
  summary: 'List hosts with their usage and health, including hosts that stopped reporting within a day',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['name', 'cpu', 'memory', 'disk', 'network', 'load', 'lastSeen']),
    state: z.enum(['active', 'silent']).optional(),
  }),
  response: createListSchema(Host),
  handler: ({ caller, query }, ports) =>
    readListPage(cursorKind, query, createQueryReader(caller, ports), {
      readItems: readHosts,
      filters: { state: ({ state }) => state },
      sorts: {
        name: ({ name, id }) => name.value ?? id,
        cpu: ({ cpu }) => cpu.utilization.value,
        memory: ({ memory }) => memory.utilization.value,
        disk: ({ disk }) => disk.utilization.value,
        network: ({ network: { receive, transmit } }) =>
          receive.value === null || transmit.value === null ? null : receive.value + transmit.value,
        load: ({ load }) => load.m1.value,
        lastSeen: ({ lastSeen }) => lastSeen.value,
      },
      id: ({ id }) => id,
      texts: ({ id, name, cloud, kubernetesNode }) => [id, name.value, cloud.region.value, kubernetesNode.value],
    }),
});

const { from, to } = rangeParameters;

export const showHost = defineOperation({
  method: 'GET',
  path: '/api/infrastructure/hosts/{id}',
  operationId: 'getHost',
  summary: 'Get one host',
  role: 'viewer',
  cache: listCache,
  params: hostParams,
  query: z.strictObject({ from, to, ...projectScopeParameters }),
  response: Host,
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const range = parseRetainedRange(query, { caller: reader, signal: 'metrics', nowMs: reader.nowMs });
    return findHost(reader, { range, scope: query, idOrName: params.id });
  },
});
