import { z } from 'zod';
import { cursorParameter } from '../../../queries/cursor.ts';
import { PermanentError } from '../../../schemas/errors.ts';
import { sessions, sessionsTenant } from '../../../schemas/resources/session.ts';
import { personOf } from '../../identity/caller.ts';
import { invalid } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { Tenant } from './views.ts';

const SessionView = z.strictObject({
  id: z.string(),
  current: z.boolean().describe('Whether this is the session of the request'),
  tenant: Tenant,
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().describe('When the session was last refreshed'),
  expiresAt: z.iso.datetime(),
  address: z.string().describe('Address from which the session was started'),
  userAgent: z.string(),
});

export const listSessions = defineOperation({
  method: 'GET',
  path: '/auth/sessions',
  operationId: 'listSessions',
  summary:
    'List my active sessions, most recently used first; a session started through an identity provider lists only those of its organization',
  role: 'session',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: cursorParameter,
  }),
  response: z.strictObject({ items: z.array(SessionView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { documents, directory, clock }) {
    const { userId, sessionId, provedBy } = personOf(caller);
    const where = provedBy === undefined ? { userId } : { userId, tenantId: provedBy };
    const filter = { ...where, expiresAt: { $gt: new Date(clock.now()).toISOString() } };
    const page = await documents
      .of(sessionsTenant)
      .collection(sessions)
      .list({ filter, sort: { refreshedAt: -1 }, limit: query.limit, after: query.cursor })
      .catch((error: unknown) => {
        if (error instanceof PermanentError) throw invalid('cursor', 'is not a cursor of this list');
        throw error;
      });
    const names = new Map(directory.organizationsOf(userId).map(({ id, name }) => [id, name]));
    const items = page.items.map(({ id, tenantId, createdAt, refreshedAt, expiresAt, address, userAgent }) => ({
      id,
      current: id === sessionId,
      tenant: { id: tenantId, name: names.get(tenantId) ?? '' },
      createdAt,
      lastUsedAt: refreshedAt,
      expiresAt,
      address,
      userAgent,
    }));
    return { items, nextCursor: page.nextCursor };
  },
});
