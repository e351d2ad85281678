import { z } from 'zod';
import { platformTenant, type Stored } from '../../../schemas/ports/documents.ts';
import { type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import { changedPasswordLetter } from '../../identity/accounts/letters.ts';
import { countTokenUse } from '../../identity/accounts/mail-limits.ts';
import { findToken, useToken } from '../../identity/accounts/one-time-tokens.ts';
import { NewPassword } from '../../identity/password.ts';
import { refuseGuessable } from '../../identity/password-rules.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { ApiError } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

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
      await mail.put({ of }, changedPasswordLetter(settings, before.email));
      const actor = { type: 'user', id: before.id, name: before.email } as const;
      const places = directory.organizationsOf(before.id).map(({ id }) => id);
      for (const tenantId of places.length > 0 ? places : [platformTenant])
        record({ id: before.id, name: before.email, before, after, tenantId, actor });
    });
    return {};
  },
});
