import { z } from 'zod';
import { roles } from '../../../schemas/resources/user.ts';
import { personOf } from '../../identity/caller.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { Person, Tenant } from './views.ts';

export const currentSession = defineOperation({
  method: 'GET',
  path: '/auth/session',
  operationId: 'getSession',
  summary: 'Get the current session: user, organization, role, entitlements, expiry',
  role: 'session',
  response: z.strictObject({
    user: Person,
    tenant: Tenant,
    role: z.enum(roles),
    entitlements: z.array(z.string()),
    sessionId: z.string(),
    expiresAt: z.iso.datetime().describe('When the session expires unless it is refreshed'),
  }),
  handler({ caller }) {
    const { user, organization, role, plan, sessionId, sessionExpiresAt } = personOf(caller);
    return {
      user: { id: user.id, email: user.email, name: user.name },
      tenant: { id: organization.id, name: organization.name },
      role,
      entitlements: [...plan.entitlements],
      sessionId,
      expiresAt: sessionExpiresAt,
    };
  },
});
