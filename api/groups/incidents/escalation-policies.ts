import { z } from 'zod';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type EscalationPolicy,
  EscalationPolicyFields,
  escalationPolicies,
} from '../../../schemas/resources/escalation-policy.ts';
import { notificationChannels } from '../../../schemas/resources/notification-channel.ts';
import { createFieldError } from '../../errors.ts';
import { findUnknownMember } from '../../resources/members.ts';
import { defineResource } from '../../resources/resource.ts';
import { storedView } from '../../resources/resource-spec.ts';

/** Maximum number per organization */
const maxPolicies = 500;

/**
 * Throws if a target is an unknown person or channel, unless it was already in the policy. Schedules are checked with
 * the other references between resources.
 */
const requireKnownTargets = async (
  tenantDocuments: Pick<TenantDocuments, 'collection'>,
  { steps }: EscalationPolicy,
  before: EscalationPolicy | undefined,
): Promise<void> => {
  const knownTargets = new Set(
    (before?.steps ?? []).flatMap(({ targets }) => targets.map(({ kind, id }) => `${kind} ${id}`)),
  );
  for (const [index, { targets }] of steps.entries())
    for (const [position, { kind, id }] of targets.entries()) {
      if (knownTargets.has(`${kind} ${id}`)) continue;
      const path = `steps.${index}.targets.${position}.id`;
      if (kind === 'person' && (await findUnknownMember(tenantDocuments, [id])) !== undefined)
        throw createFieldError(path, `${id} is not a user of this organization`);
      if (kind === 'channel' && (await tenantDocuments.collection(notificationChannels).find(id)) === undefined)
        throw createFieldError(path, `${id} is not a notification channel`);
      knownTargets.add(`${kind} ${id}`);
    }
};

export const PolicyView = z.strictObject({ ...EscalationPolicyFields.shape, ...storedView });

export const escalationPolicyResource = defineResource<
  typeof EscalationPolicyFields,
  EscalationPolicy,
  typeof PolicyView
>({
  noun: 'escalation policy',
  plural: 'escalation policies',
  path: '/api/on-call/escalation-policies',
  collection: escalationPolicies,
  verbs: ['list', 'create', 'replace', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: EscalationPolicyFields,
  view: PolicyView,
  show: (documents) => documents,
  example: {
    name: 'Shop',
    steps: [{ targets: [{ kind: 'schedule', id: 'the-id-of-a-schedule' }], afterMinutes: 0 }],
    repeat: 2,
    acknowledgeTimeoutMinutes: 60,
  },
  maxCount: maxPolicies,
  async prepare(after, { before, forTenant, caller }) {
    await requireKnownTargets(forTenant(caller.tenantId), after, before);
    return after;
  },
});
