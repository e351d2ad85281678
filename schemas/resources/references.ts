/**
 * Which configuration refers to which, one line a reference. A document that others refer to cannot be deleted, and what
 * is referred to must exist; both follow from this table.
 */
import type { CollectionDefinition, Filter } from '../ports/documents.ts';
import { alertRoutings } from './alert-routing.ts';
import { dashboards, savedQueriesOfPanels } from './dashboard.ts';
import { escalationPolicies } from './escalation-policy.ts';
import { incidents } from './incident.ts';
import { licenseKeys } from './license-key.ts';
import { maintenanceWindows } from './maintenance-window.ts';
import { onCallSchedules } from './on-call-schedule.ts';
import { projects } from './project.ts';
import { savedQueries } from './saved-query.ts';
import { syntheticChecks } from './synthetic-check.ts';

export interface Reference {
  readonly from: CollectionDefinition<object>;
  /** What people call those who refer. */
  readonly noun: string;
  /** Where the id stands, dotted; a list there or on the way refers to each of its ids. */
  readonly path: string;
  readonly to: CollectionDefinition<object>;
  /** Ids there refer only where this `kind` stands beside them. */
  readonly kind?: string;
  /** Only documents that match it keep what they refer to in use. */
  readonly where?: Filter;
  /** Whether it is told that a document refers, and nothing else of it. */
  isPrivate?(document: object): boolean;
}

export const references: readonly Reference[] = [
  { from: licenseKeys, noun: 'license key', path: 'projectId', to: projects, where: { revokedAt: null } },
  {
    from: dashboards,
    noun: 'dashboard',
    path: savedQueriesOfPanels,
    to: savedQueries,
    isPrivate: (document) => (document as { readonly visibility?: unknown }).visibility === 'private',
  },
  {
    from: escalationPolicies,
    noun: 'escalation policy',
    path: 'steps.targets.id',
    kind: 'schedule',
    to: onCallSchedules,
  },
  { from: maintenanceWindows, noun: 'maintenance window', path: 'projectIds', to: projects },
  { from: syntheticChecks, noun: 'synthetic check', path: 'projectId', to: projects },
  {
    from: alertRoutings,
    noun: 'routing document',
    path: 'receivers.escalationPolicyId',
    to: escalationPolicies,
  },
  {
    from: incidents,
    noun: 'incident',
    path: 'escalationPolicyId',
    to: escalationPolicies,
    where: { status: { $in: ['open', 'acknowledged'] } },
  },
];
