import { z } from 'zod';
import { sessions, sessionsTenant } from '../../../schemas/resources/session.ts';
import { personOf } from '../../identity/caller.ts';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const endSession = defineOperation({
  method: 'DELETE',
  path: '/auth/sessions/{id}',
  operationId: 'endSession',
  summary: 'End one of my sessions',
  role: 'session',
  audit: 'session.end',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: z.strictObject({}),
  async handler({ caller, params: { id }, change }, { documents }) {
    const { userId, user, provedBy } = personOf(caller);
    const session = await documents.of(sessionsTenant).collection(sessions).find(id);
    if (session?.userId !== userId || (provedBy ?? session.tenantId) !== session.tenantId) throw notFound('session');
    await change(async ({ of, record }) => {
      await of(sessionsTenant).collection(sessions).delete(id);
      record({ id, name: user.email, tenantId: session.tenantId });
    });
    return {};
  },
});
