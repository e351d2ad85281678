import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { createExistingAccountMail, createRegistrationMail } from '../../identity/accounts/account-mails.ts';
import { type JoiningUser, readTokenAddress, redeemJoinToken } from '../../identity/accounts/join-tokens.ts';
import { countMailRequest, countTokenUse } from '../../identity/accounts/mail-limits.ts';
import { EmailAddress, OrganizationName, PersonName } from '../../identity/accounts/names.ts';
import { createToken, findToken, invalidateTokens } from '../../identity/accounts/one-time-tokens.ts';
import { NewPassword } from '../../identity/password.ts';
import { requireHardToGuess } from '../../identity/password-rules.ts';
import { beginSession } from '../../identity/sessions.ts';
import { countSignInAttempt } from '../../identity/sign-in-attempts.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { Person, Tenant, Tokens } from './views.ts';

const lifetimeMs = 24 * 60 * 60_000;

export const register = defineOperation({
  method: 'POST',
  path: '/auth/register',
  operationId: 'register',
  summary:
    'Register a new organization. The mailed token creates it through POST /auth/accept-invite; 403 if self sign-up is disabled',
  role: 'none',
  auditExemption: 'it creates nothing before the address is confirmed; the creation of the organization is recorded',
  body: z.strictObject({ email: EmailAddress, organization: OrganizationName }),
  maxBodyBytes: 16 * 1024,
  response: z.strictObject({}),
  async handler({ body: { email, organization }, request }, { counters, directory, documents, mail, settings, clock }) {
    if (!settings.SELF_SIGNUP)
      throw new ApiError(
        'FORBIDDEN',
        'registration is disabled on this installation; ask an administrator of an organization to invite you',
      );
    const canSendMail = await countMailRequest(counters, request.address, email);
    const hasAccount = directory.findUserByEmail(email) !== undefined;
    const expiresAt = new Date(clock.now() + lifetimeMs).toISOString();
    // An address with an account takes the same steps, so that the response time does not reveal it either.
    await documents.transaction(async (scope) => {
      await invalidateTokens(scope, { email });
      const { token } = await createToken(scope, { purpose: 'registration', email, organization, expiresAt });
      const draft = hasAccount
        ? createExistingAccountMail(settings, email)
        : createRegistrationMail(settings, email, organization, token);
      await mail.enqueue(scope, canSendMail ? draft : undefined, lifetimeMs);
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
    .describe('New users choose a password; users with an account enter their current one, which does not change'),
});
type AcceptRequest = z.output<typeof Body>;

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
    const email = await readTokenAddress(ports, token);
    const [existingUser] = (await documents.forTenant(usersTenant).collection(users).list({ filter: { email } })).items;
    const joiningUser: JoiningUser =
      existingUser === undefined
        ? { newUser: await prepareNewUser(email, body, ports) }
        : { existingUser: await verifyExistingUser(existingUser, body, request.address, ports) };
    const { user, organization } = await change((scope) =>
      redeemJoinToken(scope, token, joiningUser, { planId: settings.NEW_ORGANIZATION_PLAN }),
    );
    if (existingUser === undefined) return beginSession({ user, organization, request, change }, ports);
    return {
      user: { id: user.id, email: user.email, name: user.name },
      tenant: { id: organization.id, name: organization.name },
    };
  },
});

const prepareNewUser = async (
  email: string,
  { name, password }: AcceptRequest,
  { passwords }: Ports,
): Promise<User> => {
  if (name === undefined) throw createFieldError('name', 'is required');
  const parsedPassword = NewPassword.safeParse(password);
  if (!parsedPassword.success)
    throw createFieldError('password', parsedPassword.error.issues[0]?.message ?? 'choose a password');
  await requireHardToGuess(parsedPassword.data, email);
  return { email, name, passwordHash: await passwords.hash(parsedPassword.data), disabled: false };
};

/**
 * Returns the existing user if the password is correct: the invitation proves access to the address, the password access
 * to the account. No session is started: the user signs in afterwards, with the second factor.
 */
const verifyExistingUser = async (
  user: User & StoredMetadata,
  { password }: AcceptRequest,
  address: string,
  { counters, passwords, settings }: Ports,
): Promise<User & StoredMetadata> => {
  const passwordError = new ApiError('UNAUTHENTICATED', 'this address has an account: enter its password to join');
  if (user.disabled) throw passwordError;
  if (user.passwordHash === null) return user;
  if (password === undefined) throw passwordError;
  const attempt = await countSignInAttempt({ counters, settings }, address, user.email);
  if (!(await passwords.verify(user.passwordHash, password))) throw passwordError;
  await attempt.reportSuccess();
  return user;
};
