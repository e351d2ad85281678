import type { Operation } from '../../kernel/operation.ts';
import { mintLicenseKey } from './mint.ts';
import { licenseKeyResource } from './resource.ts';
import { revokeLicenseKey } from './revoke.ts';
import { rotateLicenseKey } from './rotate.ts';

export const licenseKeysOperations: readonly Operation[] = [
  ...licenseKeyResource.operations,
  mintLicenseKey,
  rotateLicenseKey,
  revokeLicenseKey,
];
