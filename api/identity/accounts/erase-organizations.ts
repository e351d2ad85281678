/** Erases organizations that were closed long enough ago; their audit records remain, without personal data. */

import { randomUUID } from 'node:crypto';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import { removeDeletedRows } from '../../../runtime/deleted-rows.ts';
import { defineJob } from '../../../runtime/jobs.ts';
import type { Clock } from '../../../schemas/ports/clock.ts';
import type { Columns } from '../../../schemas/ports/columns.ts';
import type { CollectionDefinition, Documents } from '../../../schemas/ports/documents.ts';
import type { EvidenceKey } from '../../../schemas/ports/evidence.ts';
import type { Log } from '../../../schemas/ports/log.ts';
import { identities, identitiesTenant } from '../../../schemas/resources/identity.ts';
import { provedDomains, provedDomainsTenant } from '../../../schemas/resources/identity-provider.ts';
import { multiFactors, multiFactorsTenant } from '../../../schemas/resources/multi-factor.ts';
import { organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { memberships, users, usersTenant } from '../../../schemas/resources/user.ts';
import { anyRowClause } from '../../../schemas/tables/any-row.ts';
import { evidenceHeadsTable } from '../../../schemas/tables/evidence-heads.ts';
import { tenantTables } from '../../../schemas/tables/index.ts';
import { quoteString } from '../../../schemas/tables/literal.ts';
import { createSystemActor, createSystemTransact } from '../../changes.ts';
import { eraseDetails } from '../../groups/audit/chain/erasure.ts';
import { removeSessions } from '../sessions.ts';
import { invalidateTokens } from './one-time-tokens.ts';

export interface ErasurePorts {
  readonly documents: Documents;
  readonly columns: Columns;
  readonly clock: Clock;
  readonly log: Log;
  /** Signs the erasure of audit details */
  readonly evidenceKey: EvidenceKey;
  /** All collections */
  readonly collections: readonly CollectionDefinition<object>[];
}

const eraseTelemetry = async (ports: ErasurePorts, tenantId: string, signal?: AbortSignal): Promise<void> => {
  const { columns } = ports;
  const tenantCondition = `tenant_id = ${quoteString(tenantId)}`;
  for (const { name } of tenantTables) {
    // Signed tree heads contain no personal data and prove the integrity of the remaining audit records.
    if (name === evidenceHeadsTable.name) continue;
    // A deletion rewrites table parts, so skip it if no row matches.
    const matches = await columns.query(`SELECT 1 AS found FROM ${name} WHERE ${tenantCondition} ${anyRowClause}`);
    if (matches.length > 0) await columns.execute(`DELETE FROM ${name} WHERE ${tenantCondition}`);
  }
  await removeDeletedRows(ports, { signal });
};

/** Erases users who belong to no other organization. */
const eraseUsers = async ({ documents }: ErasurePorts, tenantId: string): Promise<void> => {
  const memberIds = new Set<string>();
  const otherMemberIds = new Set<string>();
  for await (const membership of documents.findInAllTenants(memberships))
    (membership.tenantId === tenantId ? memberIds : otherMemberIds).add(membership.id);
  for (const id of memberIds) {
    if (otherMemberIds.has(id)) continue;
    await documents.transaction(async (transaction) => {
      await removeSessions(transaction, { userId: id });
      await invalidateTokens(transaction, { userId: id });
      await deleteMatching(transaction.forTenant(identitiesTenant).collection(identities), { userId: id });
      await transaction.forTenant(multiFactorsTenant).collection(multiFactors).delete(id);
      await transaction.forTenant(usersTenant).collection(users).delete(id);
    });
  }
};

const eraseDocuments = async ({ documents, collections }: ErasurePorts, tenantId: string): Promise<void> => {
  for (const definition of collections) {
    // Keep evidence: `eraseDetails` removes the personal data from it.
    if (definition.evidence) continue;
    await deleteMatching(documents.forTenant(tenantId).collection(definition), {});
  }
};

/** Erases the verified domains of the organization, which are stored outside of its documents. */
const eraseDomains = ({ documents }: ErasurePorts, tenantId: string): Promise<number> =>
  deleteMatching(documents.forTenant(provedDomainsTenant).collection(provedDomains), { tenantId });

const eraseOrganization = async (ports: ErasurePorts, id: string, signal?: AbortSignal): Promise<void> => {
  await eraseTelemetry(ports, id, signal);
  // Before the documents, because the members are read from the memberships.
  await eraseUsers(ports, id);
  await eraseDocuments(ports, id);
  await eraseDomains(ports, id);
  await eraseDetails(
    { ...ports, key: ports.evidenceKey },
    { tenantId: id, actor: { type: 'system', id: '' }, requestId: randomUUID() },
  );
  await createSystemTransact(
    ports,
    'organization.erase',
  )(async ({ forTenant, record }) => {
    const organizationCollection = forTenant(organizationsTenant).collection(organizations);
    const before = await organizationCollection.find(id);
    if (!before?.closed) throw new Error(`the organization ${id} is not closed`);
    // The document stays, so that no other organization ever gets the id.
    const closure = { ...before.closed, erased: true };
    await organizationCollection.update(id, {
      name: '(erased)',
      timeZone: undefined,
      retentionDays: {},
      closed: closure,
    });
    record({ id, tenantId: id, actor: createSystemActor('erasing') });
  });
  ports.log.info({ organization: id }, 'a closed organization was erased');
};

/**
 * Erases the organizations whose grace period is over. Repeatable: a later call completes an interrupted erasure. If one
 * cannot be erased, the others are, and then the error is thrown.
 */
export const eraseDueOrganizations = async (ports: ErasurePorts, signal?: AbortSignal): Promise<void> => {
  const dueFilter = { 'closed.erased': false, 'closed.eraseAt': { $lte: new Date(ports.clock.now()).toISOString() } };
  const ids: string[] = [];
  for await (const { id } of ports.documents.findInAllTenants(organizations, dueFilter)) ids.push(id);
  const errors: unknown[] = [];
  for (const id of ids) {
    if (signal?.aborted) return;
    await eraseOrganization(ports, id, signal).catch((error: unknown) => {
      errors.push(
        new Error(`the organization ${id} could not be erased: ${(error as Error).message}`, { cause: error }),
      );
    });
  }
  if (errors.length > 0) throw errors[0];
};

/** Erases organizations whose grace period is over. */
export const eraseClosedOrganizations = defineJob<ErasurePorts>({
  name: 'erasing',
  summary: 'Erase organizations that were closed 30 days ago',
  everyMs: 3_600_000,
  scope: 'installation',
  run: eraseDueOrganizations,
});
