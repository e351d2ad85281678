import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Incident, incidentStates, incidents } from '../../../schemas/resources/incident.ts';
import { readPlan } from '../../../schemas/resources/tenant-plan.ts';
import { changeState } from '../../../subjects/incidents/state.ts';
import { acknowledgePath } from '../../../subjects/on-call/acknowledge-link.ts';
import { readMember } from '../../../subjects/on-call/people.ts';
import { ApiError } from '../../errors.ts';
import { countTokenUse } from '../../identity/accounts/mail-limits.ts';
import { findToken } from '../../identity/accounts/one-time-tokens.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { OutdatedDocumentError, retryOutdated } from '../../resources/outdated-document.ts';
import { prepareAcknowledgements } from './acknowledge-alerts.ts';
import { writeIncident } from './write.ts';

const invalidLinkError = (): ApiError =>
  new ApiError('TOKEN_INVALID', 'this link is for an incident or a user that was deleted');

export const acknowledgeByLink = defineOperation({
  method: 'POST',
  path: acknowledgePath,
  operationId: 'acknowledgeIncidentByLink',
  summary: 'Acknowledge an incident with the token of a page, as the paged person; idempotent',
  role: 'none',
  audit: 'incident.acknowledge',
  body: z.strictObject({
    token: z.string().min(1).max(256).describe('Token from the link of a page; valid for 7 days'),
  }),
  maxBodyBytes: 16 * 1024,
  response: z.strictObject({ title: z.string(), status: z.enum(incidentStates) }),
  async handler({ body, request, change }, ports) {
    const { counters, documents, columns, clock } = ports;
    await countTokenUse(counters, request.address);
    const { tenantId, incidentId, personId } = await findToken(
      documents,
      body.token,
      ['acknowledge-incident'],
      clock.now(),
    );
    const plan = await readPlan(documents, tenantId);
    if (plan === undefined) throw invalidLinkError();
    const nowMs = clock.now();
    const context = { tenantId, ports, reader: { columns: columns.forTenant(tenantId), plan, nowMs } };
    return retryOutdated('incident', async (isLastAttempt) => {
      const stored = await documents.forTenant(tenantId).collection(incidents).find(incidentId);
      if (stored === undefined) throw invalidLinkError();
      const transition = { by: personId, at: new Date(nowMs).toISOString() };
      const acknowledge = (incident: Incident & StoredMetadata) =>
        changeState(getFields<Incident>(incident), 'acknowledged', transition);
      const acknowledgeAlerts = await prepareAcknowledgements(acknowledge(stored) ?? stored, stored, context, personId);
      return change(async (scope) => {
        const member = await readMember(scope, tenantId, personId);
        const before = await scope.forTenant(tenantId).collection(incidents).find(incidentId);
        if (before === undefined || !member?.isActive) throw invalidLinkError();
        // However often others change the incident, an acknowledgement is effective: alerts that they add stay active.
        if (before.version !== stored.version && !isLastAttempt) throw new OutdatedDocumentError();
        const next = acknowledge(before);
        if (next === undefined)
          throw new ApiError('CONFLICT', `the incident is ${before.status} and cannot become acknowledged`);
        const { title, status } = next;
        if (before.status === 'acknowledged') {
          scope.markUnchanged();
          return { title, status };
        }
        await acknowledgeAlerts(scope.forTenant);
        await writeIncident(scope, tenantId, {
          before,
          next,
          actor: { type: 'user', id: personId, name: member.email },
        });
        return { title, status };
      });
    });
  },
});
