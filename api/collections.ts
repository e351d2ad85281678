import { leases } from '../runtime/leases.ts';
import type { CollectionDefinition } from '../schemas/ports/documents.ts';
import { auditHeads, auditRecords } from '../schemas/resources/audit-record.ts';
import { identities } from '../schemas/resources/identity.ts';
import { identityProviders, provedDomains } from '../schemas/resources/identity-provider.ts';
import { installation } from '../schemas/resources/installation.ts';
import { invitations } from '../schemas/resources/invitation.ts';
import { multiFactors } from '../schemas/resources/multi-factor.ts';
import { oneTimeTokens } from '../schemas/resources/one-time-token.ts';
import { organizations } from '../schemas/resources/organization.ts';
import { outgoingMails } from '../schemas/resources/outgoing-mail.ts';
import { plans } from '../schemas/resources/plan.ts';
import { operatorProblems } from '../schemas/resources/platform-alert.ts';
import { processorStateChunks, processorStates } from '../schemas/resources/processor-state.ts';
import { resourceHistory } from '../schemas/resources/resource-history.ts';
import { sessions } from '../schemas/resources/session.ts';
import { signingKeys } from '../schemas/resources/signing-key.ts';
import { memberships, users } from '../schemas/resources/user.ts';
import { documentMigrations } from './document-migrations.ts';
import { groups } from './groups/index.ts';

/** Collections that several groups share. The collection of a single group is declared in its `group.ts`. */
const sharedCollections: readonly CollectionDefinition<object>[] = [
  ...[installation, documentMigrations, leases, users, memberships, organizations, plans, invitations],
  ...[sessions, signingKeys, multiFactors, oneTimeTokens],
  ...[identities, identityProviders, provedDomains],
  ...[auditRecords, auditHeads, resourceHistory],
  ...[outgoingMails, operatorProblems],
  ...[processorStates, processorStateChunks],
];

/** All collections: their indexes are created at startup, and their documents are erased with their organization. */
export const collections: readonly CollectionDefinition<object>[] = [
  ...sharedCollections,
  // Two groups may serve the same documents.
  ...new Set(groups.flatMap((group) => group.collections)),
];
