import { z } from 'zod';
import { sessions, sessionsTenant } from '../../../schemas/resources/session.ts';
import { personOf } from '../../identity/caller.ts';
import { endedCookies } from '../../identity/cookies.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const logout = defineOperation({
  method: 'POST',
  path: '/auth/logout',
  operationId: 'logout',
  summary: 'End this session',
  role: 'session',
  audit: 'session.end',
  response: z.strictObject({}),
  async handler({ caller, request, change }) {
    const { sessionId, user } = personOf(caller);
    await change(async ({ of, record }) => {
      await of(sessionsTenant).collection(sessions).delete(sessionId);
      record({ id: sessionId, name: user.email });
    });
    for (const cookie of endedCookies(request)) request.reply('Set-Cookie', cookie);
    return {};
  },
});
