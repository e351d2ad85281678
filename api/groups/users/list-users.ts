import { z } from 'zod';
import { memberships, roles, users, usersTenant } from '../../../schemas/resources/user.ts';
import { defineOperation } from '../../http/operation.ts';
import { equals, listParameters, readPage } from '../../http/resource-list.ts';
import { Member, memberOf } from './member.ts';

const listing = {
  filters: { role: equals('role', z.enum(roles)) },
  // Names and addresses are the user's, in a collection of their own.
  searched: [],
  sorts: ['createdAt', 'role'],
} as const;

export const listUsers = defineOperation({
  method: 'GET',
  path: '/api/users',
  operationId: 'listUsers',
  summary: 'Users of the organization',
  group: 'users',
  role: 'admin',
  query: listParameters(listing),
  response: z.strictObject({ items: z.array(Member), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { documents, clock }) {
    const now = new Date(clock.now()).toISOString();
    const members = documents.of(caller.tenantId).collection(memberships);
    const page = await readPage(members, listing, { query: query as typeof query & { limit: number }, now });
    const people = documents.of(usersTenant).collection(users);
    const items: Member[] = [];
    for (const membership of page.items) {
      const user = await people.find(membership.id);
      if (user !== undefined) items.push(await memberOf(documents, membership, user));
    }
    return { items, nextCursor: page.nextCursor };
  },
});
