import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Invitation, invitations } from '../../../schemas/resources/invitation.ts';
import { memberships, roles, users, usersTenant } from '../../../schemas/resources/user.ts';
import { requireGrantableRoles } from '../../callers/rights.ts';
import { requireScopesOfRole } from '../../callers/scopes.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError, createNotFoundError, createRateLimitError } from '../../errors.ts';
import { createInvitationMail } from '../../identity/accounts/account-mails.ts';
import { deleteInvitation } from '../../identity/accounts/join-tokens.ts';
import { EmailAddress } from '../../identity/accounts/names.ts';
import { createToken } from '../../identity/accounts/one-time-tokens.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createEqualsFilter, createListParameters, readPage } from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';

/** An invitation as visible to administrators, without the token */
const InvitationView = z.strictObject({
  id: z.string(),
  email: z.string(),
  role: z.enum(roles),
  invitedBy: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  expired: z.boolean(),
  mail: z
    .enum(['queued', 'sent', 'failed', 'not-configured'])
    .describe('State of the mail; without a mail server it is written to outbox*.jsonl in the data directory'),
});

const toView = async (
  { id, email, role, invitedBy, createdAt, expiresAt, mailId }: Invitation & StoredMetadata,
  { mail, clock }: Pick<Ports, 'mail' | 'clock'>,
): Promise<z.output<typeof InvitationView>> => ({
  id,
  email,
  role,
  invitedBy,
  createdAt,
  expiresAt,
  expired: Date.parse(expiresAt) <= clock.now(),
  mail: await mail.readDeliveryState(mailId),
});

/** Fields of an invitation in the audit log. */
const toAuditFields = ({ email, role, expiresAt }: Invitation) => ({ email, role, expiresAt });

const lifetimeDays = 7;
const lifetimeMs = lifetimeDays * 86_400_000;
/** Rate limit of an organization */
const tenantRateLimit = { rate: 1 / 6, burst: 200 };

export const inviteUser = defineOperation({
  method: 'POST',
  path: '/api/users/invitations',
  operationId: 'createInvitation',
  summary: 'Invite a user by e-mail, with a role; a second invitation replaces the first and its link',
  role: 'admin',
  audit: ['invitation.create', 'invitation.withdraw'],
  body: z.strictObject({ email: EmailAddress, role: z.enum(roles).describe("At most the caller's role") }),
  response: InvitationView.extend({
    link: z
      .string()
      .nullable()
      .describe('Link to hand over, if no mail server is configured; it is not shown again. Otherwise null'),
  }),
  async handler({ caller, body: { email, role }, change }, ports) {
    const { clock, counters, mail, settings } = ports;
    const { tenantId, actor, organization } = caller;
    requireGrantableRoles(caller, role);
    requireScopesOfRole(role, caller, ports.scopes);
    const { granted, retryAfterMs } = await counters.consume(`invitations/${tenantId}`, tenantRateLimit, 1);
    if (granted < 1) throw createRateLimitError('too many invitations in a short time; try again later', retryAfterMs);
    const expiresAt = new Date(clock.now() + lifetimeMs).toISOString();
    const { invitation, url } = await change(async (scope) => {
      await requireNonMember(scope, tenantId, email);
      const invitationCollection = scope.forTenant(tenantId).collection(invitations);
      const [before] = (await invitationCollection.list({ filter: { email } })).items;
      if (before !== undefined) {
        requireGrantableRoles(caller, before.role);
        await deleteInvitation(scope, tenantId, before);
        const auditFields = { before: toAuditFields(before) };
        scope.record({ action: 'invitation.withdraw', id: before.id, name: email, ...auditFields });
      }
      const id = crypto.randomUUID();
      const { token, tokenHash } = await createToken(scope, {
        purpose: 'invitation',
        tenantId,
        invitationId: id,
        expiresAt,
      });
      const mailDetails = {
        to: email,
        organization: organization.name,
        invitedBy: actor.name,
        role,
        token,
        lifetimeDays,
      };
      const draft = createInvitationMail(settings, mailDetails);
      const mailId = await mail.enqueue(scope, draft, lifetimeMs);
      const createdInvitation = await invitationCollection.insert({
        id,
        email,
        role,
        invitedBy: actor.name,
        expiresAt,
        tokenHash,
        mailId,
      });
      scope.record({ id, name: email, after: toAuditFields(createdInvitation) });
      return { invitation: createdInvitation, url: draft.link?.url ?? null };
    });
    return { ...(await toView(invitation, ports)), link: mail.isConfigured ? null : url };
  },
});

const requireNonMember = async ({ forTenant }: AuditedTransaction, tenantId: string, email: string): Promise<void> => {
  const [user] = (await forTenant(usersTenant).collection(users).list({ filter: { email } })).items;
  if (user === undefined || (await forTenant(tenantId).collection(memberships).find(user.id)) === undefined) return;
  throw new ApiError('CONFLICT', `${email} is already a user of this organization`);
};

const listDefinition = {
  filters: { role: createEqualsFilter('role', z.enum(roles)) },
  searched: ['email'],
  sorts: ['email', 'createdAt', 'expiresAt'],
} as const;

export const listInvitations = defineOperation({
  method: 'GET',
  path: '/api/users/invitations',
  operationId: 'listInvitations',
  summary: 'List open invitations, and whether their mail was sent',
  role: 'admin',
  query: createListParameters(listDefinition),
  response: z.strictObject({ items: z.array(InvitationView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const invitationCollection = ports.documents.forTenant(caller.tenantId).collection(invitations);
    const now = new Date(ports.clock.now()).toISOString();
    const page = await readPage(invitationCollection, listDefinition, {
      query: query as typeof query & { limit: number },
      now,
    });
    return {
      items: await Promise.all(page.items.map((invitation) => toView(invitation, ports))),
      nextCursor: page.nextCursor,
    };
  },
});

export const withdrawInvitation = defineOperation({
  method: 'DELETE',
  path: '/api/users/invitations/{id}',
  operationId: 'withdrawInvitation',
  summary: 'Withdraw an invitation; its link stops working',
  role: 'admin',
  audit: 'invitation.withdraw',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params, change }) {
    await change(async (scope) => {
      const invitation = await scope.forTenant(caller.tenantId).collection(invitations).find(params.id);
      if (invitation === undefined) throw createNotFoundError('invitation');
      requireGrantableRoles(caller, invitation.role);
      await deleteInvitation(scope, caller.tenantId, invitation);
      scope.record({ id: invitation.id, name: invitation.email, before: toAuditFields(invitation) });
    });
    return {};
  },
});
