import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { describeErrorGroup, OneErrorGroup } from '../../../subjects/errors/group.ts';
import { groupKnown } from '../../../subjects/errors/groups.ts';
import { errorFilterParameters, errorRange } from '../../../subjects/errors/scope.ts';
import { notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { etagOf } from '../../resources/preconditions.ts';
import { Decision, decisionView, undecided } from './decisions.ts';
import { rangeOfGroup } from './range.ts';
import { decisionsOf } from './stored-decisions.ts';

export const showError = defineOperation({
  method: 'GET',
  path: '/api/errors/{id}',
  operationId: 'getError',
  summary:
    'Get a group of errors by its id or that of one of its fingerprints: its last occurrence with the parsed stack, tags, and the grouping reason',
  role: 'viewer',
  versions: 'shown',
  params: z.strictObject({ id: z.string().min(1).max(64) }),
  query: z.strictObject({
    from: rangeParameters.from.describe('Default: the first occurrence of the group, within the retention'),
    to: rangeParameters.to,
    ...errorFilterParameters,
    ...projectScopeParameters,
  }),
  response: z.strictObject({ ...OneErrorGroup.shape, decision: Decision }),
  async handler({ caller, params, query, request }, ports) {
    const reading = readingOf(caller, ports);
    const decisions = await decisionsOf(ports.documents, caller.tenantId);
    const known = await groupKnown(reading, params.id, decisions);
    if (known === undefined) throw notFound('error group');
    const range = errorRange(rangeOfGroup(query, known, reading), reading);
    const question = { range, filter: query, landedBy: reading.nowMs };
    const group = await describeErrorGroup(reading, known.id, question, decisions);
    if (group === undefined) throw notFound('error group');
    const decided = decisions.states.find(({ id }) => id === known.id) ?? undecided;
    request.reply('ETag', etagOf(decided));
    return { ...group, decision: decisionView(known.id, decided, decisions.merges) };
  },
});
