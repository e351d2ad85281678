import { z } from 'zod';
import { parseRetainedRange, rangeParameters } from '../../../../queries/range.ts';
import { OneLogPattern, readPattern } from '../../../../subjects/log-patterns/pattern.ts';
import { createNotFoundError } from '../../../errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { listCache } from '../../../kernel/result-cache.ts';
import { filterParameters, toPatternsQuery } from './pattern-query.ts';

export const showLogPattern = defineOperation({
  method: 'GET',
  path: '/api/logs/patterns/{id}',
  operationId: 'getLogPattern',
  summary: 'Get a pattern of log bodies, by its id or the id of a pattern that was merged into it',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  params: z.strictObject({ id: z.string().min(1).max(64) }),
  query: z.strictObject({ from: rangeParameters.from, to: rangeParameters.to, ...filterParameters }),
  response: OneLogPattern,
  async handler({ caller, params, query }, { columns, clock }) {
    const nowMs = clock.now();
    const range = parseRetainedRange(query, { caller, signal: 'logs', nowMs });
    const patternsQuery = toPatternsQuery(query, range, { caller, nowMs });
    const pattern = await readPattern(columns.forTenant(caller.tenantId), params.id, patternsQuery);
    if (pattern === undefined) throw createNotFoundError('log pattern');
    return pattern;
  },
});
