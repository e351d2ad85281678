import { z } from 'zod';
import { createListSchema, listParameters, readListPage } from '../../../subjects/infrastructure/paging.ts';
import { CoverageItem, coverageStates, readCoverage } from '../../../subjects/instrumentation/coverage.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

/** Items with the largest gap first */
const ranks: Readonly<Record<(typeof coverageStates)[number], number>> = {
  none: 4,
  several: 3,
  ebpf: 2,
  'zero-code': 1,
  sdk: 0,
};

export const listCoverage = defineOperation({
  method: 'GET',
  path: '/api/instrumentation/coverage',
  operationId: 'listInstrumentationCoverage',
  summary: 'List hosts and services with and without instrumentation, and what an eBPF agent would see of the others',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['state', 'name', 'lastSeenAt']),
    kind: z.enum(['host', 'service']).optional(),
    state: z.enum(coverageStates).optional(),
  }),
  response: createListSchema(CoverageItem),
  handler: ({ caller, query }, ports) =>
    readListPage('instrumentation-coverage', query, createQueryReader(caller, ports), {
      readItems: readCoverage,
      filters: { kind: ({ kind }) => kind, state: ({ state }) => state },
      sorts: {
        state: ({ state }) => ranks[state],
        name: ({ name }) => name,
        lastSeenAt: ({ lastSeenAt }) => lastSeenAt,
      },
      id: ({ kind, name }) => `${kind} ${name}`,
      texts: ({ name }) => [name],
    }),
});
