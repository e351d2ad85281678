/** Deployment of a tenant, compiled once per state of its documents. */

import type { DocumentsById } from '../../runtime/resource-cache.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import {
  type DetectionFields,
  type DetectionPlaceholder,
  type DetectionRule,
  detectionFields,
  detectionPlaceholders,
  detectionRules,
} from '../../schemas/resources/detection-rule.ts';
import { getShippedDocuments, isAgentRule } from '../../subjects/agents/shipped-documents.ts';
import { compileDeployment, type Deployment, type StoredRule } from '../../subjects/detections/deployment.ts';

/** Collections that the detection processors follow. */
export const followedCollections = {
  rules: detectionRules,
  fields: detectionFields,
  placeholders: detectionPlaceholders,
};

interface FollowedDocuments {
  readonly rules: DocumentsById<DetectionRule & StoredMetadata>;
  readonly fields: DocumentsById<DetectionFields & StoredMetadata>;
  readonly placeholders: DocumentsById<DetectionPlaceholder & StoredMetadata>;
}

/**
 * What a deployment evaluates: log records, events of agents with the rules of the platform for them, or matches of
 * both.
 */
type DeploymentScope = 'records' | 'agents' | 'matches';

interface CompiledDeployment {
  readonly followed: FollowedDocuments;
  readonly revisions: readonly number[];
  readonly deployment: Deployment;
}

const compiledDeployments: Readonly<Record<DeploymentScope, WeakMap<object, CompiledDeployment>>> = {
  records: new WeakMap(),
  agents: new WeakMap(),
  matches: new WeakMap(),
};

/** Returns the rules of a scope. A rule of the organization replaces a shipped one with its ID, also if it is disabled. */
function* selectRules(
  rules: FollowedDocuments['rules'],
  scope: DeploymentScope,
): Generator<StoredRule, void, undefined> {
  const isSelected = ({ kind, source }: StoredRule): boolean =>
    scope === 'matches' || kind !== 'rule' || isAgentRule(source) === (scope === 'agents');
  for (const rule of rules.values()) if (isSelected(rule)) yield rule;
  if (scope === 'records') return;
  for (const shipped of getShippedDocuments()) if (rules.get(shipped.id) === undefined) yield shipped;
}

/** Returns the deployment of a tenant. Cheap if nothing has changed. */
export const compileFollowed = (
  { rules, fields, placeholders }: FollowedDocuments,
  scope: DeploymentScope = 'records',
): Deployment => {
  const cached = compiledDeployments[scope].get(rules);
  if (
    cached !== undefined &&
    cached.followed.fields === fields &&
    cached.followed.placeholders === placeholders &&
    cached.revisions[0] === rules.revision &&
    cached.revisions[1] === fields.revision &&
    cached.revisions[2] === placeholders.revision
  )
    return cached.deployment;
  const deployment = compileDeployment(selectRules(rules, scope), fields.values(), placeholders.values());
  const revisions = [rules.revision, fields.revision, placeholders.revision];
  compiledDeployments[scope].set(rules, { followed: { rules, fields, placeholders }, revisions, deployment });
  return deployment;
};
