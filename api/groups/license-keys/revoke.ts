import { getFields } from '../../../runtime/stored-fields.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { licenseKeyResource } from './resource.ts';
import { LicenseKeyView } from './views.ts';

export const revokeLicenseKey = defineOperation({
  method: 'DELETE',
  path: '/api/license-keys/{id}',
  operationId: 'revokeLicenseKey',
  summary: 'Revoke a license key and the keys that its rotation created; receivers reject them within seconds',
  role: 'admin',
  audit: 'license-key.revoke',
  versions: 'write',
  params: idParameter,
  response: LicenseKeyView,
  async handler(input, ports) {
    const revoke: Parameters<typeof licenseKeyResource.change>[1] = async (before) => ({
      ...getFields(before),
      revokedAt: before.revokedAt ?? new Date(ports.clock.now()).toISOString(),
    });
    const after = await licenseKeyResource.change(input.params.id, revoke, input);
    return licenseKeyResource.sendView(after, input, ports);
  },
});
