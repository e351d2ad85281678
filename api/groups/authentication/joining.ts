import { z } from 'zod';
import type { Stored } from '../../../schemas/ports/documents.ts';
import { type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import { ApiError, invalid } from '../../errors.ts';
import { knownAddressMail, registrationMail } from '../../identity/accounts/account-mails.ts';
import { addressOfToken, type Joining, join } from '../../identity/accounts/joining.ts';
import { countTokenUse, mayWriteTo } from '../../identity/accounts/mail-limits.ts';
import { EmailAddress, OrganizationName, PersonName } from '../../identity/accounts/names.ts';
import { findToken, putToken, voidTokens } from '../../identity/accounts/one-time-tokens.ts';
import { NewPassword } from '../../identity/password.ts';
import { refuseGuessable } from '../../identity/password-rules.ts';
import { beginSession } from '../../identity/sessions.ts';
import { countAttempt } from '../../identity/sign-in-attempts.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { Person, Tenant, Tokens } from './views.ts';

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
    // A known address takes the same steps, so that the response time reveals nothing either.
    await documents.transaction(async (scope) => {
      await voidTokens(scope, { email });
      const { token } = await putToken(scope, { purpose: 'registration', email, organization, expiresAt });
      const draft = known ? knownAddressMail(settings, email) : registrationMail(settings, email, organization, token);
      await mail.put(scope, mayWrite ? draft : undefined, lifetimeMs);
    });
    return {};
  },
});

const Body = z.strictObject({
  token: z.string().min(1).max(256).describe('Token from the link of the invitation or of the registration mail'),
  name: PersonName.optional().describe('Required for new users'),
  password: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe('New users choose a password; users with an account give their current one, which does not change'),
});
type Given = z.output<typeof Body>;

export const acceptInvite = defineOperation({
  method: 'POST',
  path: '/auth/accept-invite',
  operationId: 'acceptInvitation',
  summary: 'Accept an invitation. New users are signed in; users with an account keep it and sign in afterwards',
  role: 'none',
  audit: ['user.join', 'organization.create', 'session.begin'],
  body: Body,
  maxBodyBytes: 16 * 1024,
  response: z.strictObject({
    user: Person,
    tenant: Tenant,
    ...Tokens.partial().shape,
  }),
  async handler({ body, request, change }, ports) {
    const { counters, documents, settings, clock } = ports;
    await countTokenUse(counters, request.address);
    const token = await findToken(documents, body.token, ['invitation', 'registration'], clock.now());
    const email = await addressOfToken(ports, token);
    const [known] = (await documents.of(usersTenant).collection(users).list({ filter: { email } })).items;
    const joining: Joining =
      known === undefined
        ? { fresh: await newUser(email, body, ports) }
        : { known: await proved(known, body, request.address, ports) };
    const { user, organization } = await change((scope) =>
      join(scope, token, joining, { planId: settings.NEW_ORGANIZATION_PLAN }),
    );
    if (known === undefined) return beginSession({ user, organization, request, change }, ports);
    return {
      user: { id: user.id, email: user.email, name: user.name },
      tenant: { id: organization.id, name: organization.name },
    };
  },
});

const newUser = async (email: string, { name, password }: Given, { passwords }: Ports): Promise<User> => {
  if (name === undefined) throw invalid('name', 'is required');
  const chosen = NewPassword.safeParse(password);
  if (!chosen.success) throw invalid('password', chosen.error.issues[0]?.message ?? 'choose a password');
  await refuseGuessable(chosen.data, email);
  return { email, name, passwordHash: await passwords.hash(chosen.data), disabled: false };
};

/**
 * The invitation proves the address, and the password proves the account. This starts no session: the user signs in
 * afterwards, with the second factor.
 */
const proved = async (
  user: User & Stored,
  { password }: Given,
  address: string,
  { counters, passwords, settings }: Ports,
): Promise<User & Stored> => {
  const refused = new ApiError('UNAUTHENTICATED', 'this address has an account: enter its password to join');
  if (user.disabled) throw refused;
  if (user.passwordHash === null) return user;
  if (password === undefined) throw refused;
  const attempt = await countAttempt({ counters, settings }, address, user.email);
  if (!(await passwords.verify(user.passwordHash, password))) throw refused;
  await attempt.succeeded();
  return user;
};
