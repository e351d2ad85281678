import { licenseKeyUses } from '../../../schemas/resources/license-key-use.ts';
import { mintLicenseKey, rotateLicenseKey } from '../../license-keys/minting.ts';
import { licenseKeyResource } from '../../license-keys/resource.ts';
import { defineGroup } from '../define-group.ts';
import { revokeLicenseKey } from './revoke.ts';

export const licenseKeysGroup = defineGroup({
  name: 'license-keys',
  summary: 'The license keys with which telemetry is sent.',
  resources: [licenseKeyResource],
  operations: [mintLicenseKey, rotateLicenseKey, revokeLicenseKey],
  collections: [licenseKeyUses],
});
