import { z } from 'zod';
import { platformTenant, type StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import { requireUser } from '../../callers/caller.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import {
  createNoPasswordMail,
  createPasswordChangedMail,
  createPasswordResetMail,
  createSignInChangedMail,
} from '../../identity/accounts/account-mails.ts';
import { countMailRequest, countTokenUse } from '../../identity/accounts/mail-limits.ts';
import { EmailAddress } from '../../identity/accounts/names.ts';
import { consumeToken, createToken, findToken, invalidateTokens } from '../../identity/accounts/one-time-tokens.ts';
import { NewPassword } from '../../identity/password.ts';
import { requireHardToGuess } from '../../identity/password-rules.ts';
import { requireCode } from '../../identity/second-factor.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { countSignInAttempt } from '../../identity/sign-in-attempts.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const changePassword = defineOperation({
  method: 'POST',
  path: '/auth/change-password',
  operationId: 'changePassword',
  summary:
    'Change my password (requires a code if multi-factor is enabled); ends my other sessions and notifies me by mail',
  role: 'session',
  audit: 'user.change-password',
  body: z.strictObject({
    currentPassword: z.string().min(1).max(1024),
    newPassword: NewPassword,
    code: z
      .string()
      .max(32)
      .optional()
      .describe('Code of the authenticator, or a recovery code; required if multi-factor is enabled'),
  }),
  maxBodyBytes: 16 * 1024,
  response: z.strictObject({ endedSessions: z.int() }),
  async handler({ caller, body, request, change }, ports) {
    const { mail, passwords, settings } = ports;
    const { user, userId, sessionId } = requireUser(caller);
    const attempt = await countSignInAttempt(ports, request.address, user.email);
    if (!(await passwords.verify(user.passwordHash, body.currentPassword)))
      throw createFieldError('currentPassword', 'is not your password');
    await attempt.reportSuccess();
    if (body.newPassword === body.currentPassword)
      throw createFieldError('newPassword', 'must differ from the current password');
    await requireHardToGuess(body.newPassword, user.email, 'newPassword');
    await requireCode(user.id, { code: body.code, request }, ports);
    const passwordHash = await passwords.hash(body.newPassword);
    const endedSessions = await change(async (scope) => {
      const { forTenant, record } = scope;
      const userCollection = forTenant(usersTenant).collection(users);
      const before = await userCollection.find(userId);
      if (before?.passwordHash !== user.passwordHash)
        throw new ApiError('CONFLICT', 'the password was changed in another session; sign in again');
      const updated = await userCollection.update(userId, { passwordHash });
      const mailText = 'Your password was changed, and your other sessions were ended.';
      await mail.enqueue(scope, createSignInChangedMail(settings, user.email, mailText));
      record({ id: userId, name: user.email, before, after: updated });
      return removeSessions(scope, { userId }, sessionId);
    });
    return { endedSessions };
  },
});

const lifetimeMs = 60 * 60_000;

export const forgotPassword = defineOperation({
  method: 'POST',
  path: '/auth/forgot-password',
  operationId: 'forgotPassword',
  summary: 'Mail a link to reset the password; the response does not reveal whether the address has an account',
  role: 'none',
  auditExemption: 'it changes nothing; choosing the password is recorded',
  body: z.strictObject({ email: EmailAddress }),
  maxBodyBytes: 16 * 1024,
  response: z.strictObject({
    mail: z
      .enum(['queued', 'not-configured'])
      .describe('Whether this installation has a mail server; the same for known and unknown addresses'),
  }),
  async handler({ body: { email }, request }, { counters, directory, documents, mail, settings, clock }) {
    const canSendMail = await countMailRequest(counters, request.address, email);
    const user = canSendMail ? directory.findUserByEmail(email) : undefined;
    const activeUser = user === undefined || user.disabled ? undefined : user;
    const expiresAt = new Date(clock.now() + lifetimeMs).toISOString();
    // The same steps are taken for an unknown address, so that the response time does not reveal it either.
    await documents.transaction(async (scope) => {
      const userId = activeUser?.id ?? '';
      await invalidateTokens(scope, { userId });
      const { token } = await createToken(scope, { purpose: 'reset-password', userId, expiresAt });
      const draft =
        activeUser === undefined || activeUser.passwordHash !== null
          ? createPasswordResetMail(settings, email, token)
          : createNoPasswordMail(settings, email);
      await mail.enqueue(scope, activeUser && draft, lifetimeMs);
    });
    return { mail: mail.isConfigured ? ('queued' as const) : ('not-configured' as const) };
  },
});

const requireResettable = (user: (User & StoredMetadata) | undefined): User & StoredMetadata => {
  if (user !== undefined && !user.disabled && user.passwordHash !== null) return user;
  throw new ApiError('TOKEN_INVALID', 'the password of this account cannot be reset');
};

export const resetPassword = defineOperation({
  method: 'POST',
  path: '/auth/reset-password',
  operationId: 'resetPassword',
  summary: 'Choose a new password with the mailed token; ends every session of the user',
  role: 'none',
  audit: 'user.reset-password',
  body: z.strictObject({
    token: z.string().min(1).max(256).describe('Token from the mailed link; valid once'),
    password: NewPassword,
  }),
  maxBodyBytes: 16 * 1024,
  response: z.strictObject({}),
  async handler({ body, request, change }, { counters, directory, documents, mail, passwords, settings, clock }) {
    await countTokenUse(counters, request.address);
    const token = await findToken(documents, body.token, ['reset-password'], clock.now());
    const stored = documents.forTenant(usersTenant).collection(users);
    const { email } = requireResettable(await stored.find(token.userId));
    await requireHardToGuess(body.password, email);
    const passwordHash = await passwords.hash(body.password);
    await change(async ({ forTenant, record }) => {
      await consumeToken({ forTenant }, token);
      const userCollection = forTenant(usersTenant).collection(users);
      const before = requireResettable(await userCollection.find(token.userId));
      const after = await userCollection.update(before.id, { passwordHash });
      await removeSessions({ forTenant }, { userId: before.id });
      await mail.enqueue({ forTenant }, createPasswordChangedMail(settings, before.email));
      const actor = { type: 'user', id: before.id, name: before.email } as const;
      const tenantIds = directory.listOrganizationsOfUser(before.id).map(({ id }) => id);
      for (const tenantId of tenantIds.length > 0 ? tenantIds : [platformTenant])
        record({ id: before.id, name: before.email, before, after, tenantId, actor });
    });
    return {};
  },
});
