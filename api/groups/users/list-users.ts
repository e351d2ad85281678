import { z } from 'zod';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { memberships, roles, users, usersTenant } from '../../../schemas/resources/user.ts';
import { invalid } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { equals, type ListParameters, listParameters, readPage } from '../../resources/resource-list.ts';
import { Member, memberOf, type Place } from './member.ts';

const byMembership = {
  filters: { role: equals('role', z.enum(roles)) },
  searched: [],
  sorts: ['createdAt', 'role'],
} as const;
/** Names and addresses are the users', in a collection of their own. */
const byUser = { searched: ['email', 'name'], sorts: ['email'] } as const;

interface Found {
  readonly places: readonly Place[];
  readonly nextCursor: string | null;
}

interface Asked {
  readonly tenantId: string;
  readonly query: ListParameters;
  readonly now: string;
}

const placesByMembership = async (documents: Documents, { tenantId, query, now }: Asked): Promise<Found> => {
  const members = documents.of(tenantId).collection(memberships);
  const { items, nextCursor } = await readPage(members, byMembership, { query, now });
  const people = documents.of(usersTenant).collection(users);
  const places = await Promise.all(
    items.map(async (membership) => {
      const user = await people.find(membership.id);
      return user === undefined ? [] : [{ membership, user }];
    }),
  );
  return { places: places.flat(), nextCursor };
};

/** Members among the users who match. Most who match are members, where an installation has one organization. */
const placesByUser = async (documents: Documents, { tenantId, query, now }: Asked): Promise<Found> => {
  if (query.sort !== undefined) throw invalid('sort', 'found users are sorted by address: leave it out with search');
  const people = documents.of(usersTenant).collection(users);
  const members = documents.of(tenantId).collection(memberships);
  const places: Place[] = [];
  let { cursor } = query;
  for (;;) {
    // No more than what is missing, so that the cursor of the store is that of the answer.
    const asked = { ...query, cursor, limit: query.limit - places.length };
    const page = await readPage(people, byUser, { query: asked, now });
    const found = await Promise.all(
      page.items.map(async (user) => {
        const membership = await members.find(user.id);
        const wanted = query['role'] === undefined || membership?.role === query['role'];
        return membership === undefined || !wanted ? [] : [{ membership, user }];
      }),
    );
    places.push(...found.flat());
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined || places.length >= query.limit) return { places, nextCursor: page.nextCursor };
  }
};

export const listUsers = defineOperation({
  method: 'GET',
  path: '/api/users',
  operationId: 'listUsers',
  summary: 'Users of the organization',
  role: 'admin',
  query: listParameters(byMembership).extend({
    search: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Text that occurs in address or name, in either case; found users are sorted by address'),
  }),
  response: z.strictObject({ items: z.array(Member), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { documents, clock }) {
    const parameters: ListParameters = { ...query, limit: Number(query.limit) };
    const asked = { tenantId: caller.tenantId, query: parameters, now: new Date(clock.now()).toISOString() };
    const { places, nextCursor } = await (query.search === undefined ? placesByMembership : placesByUser)(
      documents,
      asked,
    );
    return { items: await Promise.all(places.map((place) => memberOf(documents, place))), nextCursor };
  },
});
