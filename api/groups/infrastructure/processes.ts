import { z } from 'zod';
import { createListSchema, listParameters, readListPage } from '../../../subjects/infrastructure/paging.ts';
import { Process, readProcesses } from '../../../subjects/infrastructure/processes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'processes';

export const listProcesses = defineOperation({
  method: 'GET',
  path: '/api/infrastructure/processes',
  operationId: 'listProcesses',
  summary: 'List processes, sorted by CPU time, the highest first',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['cpu', 'memory', 'name']),
    host: z.string().max(512).optional().describe('Only processes of this host, by id'),
    service: z.string().max(512).optional(),
  }),
  response: createListSchema(Process),
  handler: ({ caller, query }, ports) =>
    readListPage(cursorKind, query, createQueryReader(caller, ports), {
      readItems: readProcesses,
      filters: { host: ({ host }) => host.value, service: ({ service }) => service.value },
      sorts: {
        cpu: ({ cpuCores }) => cpuCores.value,
        memory: ({ memory }) => memory.value,
        name: ({ name }) => name.value,
      },
      id: ({ id }) => id,
      texts: ({ pid, name, command, owner }) => [pid.value, name.value, command.value, owner.value],
    }),
});
