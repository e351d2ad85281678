import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { OnePod, readPod } from '../../../subjects/kubernetes/pod.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const { from, to } = rangeParameters;

export const showPod = defineOperation({
  method: 'GET',
  path: '/api/kubernetes/pods/{uid}',
  operationId: 'getPod',
  summary: 'Get a pod with its containers, events and newest log records',
  role: 'viewer',
  cache: listCache,
  params: z.strictObject({ uid: z.string().min(1).max(1024).describe('Its uid, or the id in the list') }),
  query: z.strictObject({ from, to, ...projectScopeParameters }),
  response: OnePod,
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const range = parseRetainedRange(query, { caller: reader, signal: 'metrics', nowMs: reader.nowMs });
    const pod = await readPod(reader, range, query, params.uid);
    if (pod === undefined) throw createNotFoundError('pod');
    return pod;
  },
});
