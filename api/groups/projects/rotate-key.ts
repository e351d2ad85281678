import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type LicenseKey, LicenseKeyFields } from '../../../schemas/resources/license-key.ts';
import type { Project } from '../../../schemas/resources/project.ts';
import type { Caller } from '../../callers/caller.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { createKey, GracePeriod, rotateKey, secretView } from '../license-keys/create-key.ts';
import { licenseKeyResource } from '../license-keys/resource.ts';
import { LicenseKeyView } from '../license-keys/views.ts';
import { projectResource } from './resource.ts';

interface IssuedKey {
  readonly key: string;
  readonly licenseKey: LicenseKey & StoredMetadata;
}

export const rotateProjectKey = defineOperation({
  method: 'POST',
  path: '/api/projects/{id}/rotate-key',
  operationId: 'rotateProjectKey',
  summary: 'Rotate the project’s ingest key, or create one if there is none; the old key works for a grace period',
  role: 'admin',
  audit: ['project.rotate-key', 'license-key.rotate', 'license-key.create'],
  params: idParameter,
  body: GracePeriod,
  response: z.strictObject({ ...secretView, licenseKey: LicenseKeyView }),
  async handler({ caller, params, body, change }, ports) {
    const now = ports.clock.now();
    const { key, licenseKey } = await change(async (scope) => {
      const project = await projectResource.createWriter(scope, caller).find(params.id);
      const currentKey = await findIngestKey(project, scope, caller);
      if (currentKey === undefined) return createIngestKey(project, scope, caller);
      const rotatedKey = rotateKey(currentKey, { graceSeconds: body.graceSeconds, now });
      const writer = licenseKeyResource.createWriter(scope, caller);
      const { document } = await writer.change(currentKey.id, () => rotatedKey.document, {
        action: 'license-key.rotate',
      });
      scope.record({ id: project.id, name: project.name, action: 'project.rotate-key' });
      return { key: rotatedKey.key, licenseKey: document };
    });
    return { key, licenseKey: await licenseKeyResource.toView(licenseKey, { caller, ports }) };
  },
});

/** Returns the project's ingest key, unless it was revoked. */
const findIngestKey = async (
  { ingestKeyId }: Project,
  { forTenant }: AuditedTransaction,
  { tenantId }: Caller,
): Promise<(LicenseKey & StoredMetadata) | undefined> => {
  if (ingestKeyId === undefined) return undefined;
  const key = await forTenant(tenantId).collection(licenseKeyResource.collection).find(ingestKeyId);
  return key?.revokedAt === null ? key : undefined;
};

const createIngestKey = async (
  project: Project & StoredMetadata,
  scope: AuditedTransaction,
  caller: Caller,
): Promise<IssuedKey> => {
  const fields = LicenseKeyFields.parse({ name: `Ingest key of ${project.name}`.slice(0, 256) });
  const { key, document } = createKey({ ...fields, projectId: project.id });
  const licenseKey = await licenseKeyResource
    .createWriter(scope, caller)
    .create(document, { action: 'license-key.create' });
  const withIngestKey = () => ({ ...getFields(project), ingestKeyId: licenseKey.id });
  await projectResource.createWriter(scope, caller).change(project.id, withIngestKey, { action: 'project.rotate-key' });
  return { key, licenseKey };
};
