import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Counters } from '../../../schemas/counters.ts';
import { ApiError, rateLimited } from '../../http/errors.ts';
import { defineOperation } from '../../http/operation.ts';
import { sessionCookie } from '../../http/session.ts';
import { Person, Tenant } from './views.ts';

const sessionLifetimeMs = 30 * 86_400_000;

/** Attempts at one account from one address, and at any account from one address. Nobody locks somebody else out. */
const ofPair = { rate: 0.1, burst: 10 };
const ofAddress = { rate: 1, burst: 60 };

export const login = defineOperation({
  method: 'POST',
  path: '/auth/login',
  operationId: 'login',
  summary: 'Sign in with e-mail and password (and code where multi-factor is on)',
  group: 'authentication',
  role: 'none',
  body: z.strictObject({
    email: z.string().min(1).max(320),
    password: z.string().min(1).max(1024),
    code: z.string().max(32).optional().describe('Of the authenticator, where multi-factor is on'),
  }),
  maxBodyBytes: 16 * 1024,
  response: z.strictObject({
    token: z.string().describe('For programs: Authorization: Bearer'),
    expiresAt: z.iso.datetime(),
    user: Person,
    tenant: Tenant,
  }),
  async handler({ body, request }, { counters, directory, passwords, tokens, clock }) {
    const email = body.email.trim().toLowerCase();
    await refuseTooMany(counters, request.address, email);
    const user = directory.userByEmail(email);
    const right = await passwords.verify(user?.passwordHash, body.password);
    if (!right || user === undefined || user.disabled)
      throw new ApiError('UNAUTHENTICATED', 'the e-mail address or the password is wrong');
    const [organization] = directory.organizationsOf(user.id);
    if (organization === undefined) throw new ApiError('FORBIDDEN', 'this user belongs to no organization');
    const session = await directory.begin({
      userId: user.id,
      tenantId: organization.id,
      expiresAt: new Date(clock.now() + sessionLifetimeMs).toISOString(),
      address: request.address,
      userAgent: request.userAgent.slice(0, 512),
    });
    const { token, expiresAt } = await tokens.issue({
      userId: user.id,
      tenantId: organization.id,
      sessionId: session.id,
    });
    request.reply('Set-Cookie', sessionCookie(token, expiresAt, request.host));
    return {
      token,
      expiresAt: expiresAt.toISOString(),
      user: { id: user.id, email: user.email, name: user.name },
      tenant: { id: organization.id, name: organization.name },
    };
  },
});

const refuseTooMany = async (counters: Counters, address: string, email: string): Promise<void> => {
  const pair = createHash('sha256').update(`${address}\n${email}`).digest('base64url');
  const taken = await Promise.all([
    counters.take(`login:${pair}`, ofPair, 1),
    counters.take(`login-address:${address}`, ofAddress, 1),
  ]);
  for (const { granted, retryAfterMs } of taken)
    if (granted < 1) throw rateLimited('too many attempts to sign in; wait a moment', retryAfterMs);
};
