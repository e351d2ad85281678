import { z } from 'zod';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { escalationActions } from '../../../schemas/resources/escalation.ts';
import { organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { groupPages, type PageEntry } from '../../../subjects/on-call/pages.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { parseTimeParameter, Time } from './times.ts';

/** Maximum number of escalation actions that are read, the newest ones */
const maxActions = 20_000;

/** Returns the pages of a range, the newest first, and whether there are more than the limit. */
export const readPages = async (
  { documents }: Pick<Ports, 'documents'>,
  tenantId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<{ readonly pages: readonly PageEntry[]; readonly isTruncated: boolean }> => {
  const organization = await documents.forTenant(organizationsTenant).collection(organizations).find(tenantId);
  const actions = [];
  const newest = iterateDocuments(documents.forTenant(tenantId).collection(escalationActions), {
    filter: { at: { $gte: from, $lte: to }, kind: 'page' },
    sort: { at: -1 },
  });
  for await (const action of newest) {
    actions.push(action);
    if (actions.length > maxActions) break;
  }
  return {
    pages: groupPages(actions.slice(0, maxActions), organization?.timeZone ?? 'UTC'),
    isTruncated: actions.length > maxActions,
  };
};

export const listIncidentPages = defineOperation({
  method: 'GET',
  path: '/api/incidents/pages',
  operationId: 'listIncidentPages',
  summary: 'List pages with person, time and incident, the newest first',
  role: 'viewer',
  query: z.strictObject({
    from: Time.default('now-30d'),
    to: Time.default('now'),
    userId: z.string().min(1).max(128).optional().describe('Only pages of this person'),
    atNight: z.enum(['true', 'false']).optional(),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    offset: z.coerce.number().int().min(0).max(20_000).default(0),
  }),
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.string(),
        incidentId: z.string(),
        at: z.iso.datetime(),
        to: z.strictObject({ kind: z.enum(['person', 'channel']), id: z.string(), name: z.string() }),
        round: z.int(),
        step: z.int().nullable().describe('Index from 0; null if the owners are paged'),
        contacts: z.array(z.string()).describe('Notified contacts of the person; empty: mail to the account'),
        isAtNight: z.boolean().describe('From 22:00 to 06:00 in the time zone of the organization'),
      }),
    ),
    total: z.int(),
    isTruncated: z.boolean().describe('Whether there are more than the newest 20,000, to which the list is limited'),
  }),
  async handler({ caller, query }, ports) {
    const now = new Date(ports.clock.now()).toISOString();
    const [from, to] = [parseTimeParameter('from', query.from, now), parseTimeParameter('to', query.to, now)];
    if (from > to) throw createFieldError('from', 'must be before to');
    const { pages, isTruncated } = await readPages(ports, caller.tenantId, { from, to });
    const { userId, atNight, offset, limit } = query;
    const matchingPages = pages.filter(
      (page) =>
        (userId === undefined || (page.to.kind === 'person' && page.to.id === userId)) &&
        (atNight === undefined || page.isAtNight === (atNight === 'true')),
    );
    const items = matchingPages
      .slice(offset, offset + limit)
      .map((page) => ({ ...page, contacts: [...page.contacts] }));
    return { items, total: matchingPages.length, isTruncated };
  },
});
