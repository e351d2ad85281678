import { z } from 'zod';
import { noPasswordLetter, resetLetter } from '../../identity/accounts/letters.ts';
import { mayWriteTo } from '../../identity/accounts/mail-limits.ts';
import { EmailAddress } from '../../identity/accounts/names.ts';
import { putToken, voidTokens } from '../../identity/accounts/one-time-tokens.ts';
import { defineOperation } from '../../kernel/operation.ts';

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
    // An unknown address takes the same steps, so that the time tells nothing either.
    await documents.transaction(async (scope) => {
      const userId = active?.id ?? '';
      await voidTokens(scope, { userId });
      const { token } = await putToken(scope, { purpose: 'reset-password', userId, expiresAt });
      const letter =
        active === undefined || active.passwordHash !== null
          ? resetLetter(settings, email, token)
          : noPasswordLetter(settings, email);
      await mail.put(scope, active && letter, lifetimeMs);
    });
    return {};
  },
});
