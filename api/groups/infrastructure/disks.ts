import { z } from 'zod';
import { addForecasts, Disk, type DiskWithHistory, readDisks } from '../../../subjects/infrastructure/disks.ts';
import {
  createFilter,
  createListSchema,
  createPage,
  listParameters,
  parsePage,
} from '../../../subjects/infrastructure/paging.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'disks';

export const listDisks = defineOperation({
  method: 'GET',
  path: '/api/infrastructure/disks',
  operationId: 'listDisks',
  summary:
    'List disks and volumes with their usage, reads and writes, and the days until they are full; the fullest first',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['utilization', 'used', 'name']),
    host: z.string().max(512).optional().describe('Only disks of this host, by id'),
    kind: z.enum(['filesystem', 'volume']).optional(),
    historyDays: z.coerce
      .number()
      .int()
      .min(2)
      .max(90)
      .default(7)
      .describe('Days before the end of the range that the fill forecast uses; at most the retention of the plan'),
  }),
  response: createListSchema(Disk),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const page = parsePage(cursorKind, query, reader);
    const diskResult = await readDisks(reader, page.range, query);
    const items = diskResult.items.filter(
      createFilter(query, { host: ({ disk }: DiskWithHistory) => disk.host.value, kind: ({ disk }) => disk.kind }),
    );
    const diskPage = createPage(
      cursorKind,
      query,
      page,
      { ...diskResult, items },
      {
        sorts: {
          utilization: ({ disk }) => disk.utilization.value,
          used: ({ disk }) => disk.used.value,
          name: ({ disk }) => disk.id,
        },
        id: ({ disk }) => disk.id,
        texts: ({ disk }) => [disk.id, disk.claim.value, ...disk.mountpoints],
      },
    );
    const retentionDays = caller.plan.retentionDays.metrics;
    const disks = await addForecasts(reader, page.range, query, {
      disks: diskPage.items,
      days: Math.min(query.historyDays, retentionDays),
    });
    return { ...diskPage, items: disks };
  },
});
