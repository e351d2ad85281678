/** Examples of operations on people and their sessions. Each uses a new user, because others need the existing ones. */
import { generate } from 'otplib';
import { password } from '../end-to-end/api-harness.ts';
import type { Example, Person, World } from './example.ts';

/** A user with multi-factor authentication and recovery codes: an authenticator code is never accepted twice. */
const withMultiFactor = async (world: World): Promise<{ person: Person; recoveryCodes: string[] }> => {
  const person = await world.person('viewer');
  const { token } = person;
  const { secret } = await world.make('enrollMultiFactor', { token });
  const code = await generate({ secret });
  const { recoveryCodes } = await world.make('confirmMultiFactor', { token, params: {}, body: { code } });
  return { person, recoveryCodes };
};

/** A second sign-in of a user who is signed in. */
const secondSession = async (world: World): Promise<{ person: Person; refreshToken: string; sessionId: string }> => {
  const person = await world.person('viewer');
  const { email } = person;
  const { token, refreshToken } = await world.make('login', { token: '', body: { email, password } });
  const { sessionId } = await world.make('getSession', { token });
  return { person, refreshToken, sessionId };
};

export const identityExamples: Readonly<Record<string, Example>> = {
  login: ({ tenant }) => ({ token: '', body: { email: `viewer@${tenant}.example`, password } }),
  logout: async ({ person }) => ({ token: (await person('viewer')).token }),
  refreshSession: async (world) => ({ token: '', body: { refreshToken: (await secondSession(world)).refreshToken } }),
  endSession: async (world) => {
    const { person, sessionId } = await secondSession(world);
    return { token: person.token, params: { id: sessionId } };
  },
  switchTenant: async ({ person, tenant }) => ({
    token: (await person('viewer')).token,
    body: { organizationId: tenant },
  }),
  changePassword: async ({ person }) => ({
    token: (await person('viewer')).token,
    body: { currentPassword: password, newPassword: 'another correct horse battery staple' },
  }),
  enrollMultiFactor: async ({ person }) => ({ token: (await person('viewer')).token }),
  confirmMultiFactor: async ({ person, make }) => {
    const { token } = await person('viewer');
    const { secret } = await make('enrollMultiFactor', { token });
    return { token, body: { code: await generate({ secret }) } };
  },
  renewRecoveryCodes: async (world) => {
    const { person, recoveryCodes } = await withMultiFactor(world);
    return { token: person.token, body: { code: recoveryCodes[0] } };
  },
  turnMultiFactorOff: async (world) => {
    const { person, recoveryCodes } = await withMultiFactor(world);
    return { token: person.token, body: { password, code: recoveryCodes[0] } };
  },

  createApiToken: { body: { name: 'Token', scopes: ['logs:read'] } },
  revokeApiToken: async (world) => {
    const { id: tokenId, serviceAccountId: id } = await world.make('createApiToken');
    return { params: { id, tokenId } };
  },
};
