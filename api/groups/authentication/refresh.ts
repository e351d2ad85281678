import { z } from 'zod';
import { cookieIn, refreshCookie, refuseForeignPage } from '../../identity/cookies.ts';
import { refreshSession } from '../../identity/refresh-session.ts';
import { unauthenticated } from '../../identity/session.ts';
import { giveTokens } from '../../identity/sessions.ts';
import { defineOperation, type RequestFacts } from '../../kernel/operation.ts';
import { Tokens } from './views.ts';

export const refresh = defineOperation({
  method: 'POST',
  path: '/auth/refresh',
  operationId: 'refreshSession',
  summary:
    'Exchange the refresh token for a new session token. The refresh token is replaced; the previous one returns the same successor for 30 s, any older one ends the session',
  role: 'none',
  audit: 'session.revoke',
  body: z
    .strictObject({ refreshToken: z.string().min(1).max(512).describe('For programs; browsers send the cookie') })
    .optional(),
  maxBodyBytes: 16 * 1024,
  response: Tokens,
  async handler({ body, request, change }, ports) {
    const token = body?.refreshToken ?? tokenOfPage(request, ports.settings.PUBLIC_URL);
    const { session, refreshToken } = await refreshSession(token, change, ports);
    return giveTokens(session, refreshToken, request, ports);
  },
});

const tokenOfPage = (request: RequestFacts, publicUrl: string | undefined): string => {
  const token = cookieIn(request.header('cookie'), refreshCookie);
  if (token === undefined) throw unauthenticated('the request has no refresh token; sign in');
  const site = request.header('sec-fetch-site') || undefined;
  refuseForeignPage({ site, origin: request.header('origin') || undefined, host: request.host }, publicUrl);
  return token;
};
