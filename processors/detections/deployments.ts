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
import { compileDeployment, type Deployment } from '../../subjects/detections/deployed.ts';

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

interface CompiledDeployment {
  readonly followed: FollowedDocuments;
  readonly revisions: readonly number[];
  readonly deployment: Deployment;
}

const compiledDeployments = new WeakMap<object, CompiledDeployment>();

/** Returns the deployment of a tenant. Cheap if nothing has changed. */
export const compileFollowed = ({ rules, fields, placeholders }: FollowedDocuments): Deployment => {
  const cached = compiledDeployments.get(rules);
  if (
    cached !== undefined &&
    cached.followed.fields === fields &&
    cached.followed.placeholders === placeholders &&
    cached.revisions[0] === rules.revision &&
    cached.revisions[1] === fields.revision &&
    cached.revisions[2] === placeholders.revision
  )
    return cached.deployment;
  const deployment = compileDeployment(rules.values(), fields.values(), placeholders.values());
  const revisions = [rules.revision, fields.revision, placeholders.revision];
  compiledDeployments.set(rules, { followed: { rules, fields, placeholders }, revisions, deployment });
  return deployment;
};
