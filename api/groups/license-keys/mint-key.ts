import { z } from 'zod';
import { LicenseKeyFields } from '../../../schemas/resources/license-key.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createKey, secretView } from './create-key.ts';
import { licenseKeyResource, requireFieldsOfKind, requireFutureExpiry, selectSignals } from './resource.ts';
import { LicenseKeyView } from './views.ts';

export const mintLicenseKey = defineOperation({
  method: 'POST',
  path: '/api/license-keys',
  operationId: 'createLicenseKey',
  summary: 'Create a license key: a secret for servers, which is shown only once, or a public key for browsers',
  role: 'admin',
  audit: 'license-key.create',
  versions: 'shown',
  body: LicenseKeyFields.extend({
    projectId: z.string().min(1).max(128).describe('Project of the data that is sent with the key'),
  }).meta({ examples: [{ ...licenseKeyResource.example, projectId: 'default' }] }),
  response: LicenseKeyView.extend(secretView),
  async handler(input, ports) {
    const { caller, body, change } = input;
    requireFutureExpiry(body, ports.clock.now());
    requireFieldsOfKind(body);
    const { key, document } = createKey({ ...body, signals: selectSignals(body) });
    const licenseKey = await change((scope) => licenseKeyResource.createWriter(scope, caller).create(document));
    return { ...(await licenseKeyResource.sendView(licenseKey, input, ports)), key };
  },
});
