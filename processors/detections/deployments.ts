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

interface Followed {
  readonly rules: DocumentsById<DetectionRule & StoredMetadata>;
  readonly fields: DocumentsById<DetectionFields & StoredMetadata>;
  readonly placeholders: DocumentsById<DetectionPlaceholder & StoredMetadata>;
}

interface CompiledDeployment {
  readonly followed: Followed;
  readonly revisions: readonly number[];
  readonly deployment: Deployment;
}

const compiledDeployments = new WeakMap<object, CompiledDeployment>();

/** Returns the deployment of a tenant. Cheap if nothing has changed. */
export const compileFollowed = ({ rules, fields, placeholders }: Followed): Deployment => {
  const known = compiledDeployments.get(rules);
  if (
    known !== undefined &&
    known.followed.fields === fields &&
    known.followed.placeholders === placeholders &&
    known.revisions[0] === rules.revision &&
    known.revisions[1] === fields.revision &&
    known.revisions[2] === placeholders.revision
  )
    return known.deployment;
  const deployment = compileDeployment(rules.values(), fields.values(), placeholders.values());
  const revisions = [rules.revision, fields.revision, placeholders.revision];
  compiledDeployments.set(rules, { followed: { rules, fields, placeholders }, revisions, deployment });
  return deployment;
};
