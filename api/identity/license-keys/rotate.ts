import { z } from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { shownOnce } from './mint.ts';
import { licenseKeyResource } from './resource.ts';
import { rotated } from './secrets.ts';
import { LicenseKeyView } from './views.ts';

const daySeconds = 86_400;

/** How long the key that is rotated out goes on working. */
export const Grace = z
  .strictObject({
    graceSeconds: z
      .int()
      .min(0)
      .max(90 * daySeconds)
      .default(daySeconds)
      .describe('How long the old key goes on working; 0 ends it, and all that were rotated out before, at once'),
  })
  .prefault({});

export const rotateLicenseKey = defineOperation({
  method: 'POST',
  path: '/api/license-keys/{id}/rotate',
  operationId: 'rotateLicenseKey',
  summary: 'A new key under the same id; the old one goes on working for a grace period',
  role: 'admin',
  audit: 'license-key.rotate',
  versions: 'write',
  params: idParameter,
  body: Grace,
  response: LicenseKeyView.extend(shownOnce),
  async handler(input, ports) {
    const { graceSeconds } = input.body;
    let secret = '';
    const next: Parameters<typeof licenseKeyResource.change>[1] = async (before) => {
      const { key, document } = rotated(before, { graceSeconds, now: ports.clock.now() });
      secret = key;
      return document;
    };
    const after = await licenseKeyResource.change(input.params.id, next, input);
    return { ...(await licenseKeyResource.answer(after, input, ports)), key: secret };
  },
});
