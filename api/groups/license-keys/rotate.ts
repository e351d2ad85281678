import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { GracePeriod, rotateKey, secretView } from './create-key.ts';
import { licenseKeyResource } from './resource.ts';
import { LicenseKeyView } from './views.ts';

export const rotateLicenseKey = defineOperation({
  method: 'POST',
  path: '/api/license-keys/{id}/rotate',
  operationId: 'rotateLicenseKey',
  summary: 'Rotate a license key: a new key under the same id; the old one remains valid for a grace period',
  role: 'admin',
  audit: 'license-key.rotate',
  versions: 'write',
  params: idParameter,
  body: GracePeriod,
  response: LicenseKeyView.extend(secretView),
  async handler(input, ports) {
    const { graceSeconds } = input.body;
    let secret = '';
    const rotate: Parameters<typeof licenseKeyResource.change>[1] = async (before) => {
      const { key, document } = rotateKey(before, { graceSeconds, now: ports.clock.now() });
      secret = key;
      return document;
    };
    const after = await licenseKeyResource.change(input.params.id, rotate, input);
    return { ...(await licenseKeyResource.sendView(after, input, ports)), key: secret };
  },
});
