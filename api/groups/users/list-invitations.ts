import { z } from 'zod';
import { invitations } from '../../../schemas/resources/invitation.ts';
import { roles } from '../../../schemas/resources/user.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { equals, listParameters, readPage } from '../../resources/resource-list.ts';
import { InvitationView, viewOf } from './invitation-view.ts';

const listing = {
  filters: { role: equals('role', z.enum(roles)) },
  searched: ['email'],
  sorts: ['email', 'createdAt', 'expiresAt'],
} as const;

export const listInvitations = defineOperation({
  method: 'GET',
  path: '/api/users/invitations',
  operationId: 'listInvitations',
  summary: 'List open invitations, and whether their mail was sent',
  role: 'admin',
  query: listParameters(listing),
  response: z.strictObject({ items: z.array(InvitationView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const stored = ports.documents.of(caller.tenantId).collection(invitations);
    const now = new Date(ports.clock.now()).toISOString();
    const page = await readPage(stored, listing, { query: query as typeof query & { limit: number }, now });
    return { items: await Promise.all(page.items.map((each) => viewOf(each, ports))), nextCursor: page.nextCursor };
  },
});
