import { z } from 'zod';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { multiFactors, multiFactorsTenant } from '../../../schemas/resources/multi-factor.ts';
import { type Membership, memberships, roles, type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import { createNotFoundError } from '../../errors.ts';
import type { Member as DirectoryMember } from '../../identity/directory.ts';

/** A user in an organization. */
export const Member = z.strictObject({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.enum(roles),
  disabled: z.boolean().describe('Whether the user is disabled in this organization'),
  multiFactor: z.boolean().describe('Whether the user signs in with a second factor'),
  version: z.int(),
  createdAt: z.iso.datetime().describe('When the user joined'),
  updatedAt: z.iso.datetime(),
});
export type Member = z.output<typeof Member>;

/** Fields of a member that `PATCH` ignores, so that a response can be sent back. */
export const serverOwnedMemberFields = ['email', 'name', 'multiFactor'] as const;

/** Fields of a member in the audit log. */
export const toAuditFields = (user: User, { role, disabled = false }: Membership) => ({
  email: user.email,
  name: user.name,
  role,
  disabled,
});

export const toMember = async (
  documents: Pick<Documents, 'forTenant'>,
  { membership, user }: DirectoryMember,
): Promise<Member> => {
  const enrolment = await documents.forTenant(multiFactorsTenant).collection(multiFactors).find(user.id);
  return {
    id: user.id,
    ...toAuditFields(user, membership),
    multiFactor: enrolment !== undefined && enrolment.confirmedAt !== null,
    version: membership.version,
    createdAt: membership.createdAt,
    updatedAt: membership.updatedAt,
  };
};

/** Returns a member with its user; throws `NOT_FOUND` if there is none. */
export const findMember = async (
  scope: Pick<Documents, 'forTenant'>,
  tenantId: string,
  id: string,
): Promise<DirectoryMember> => {
  const membership = await scope.forTenant(tenantId).collection(memberships).find(id);
  const user = membership && (await scope.forTenant(usersTenant).collection(users).find(id));
  if (membership === undefined || user === undefined) throw createNotFoundError('user');
  return { membership, user };
};
