import { mintLicenseKey } from '../../identity/license-keys/mint.ts';
import { licenseKeyResource } from '../../identity/license-keys/resource.ts';
import { rotateLicenseKey } from '../../identity/license-keys/rotate.ts';
import type { Operation } from '../../kernel/operation.ts';
import { revokeLicenseKey } from './revoke.ts';

export const licenseKeysOperations: readonly Operation[] = [
  ...licenseKeyResource.operations,
  mintLicenseKey,
  rotateLicenseKey,
  revokeLicenseKey,
];
