import { z } from 'zod';
import { users, usersTenant } from '../../../schemas/resources/user.ts';
import { signInChangedLetter } from '../../identity/accounts/letters.ts';
import { personOf } from '../../identity/caller.ts';
import { NewPassword } from '../../identity/password.ts';
import { refuseGuessable } from '../../identity/password-rules.ts';
import { requireCode } from '../../identity/second-factor.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { countAttempt } from '../../identity/sign-in-attempts.ts';
import { ApiError, invalid } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const changePassword = defineOperation({
  method: 'POST',
  path: '/auth/change-password',
  operationId: 'changePassword',
  summary: 'Change my password (requires a code if multi-factor is on); ends my other sessions and informs me by mail',
  role: 'session',
  audit: 'user.change-password',
  body: z.strictObject({
    currentPassword: z.string().min(1).max(1024),
    newPassword: NewPassword,
    code: z
      .string()
      .max(32)
      .optional()
      .describe('Code of the authenticator, or a recovery code; required if multi-factor is on'),
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
      await mail.put(scope, signInChangedLetter(settings, user.email, happened));
      record({ id: userId, name: user.email, before, after: changed });
      return removeSessions(scope, { userId }, sessionId);
    });
    return { endedSessions };
  },
});
