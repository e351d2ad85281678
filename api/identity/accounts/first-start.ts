/** The first start of an installation: plans, an organization, its Owner, a project and a license key. */
import { randomBytes, randomUUID } from 'node:crypto';
import { makeLicenseKey } from '../../../schemas/license-key-format.ts';
import { systemClock } from '../../../schemas/ports/clock.ts';
import { ConflictError, type Documents, platformTenant } from '../../../schemas/ports/documents.ts';
import { installation } from '../../../schemas/resources/installation.ts';
import { licenseKeyFields, licenseKeys } from '../../../schemas/resources/license-key.ts';
import { defaultPlans, plans, plansTenant } from '../../../schemas/resources/plan.ts';
import { projects } from '../../../schemas/resources/project.ts';
import { users, usersTenant } from '../../../schemas/resources/user.ts';
import type { Settings } from '../../../schemas/settings.ts';
import { systemActor, systemChange } from '../../changes.ts';
import { hashPassword } from '../password.ts';
import { makeOrganization } from './organization.ts';

/** Secrets that the first start shows once to the operator. Values from the settings are absent. */
export interface FirstStart {
  readonly email: string;
  readonly password: string | undefined;
  readonly licenseKey: string | undefined;
}

/** Secrets for a new installation, identical for all attempts. */
export interface FirstSecrets {
  readonly id: string;
  readonly password: string;
  readonly licenseKey: string;
}

export const makeFirstSecrets = (): FirstSecrets => ({
  id: randomUUID(),
  password: randomBytes(15).toString('base64url'),
  licenseKey: makeLicenseKey(),
});

/**
 * Sets up a new installation, atomically; returns `undefined` if another start already did. It can be repeated with the
 * same secrets after a failure: if the installation was created and only the answer was lost, it still returns them.
 */
export const makeFirstStart = async (
  documents: Documents,
  settings: Settings,
  secrets: FirstSecrets = makeFirstSecrets(),
): Promise<FirstStart | undefined> => {
  const given = settings.BOOTSTRAP_LICENSE_KEY;
  const email = (settings.BOOTSTRAP_EMAIL ?? 'owner@localhost.localdomain').toLowerCase();
  const password = settings.BOOTSTRAP_PASSWORD ?? secrets.password;
  const licenseKey = given ?? secrets.licenseKey;
  const shown: FirstStart = {
    email,
    password: settings.BOOTSTRAP_PASSWORD === undefined ? password : undefined,
    licenseKey: given === undefined ? licenseKey : undefined,
  };
  const found = await documents.of(platformTenant).collection(installation).find('installation');
  if (found !== undefined) return found.firstStartId === secrets.id ? shown : undefined;
  const passwordHash = await hashPassword(password);
  const tenantId = 'default';
  const now = new Date().toISOString();
  try {
    await systemChange(
      { documents, clock: systemClock },
      'organization.create',
    )(async (scope) => {
      const { of } = scope;
      await of(platformTenant)
        .collection(installation)
        .insert({ id: 'installation', organizationId: tenantId, firstStartId: secrets.id });
      for (const [id, plan] of Object.entries(defaultPlans))
        await of(plansTenant)
          .collection(plans)
          .insert({ id, ...plan });
      const owner = await of(usersTenant).collection(users).insert({
        id: randomUUID(),
        email,
        name: 'Owner',
        passwordHash,
        disabled: false,
      });
      const actor = systemActor('first start');
      await makeOrganization(scope, { id: tenantId, name: 'Default', planId: 'enterprise', owner, actor });
      const key = await of(tenantId)
        .collection(licenseKeys)
        .insert(
          licenseKeyFields(licenseKey, {
            name: `First key, created ${now.slice(0, 10)}`,
            projectId: 'default',
            expiresAt: null,
          }),
        );
      await of(tenantId).collection(projects).update('default', { ingestKeyId: key.id });
    });
  } catch (error) {
    if (error instanceof ConflictError) return undefined;
    throw error;
  }
  return shown;
};
