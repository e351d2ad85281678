import { z } from 'zod';
import { apiTokens, apiTokenUses, serviceAccounts } from '../../../schemas/resources/service-account.ts';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { equals, listParameters, readPage } from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { TokenView, tokenView } from './token-view.ts';

const listing = { sorts: ['createdAt', 'name', 'expiresAt'] };
/** The tokens of one account; not a parameter that callers give. */
const ofAccount = { ...listing, filters: { account: equals('serviceAccountId') } };

export const listTokens = defineOperation({
  method: 'GET',
  path: '/api/service-accounts/{id}/tokens',
  operationId: 'listApiTokens',
  summary: 'List the API tokens of a service account, with their last use',
  role: 'admin',
  params: idParameter,
  query: listParameters(listing),
  response: z.strictObject({ items: z.array(TokenView), nextCursor: z.string().nullable() }),
  async handler({ caller, params: { id: account }, query }, { documents, clock }) {
    const mine = documents.of(caller.tenantId);
    if ((await mine.collection(serviceAccounts).find(account)) === undefined) throw notFound('service account');
    const now = new Date(clock.now()).toISOString();
    const page = await readPage(mine.collection(apiTokens), ofAccount, { query: { ...query, account }, now });
    const uses = await Promise.all(page.items.map(({ id }) => mine.collection(apiTokenUses).find(id)));
    return { items: page.items.map((token, index) => tokenView(token, uses[index])), nextCursor: page.nextCursor };
  },
});
