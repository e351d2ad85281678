import { licenseKeyUses } from '../../../schemas/resources/license-key-use.ts';
import { defineGroup } from '../define-group.ts';
import { mintLicenseKey } from './mint-key.ts';
import { licenseKeyResource } from './resource.ts';
import { revokeLicenseKey } from './revoke.ts';
import { rotateLicenseKey } from './rotate.ts';

export const licenseKeysGroup = defineGroup({
  name: 'license-keys',
  summary: 'The license keys with which telemetry is sent.',
  resources: [licenseKeyResource],
  operations: [mintLicenseKey, rotateLicenseKey, revokeLicenseKey],
  collections: [licenseKeyUses],
});
