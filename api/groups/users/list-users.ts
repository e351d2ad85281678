import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../../../queries/cursor.ts';
import { memberships, roles } from '../../../schemas/resources/user.ts';
import type { Member as DirectoryMember } from '../../identity/directory.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createEqualsFilter, createListParameters } from '../../resources/resource-list.ts';
import { Member, toMember } from './member.ts';

/** Sort fields of the list, with their values */
const sortValues: Readonly<Record<string, (member: DirectoryMember) => string>> = {
  createdAt: ({ membership }) => membership.createdAt,
  role: ({ membership }) => membership.role,
  email: ({ user }) => user.email,
};

interface UserQuery {
  readonly role?: unknown;
  readonly search?: unknown;
  readonly sort?: unknown;
  readonly limit: number;
  readonly cursor?: unknown;
}

const matchesQuery = ({ user, membership }: DirectoryMember, { role, search }: UserQuery): boolean => {
  if (role !== undefined && membership.role !== role) return false;
  if (typeof search !== 'string') return true;
  const text = search.toLowerCase();
  return user.email.includes(text) || user.name.toLowerCase().includes(text);
};

const compare = (left: string, right: string): number => (left === right ? 0 : left < right ? -1 : 1);

/** One page of the matching members, and the cursor of the next page */
const paginateMembers = (
  members: readonly DirectoryMember[],
  query: UserQuery,
): { page: readonly DirectoryMember[]; nextCursor: string | null } => {
  const sort = String(query.sort ?? (query.search === undefined ? 'createdAt' : 'email'));
  const direction = sort.startsWith('-') ? -1 : 1;
  const getSortKey = sortValues[sort.replace(/^-/, '')] ?? (() => '');
  const kind = `users ${sort}`;
  const after = query.cursor === undefined ? undefined : decodeCursor(kind, String(query.cursor), [/^.+$/, /^.+$/]);
  const remainingEntries = members.flatMap((member) => {
    const [value, id] = [getSortKey(member), member.user.id];
    const order = after === undefined ? 1 : compare(value, after[0] ?? '') * direction || compare(id, after[1] ?? '');
    return order > 0 && matchesQuery(member, query) ? [{ member, value, id }] : [];
  });
  remainingEntries.sort((left, right) => compare(left.value, right.value) * direction || compare(left.id, right.id));
  const pageEntries = remainingEntries.slice(0, query.limit);
  const last = remainingEntries.length > pageEntries.length ? pageEntries.at(-1) : undefined;
  return {
    page: pageEntries.map(({ member }) => member),
    nextCursor: last === undefined ? null : encodeCursor(kind, [last.value, last.id]),
  };
};

export const listUsers = defineOperation({
  method: 'GET',
  path: '/api/users',
  operationId: 'listUsers',
  summary: 'List the users of the organization; search results are sorted by address by default',
  role: 'admin',
  query: createListParameters({
    filters: { role: createEqualsFilter('role', z.enum(roles)) },
    searched: ['email', 'name'],
    sorts: Object.keys(sortValues),
  }),
  response: z.strictObject({ items: z.array(Member), nextCursor: z.string().nullable() }),
  async handler({ caller: { tenantId }, query }, { directory, documents }) {
    const { page, nextCursor } = paginateMembers(directory.listMembers(tenantId), {
      ...query,
      limit: Number(query.limit),
    });
    const membershipCollection = documents.forTenant(tenantId).collection(memberships);
    // The list is built from memory. The memberships are read from the store, because recent changes may be missing in
    // memory.
    const items = await Promise.all(
      page.map(async ({ user }) => {
        const membership = await membershipCollection.find(user.id);
        return membership === undefined ? [] : [await toMember(documents, { user, membership })];
      }),
    );
    return { items: items.flat(), nextCursor };
  },
});
