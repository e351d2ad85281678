import { z } from 'zod';
import { parseMilliseconds } from '../../../queries/range.ts';
import { createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { ReplayView } from '../../kernel/ports/dead-letters.ts';
import { filterFields, toReplayView } from './views.ts';

export const replayDeadLetters = defineOperation({
  method: 'POST',
  path: '/api/dead-letter/replay',
  operationId: 'replayDeadLetters',
  summary: 'Replay open dead letters, by ids or filter',
  role: 'admin',
  audit: 'dead-letter-replay.start',
  body: z.strictObject({
    ...filterFields,
    ids: z.array(z.string().min(1).max(128)).min(1).max(1000).optional(),
    all: z.boolean().default(false).describe('Required to replay all open dead letters'),
    dryRun: z.boolean().default(false),
  }),
  response: ReplayView,
  async handler({ caller, body, change }, { replayJobs, clock }) {
    const { dryRun, all, from, to, ...filter } = body;
    const isRestricted = [from, to, ...Object.values(filter)].some((value) => value !== undefined);
    if (!isRestricted && !all) throw createFieldError('ids', 'is required, unless a filter or all: true is given');
    const now = clock.now();
    const range = { fromMs: parseMilliseconds('from', from, now), toMs: parseMilliseconds('to', to, now) };
    const job = await replayJobs.start(
      caller.tenantId,
      { ...filter, ...range },
      { actor: `${caller.actor.type} ${caller.actor.name}`, dryRun, change },
    );
    return toReplayView(job);
  },
});

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
    if (job === undefined) throw createNotFoundError('replay');
    return toReplayView(job);
  },
});
