import { z } from 'zod';
import { ConflictError, type Stored } from '../../../schemas/ports/documents.ts';
import { type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import type { Transact } from '../../changes.ts';
import { ApiError } from '../../errors.ts';
import { signInChangedMail } from '../../identity/accounts/account-mails.ts';
import { checkSecondFactor } from '../../identity/second-factor.ts';
import { unauthenticated } from '../../identity/session.ts';
import { beginSession } from '../../identity/sessions.ts';
import { countAttempt } from '../../identity/sign-in-attempts.ts';
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
    const attempt = await countAttempt(ports, request.address, email);
    const user = directory.userByEmail(email);
    const right = await passwords.verify(user?.passwordHash, body.password);
    const places = user === undefined ? [] : directory.organizationsOf(user.id);
    const named = body.organizationId;
    const organization =
      named === undefined
        ? (places.find(({ id }) => id === user?.lastTenantId) ?? places[0])
        : places.find(({ id }) => id === named);
    if (!right || user === undefined || user.disabled) {
      signInFailures.refused({ email, user, tenantId: organization?.id, change });
      throw unauthenticated('the e-mail address or the password is wrong');
    }
    if (organization === undefined)
      throw new ApiError(
        'FORBIDDEN',
        named === undefined
          ? 'this user is not a member of any organization'
          : `you are not a member of the organization ${named}`,
      );
    let shownBy: Awaited<ReturnType<typeof checkSecondFactor>>;
    try {
      shownBy = await checkSecondFactor({ user, code: body.code, request }, ports);
    } catch (error) {
      if (body.code !== undefined) signInFailures.refused({ email, user, tenantId: organization.id, change });
      throw error;
    }
    await attempt.succeeded();
    if (shownBy === 'recovery-code') await recordRecovery(user, organization.id, { change, ports });
    await rehash(user, body.password, ports);
    return beginSession({ user, organization, request, change, isNamed: named !== undefined }, ports);
  },
});

/** Records the use of a recovery code and informs the user by mail, because a thief may have used it. */
const recordRecovery = (
  user: User & Stored,
  tenantId: string,
  { change, ports }: { readonly change: Transact; readonly ports: Ports },
): Promise<void> =>
  change(async (scope) => {
    const happened = 'Someone, hopefully you, signed in with a recovery code instead of the authenticator.';
    await ports.mail.put(scope, signInChangedMail(ports.settings, user.email, happened));
    const actor = { type: 'user', id: user.id, name: user.email } as const;
    scope.record({ action: 'multi-factor.use-recovery-code', id: user.id, name: user.email, tenantId, actor });
  });

/** Hashes the password again if its hash has weaker parameters than the current ones. */
const rehash = async (user: User & Stored, password: string, { documents, passwords }: Ports): Promise<void> => {
  if (user.passwordHash === null || !passwords.isOutdated(user.passwordHash)) return;
  const passwordHash = await passwords.hash(password);
  try {
    await documents.of(usersTenant).collection(users).update(user.id, { passwordHash }, user.version);
  } catch (error) {
    // The user was changed in the meantime, perhaps the password. The next sign-in retries.
    if (!(error instanceof ConflictError)) throw error;
  }
};
