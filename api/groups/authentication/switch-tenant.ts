import { z } from 'zod';
import { sessions, sessionsTenant } from '../../../schemas/resources/session.ts';
import { personOf } from '../../identity/caller.ts';
import { unauthenticated } from '../../identity/session.ts';
import { beginSession } from '../../identity/sessions.ts';
import { ApiError } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { SignedIn } from './views.ts';

export const switchTenant = defineOperation({
  method: 'POST',
  path: '/auth/switch-tenant',
  operationId: 'switchTenant',
  summary: 'Switch this session to another of my organizations',
  role: 'session',
  audit: 'session.begin',
  body: z.strictObject({ organizationId: z.string().min(1).max(64) }),
  response: SignedIn,
  async handler({ caller, body, request, change }, ports) {
    const { user, sessionId } = personOf(caller);
    const mine = ports.directory.organizationsOf(user.id);
    const organization = mine.find(({ id }) => id === body.organizationId);
    if (organization === undefined) throw new ApiError('NOT_FOUND', 'you are not a member of such an organization');
    const session = await ports.documents.of(sessionsTenant).collection(sessions).find(sessionId);
    if (session === undefined) throw unauthenticated('the session has ended; sign in again');
    const { provedBy } = session;
    // An identity provider speaks for its own organization: another one need not believe it.
    if (provedBy !== undefined && provedBy !== organization.id)
      throw new ApiError(
        'FORBIDDEN',
        'this session was started through another organization’s identity provider; sign in there',
      );
    return beginSession({ user, organization, request, change, insteadOf: session }, ports);
  },
});
