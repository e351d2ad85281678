/** The first start of an installation: plans, an organization, its Owner, a project and a license key. */
import { randomBytes, randomUUID } from 'node:crypto';
import { generateLicenseKey } from '../../../schemas/license-key-format.ts';
import { systemClock } from '../../../schemas/ports/clock.ts';
import { ConflictError, type Documents, platformTenant } from '../../../schemas/ports/documents.ts';
import { installation } from '../../../schemas/resources/installation.ts';
import { buildLicenseKey, licenseKeys } from '../../../schemas/resources/license-key.ts';
import { defaultPlans, plans, plansTenant } from '../../../schemas/resources/plan.ts';
import { projects } from '../../../schemas/resources/project.ts';
import { users, usersTenant } from '../../../schemas/resources/user.ts';
import type { Settings } from '../../../schemas/settings.ts';
import { createSystemActor, createSystemTransact } from '../../changes.ts';
import { hashPassword } from '../password.ts';
import { insertOrganization } from './organization.ts';

/** Secrets that the first start shows once to the operator. Values from the settings are absent. */
export interface FirstStartSecrets {
  readonly email: string;
  readonly password: string | undefined;
  readonly licenseKey: string | undefined;
}

/** Secrets for a new installation, identical for all attempts. */
export interface GeneratedSecrets {
  readonly id: string;
  readonly password: string;
  readonly licenseKey: string;
}

export const generateSecrets = (): GeneratedSecrets => ({
  id: randomUUID(),
  password: randomBytes(15).toString('base64url'),
  licenseKey: generateLicenseKey(),
});

/**
 * Sets up a new installation in one transaction; returns `undefined` if another start already did. It can be repeated
 * with the same secrets after a failure: if the transaction was committed but its response was lost, the secrets are
 * returned.
 */
export const initializeInstallation = async (
  documents: Documents,
  settings: Settings,
  secrets: GeneratedSecrets = generateSecrets(),
): Promise<FirstStartSecrets | undefined> => {
  const configuredLicenseKey = settings.BOOTSTRAP_LICENSE_KEY;
  const email = (settings.BOOTSTRAP_EMAIL ?? 'owner@localhost.localdomain').toLowerCase();
  const password = settings.BOOTSTRAP_PASSWORD ?? secrets.password;
  const licenseKey = configuredLicenseKey ?? secrets.licenseKey;
  const generatedSecrets: FirstStartSecrets = {
    email,
    password: settings.BOOTSTRAP_PASSWORD === undefined ? password : undefined,
    licenseKey: configuredLicenseKey === undefined ? licenseKey : undefined,
  };
  const existingInstallation = await documents.forTenant(platformTenant).collection(installation).find('installation');
  if (existingInstallation !== undefined)
    return existingInstallation.firstStartId === secrets.id ? generatedSecrets : undefined;
  const passwordHash = await hashPassword(password);
  const tenantId = 'default';
  const now = new Date().toISOString();
  try {
    await createSystemTransact(
      { documents, clock: systemClock },
      'organization.create',
    )(async (scope) => {
      const { forTenant } = scope;
      await forTenant(platformTenant)
        .collection(installation)
        .insert({ id: 'installation', organizationId: tenantId, firstStartId: secrets.id });
      for (const [id, plan] of Object.entries(defaultPlans))
        await forTenant(plansTenant)
          .collection(plans)
          .insert({ id, ...plan });
      const owner = await forTenant(usersTenant).collection(users).insert({
        id: randomUUID(),
        email,
        name: 'Owner',
        passwordHash,
        disabled: false,
      });
      const actor = createSystemActor('first start');
      await insertOrganization(scope, { id: tenantId, name: 'Default', planId: 'enterprise', owner, actor });
      const key = await forTenant(tenantId)
        .collection(licenseKeys)
        .insert(
          buildLicenseKey(licenseKey, {
            name: `First key, created ${now.slice(0, 10)}`,
            projectId: 'default',
            expiresAt: null,
          }),
        );
      await forTenant(tenantId).collection(projects).update('default', { ingestKeyId: key.id });
    });
  } catch (error) {
    if (error instanceof ConflictError) return undefined;
    throw error;
  }
  return generatedSecrets;
};
