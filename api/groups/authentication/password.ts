import { z } from 'zod';
import { platformTenant, type Stored } from '../../../schemas/ports/documents.ts';
import { type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import { personOf } from '../../callers/caller.ts';
import { ApiError, invalid } from '../../errors.ts';
import {
  noPasswordMail,
  passwordChangedMail,
  passwordResetMail,
  signInChangedMail,
} from '../../identity/accounts/account-mails.ts';
import { countTokenUse, mayWriteTo } from '../../identity/accounts/mail-limits.ts';
import { EmailAddress } from '../../identity/accounts/names.ts';
import { findToken, putToken, useToken, voidTokens } from '../../identity/accounts/one-time-tokens.ts';
import { NewPassword } from '../../identity/password.ts';
import { refuseGuessable } from '../../identity/password-rules.ts';
import { requireCode } from '../../identity/second-factor.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { countAttempt } from '../../identity/sign-in-attempts.ts';
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
    const { user, userId, sessionId } = personOf(caller);
    const attempt = await countAttempt(ports, request.address, user.email);
    if (!(await passwords.verify(user.passwordHash, body.currentPassword)))
      throw invalid('currentPassword', 'is not your password');
    await attempt.succeeded();
    if (body.newPassword === body.currentPassword)
      throw invalid('newPassword', 'must differ from the current password');
    await refuseGuessable(body.newPassword, user.email, 'newPassword');
    await requireCode(user.id, { code: body.code, request }, ports);
    const passwordHash = await passwords.hash(body.newPassword);
    const endedSessions = await change(async (scope) => {
      const { of, record } = scope;
      const stored = of(usersTenant).collection(users);
      const before = await stored.find(userId);
      if (before?.passwordHash !== user.passwordHash)
        throw new ApiError('CONFLICT', 'the password was changed elsewhere meanwhile; sign in again');
      const changed = await stored.update(userId, { passwordHash });
      const happened = 'Your password was changed, and your other sessions were ended.';
      await mail.put(scope, signInChangedMail(settings, user.email, happened));
      record({ id: userId, name: user.email, before, after: changed });
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
  unaudited: 'it changes nothing; choosing the password is recorded',
  body: z.strictObject({ email: EmailAddress }),
  maxBodyBytes: 16 * 1024,
  response: z.strictObject({}),
  async handler({ body: { email }, request }, { counters, directory, documents, mail, settings, clock }) {
    const mayWrite = await mayWriteTo(counters, request.address, email);
    const user = mayWrite ? directory.userByEmail(email) : undefined;
    const active = user === undefined || user.disabled ? undefined : user;
    const expiresAt = new Date(clock.now() + lifetimeMs).toISOString();
    // An unknown address takes the same steps, so that the response time reveals nothing either.
    await documents.transaction(async (scope) => {
      const userId = active?.id ?? '';
      await voidTokens(scope, { userId });
      const { token } = await putToken(scope, { purpose: 'reset-password', userId, expiresAt });
      const draft =
        active === undefined || active.passwordHash !== null
          ? passwordResetMail(settings, email, token)
          : noPasswordMail(settings, email);
      await mail.put(scope, active && draft, lifetimeMs);
    });
    return {};
  },
});

const active = (user: (User & Stored) | undefined): User & Stored => {
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
    const stored = documents.of(usersTenant).collection(users);
    const { email } = active(await stored.find(token.userId));
    await refuseGuessable(body.password, email);
    const passwordHash = await passwords.hash(body.password);
    await change(async ({ of, record }) => {
      await useToken({ of }, token);
      const people = of(usersTenant).collection(users);
      const before = active(await people.find(token.userId));
      const after = await people.update(before.id, { passwordHash });
      await removeSessions({ of }, { userId: before.id });
      await mail.put({ of }, passwordChangedMail(settings, before.email));
      const actor = { type: 'user', id: before.id, name: before.email } as const;
      const places = directory.organizationsOf(before.id).map(({ id }) => id);
      for (const tenantId of places.length > 0 ? places : [platformTenant])
        record({ id: before.id, name: before.email, before, after, tenantId, actor });
    });
    return {};
  },
});
