import { z } from 'zod';
import { ConflictError, type StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import type { Transact } from '../../changes.ts';
import { ApiError } from '../../errors.ts';
import { createSignInChangedMail } from '../../identity/accounts/account-mails.ts';
import { checkSecondFactor } from '../../identity/second-factor.ts';
import { createUnauthenticatedError } from '../../identity/session.ts';
import { beginSession } from '../../identity/sessions.ts';
import { countSignInAttempt } from '../../identity/sign-in-attempts.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { SignedIn } from './views.ts';

export const login = defineOperation({
  method: 'POST',
  path: '/auth/login',
  operationId: 'login',
  summary:
    'Sign in with e-mail address and password (and a code if multi-factor is enabled), to the given or the last used organization',
  role: 'none',
  audit: ['session.begin', 'session.refuse', 'multi-factor.use-recovery-code'],
  body: z.strictObject({
    email: z.string().min(1).max(320),
    password: z.string().min(1).max(1024),
    code: z.string().max(32).optional().describe('Code of the authenticator, if multi-factor is enabled'),
    organizationId: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe(
        'An organization of the user. Scripts should set it: the default is the organization of the last switch',
      ),
  }),
  maxBodyBytes: 16 * 1024,
  response: SignedIn,
  async handler({ body, request, change }, ports) {
    const { directory, passwords, signInFailures } = ports;
    const email = body.email.trim().toLowerCase();
    const attempt = await countSignInAttempt(ports, request.address, email);
    const user = directory.findUserByEmail(email);
    const isPasswordCorrect = await passwords.verify(user?.passwordHash, body.password);
    const userOrganizations = user === undefined ? [] : directory.listOrganizationsOfUser(user.id);
    const requestedId = body.organizationId;
    const organization =
      requestedId === undefined
        ? (userOrganizations.find(({ id }) => id === user?.lastTenantId) ?? userOrganizations[0])
        : userOrganizations.find(({ id }) => id === requestedId);
    if (!isPasswordCorrect || user === undefined || user.disabled) {
      signInFailures.recordRejection({ email, user, tenantId: organization?.id, change });
      throw createUnauthenticatedError('the e-mail address or the password is wrong');
    }
    if (organization === undefined)
      throw new ApiError(
        'FORBIDDEN',
        requestedId === undefined
          ? 'this user is not a member of any organization'
          : `you are not a member of the organization ${requestedId}`,
      );
    let secondFactor: Awaited<ReturnType<typeof checkSecondFactor>>;
    try {
      secondFactor = await checkSecondFactor({ user, code: body.code, request }, ports);
    } catch (error) {
      if (body.code !== undefined) signInFailures.recordRejection({ email, user, tenantId: organization.id, change });
      throw error;
    }
    await attempt.reportSuccess();
    if (secondFactor === 'recovery-code') await recordRecoveryCodeUse(user, organization.id, { change, ports });
    await rehashIfOutdated(user, body.password, ports);
    return beginSession(
      { user, organization, request, change, isOrganizationRequested: requestedId !== undefined },
      ports,
    );
  },
});

/** Records the use of a recovery code and informs the user by mail, because a thief may have used it. */
const recordRecoveryCodeUse = (
  user: User & StoredMetadata,
  tenantId: string,
  { change, ports }: { readonly change: Transact; readonly ports: Ports },
): Promise<void> =>
  change(async (scope) => {
    const mailText = 'Someone, hopefully you, signed in with a recovery code instead of the authenticator.';
    await ports.mail.enqueue(scope, createSignInChangedMail(ports.settings, user.email, mailText));
    const actor = { type: 'user', id: user.id, name: user.email } as const;
    scope.record({ action: 'multi-factor.use-recovery-code', id: user.id, name: user.email, tenantId, actor });
  });

/** Hashes the password again if its stored hash has weaker parameters than the current ones. */
const rehashIfOutdated = async (
  user: User & StoredMetadata,
  password: string,
  { documents, passwords }: Ports,
): Promise<void> => {
  if (user.passwordHash === null || !passwords.isOutdated(user.passwordHash)) return;
  const passwordHash = await passwords.hash(password);
  try {
    await documents.forTenant(usersTenant).collection(users).update(user.id, { passwordHash }, user.version);
  } catch (error) {
    // The user was changed in the meantime, perhaps the password. The next sign-in retries.
    if (!(error instanceof ConflictError)) throw error;
  }
};
