/**
 * References between configuration resources, one line per reference. A referenced document cannot be deleted, and a
 * reference must exist. Both checks use this table.
 */
import type { CollectionDefinition, Filter } from '../ports/documents.ts';
import { alertRoutings } from './alert-routing.ts';
import { alertRules } from './alert-rule.ts';
import { anomalyDetectors } from './anomaly-detector.ts';
import { dashboards, savedQueryIdPath } from './dashboard.ts';
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
  /** User-facing noun for the referring documents. */
  readonly noun: string;
  /** Dotted path of the ID. A list at or along the path refers to each of its IDs. */
  readonly path: string;
  readonly to: CollectionDefinition<object>;
  /** The IDs are references only if the sibling field `kind` has this value. */
  readonly kind?: string;
  /** Only references from matching documents count. */
  readonly where?: Filter;
  /** Whether to report only the existence of a referring document, without its details. */
  isPrivate?(document: object): boolean;
}

export const references: readonly Reference[] = [
  { from: licenseKeys, noun: 'license key', path: 'projectId', to: projects, where: { revokedAt: null } },
  {
    from: dashboards,
    noun: 'dashboard',
    path: savedQueryIdPath,
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
  { from: alertRules, noun: 'alert rule', path: 'projectId', to: projects },
  { from: anomalyDetectors, noun: 'anomaly detector', path: 'projectId', to: projects },
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
