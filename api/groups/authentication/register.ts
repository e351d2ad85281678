import { z } from 'zod';
import { knownAddressLetter, registrationLetter } from '../../identity/accounts/letters.ts';
import { mayWriteTo } from '../../identity/accounts/mail-limits.ts';
import { EmailAddress, OrganizationName } from '../../identity/accounts/names.ts';
import { putToken, voidTokens } from '../../identity/accounts/one-time-tokens.ts';
import { ApiError } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

const lifetimeMs = 24 * 60 * 60_000;

export const register = defineOperation({
  method: 'POST',
  path: '/auth/register',
  operationId: 'register',
  summary:
    'Register a new organization. The mailed token creates it through POST /auth/accept-invite; 403 if self sign-up is off',
  role: 'none',
  unaudited: 'nothing is made before the address is confirmed; making the organization is recorded',
  body: z.strictObject({ email: EmailAddress, organization: OrganizationName }),
  maxBodyBytes: 16 * 1024,
  response: z.strictObject({}),
  async handler({ body: { email, organization }, request }, { counters, directory, documents, mail, settings, clock }) {
    if (!settings.SELF_SIGNUP)
      throw new ApiError(
        'FORBIDDEN',
        'registration is off on this installation; ask an organization’s administrator to invite you',
      );
    const mayWrite = await mayWriteTo(counters, request.address, email);
    const known = directory.userByEmail(email) !== undefined;
    const expiresAt = new Date(clock.now() + lifetimeMs).toISOString();
    // A known address takes the same steps, so that the time tells nothing either.
    await documents.transaction(async (scope) => {
      await voidTokens(scope, { email });
      const { token } = await putToken(scope, { purpose: 'registration', email, organization, expiresAt });
      const letter = known
        ? knownAddressLetter(settings, email)
        : registrationLetter(settings, email, organization, token);
      await mail.put(scope, mayWrite ? letter : undefined, lifetimeMs);
    });
    return {};
  },
});
