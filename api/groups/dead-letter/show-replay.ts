import { z } from 'zod';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { ReplayView, replayViewOf } from './views.ts';

export const showReplay = defineOperation({
  method: 'GET',
  path: '/api/dead-letter/replays/{id}',
  operationId: 'getDeadLetterReplay',
  summary: 'Get the progress and result of a replay',
  role: 'admin',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: ReplayView,
  async handler({ caller, params }, { replayJobs }) {
    const job = await replayJobs.find(caller.tenantId, params.id);
    if (job === undefined) throw notFound('replay');
    return replayViewOf(job);
  },
});
