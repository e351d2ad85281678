import { z } from 'zod';
import { personOf } from '../../http/directory.ts';
import { defineOperation } from '../../http/operation.ts';
import { endedCookie } from '../../http/session.ts';

export const logout = defineOperation({
  method: 'POST',
  path: '/auth/logout',
  operationId: 'logout',
  summary: 'End this session',
  group: 'authentication',
  role: 'session',
  response: z.strictObject({}),
  async handler({ caller, request }, { directory }) {
    await directory.end(personOf(caller).sessionId);
    request.reply('Set-Cookie', endedCookie(request.host));
    return {};
  },
});
