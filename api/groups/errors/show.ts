import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { describeErrorGroup, OneErrorGroup } from '../../../subjects/errors/group.ts';
import { findGroup } from '../../../subjects/errors/groups.ts';
import { errorFilterParameters, parseErrorRange } from '../../../subjects/errors/scope.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { formatEtag } from '../../resources/preconditions.ts';
import { Decision, initialState, toDecisionView } from './decisions.ts';
import { mapOccurrence } from './mapped-occurrence.ts';
import { withGroupRange } from './range.ts';
import { readDecisions } from './stored-decisions.ts';

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
  async handler({ caller, params, query, request, signal }, ports) {
    const reader = createQueryReader(caller, ports);
    const decisions = await readDecisions(ports.documents, caller.tenantId);
    const foundGroup = await findGroup(reader, params.id, decisions);
    if (foundGroup === undefined) throw createNotFoundError('error group');
    const range = parseErrorRange(withGroupRange(query, foundGroup, reader), reader);
    const groupRequest = { range, filter: query, insertedBeforeMs: reader.nowMs };
    const group = await describeErrorGroup(reader, foundGroup.id, groupRequest, decisions);
    if (group === undefined) throw createNotFoundError('error group');
    const groupState = decisions.states.find(({ id }) => id === foundGroup.id) ?? initialState;
    request.reply('ETag', formatEtag(groupState));
    const newest = await mapOccurrence(group.newest, { caller, reader, signal }, ports);
    return { ...group, newest, decision: toDecisionView(foundGroup.id, groupState, decisions.merges) };
  },
});
