/** Installations for tests and benchmarks: set up like a first start, with high limits. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { collections } from '../../api/collections.ts';
import { initializeInstallation } from '../../api/identity/accounts/first-start.ts';
import { loadSecretKey } from '../../runtime/secret-box.ts';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { copyColumns } from '../services/columns-template.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { owner } from './oiq-process.ts';

/** A limit that no load generator reaches. */
const noLimit = 1_000_000_000;

const setUp = async (documents: Documents): Promise<string> => {
  const licenseKey = generateLicenseKey();
  try {
    await documents.ensureCollections(collections);
    await initializeInstallation(
      documents,
      parseSettings({
        OIQ_BOOTSTRAP_EMAIL: owner.email,
        OIQ_BOOTSTRAP_PASSWORD: owner.password,
        OIQ_BOOTSTRAP_LICENSE_KEY: licenseKey,
      }),
    );
    await documents
      .forTenant(plansTenant)
      .collection(plans)
      .update('enterprise', {
        limits: { requestsPerSecond: noLimit, requestsBurst: noLimit, requestsPerMinute: noLimit, bytesPerDay: null },
      });
  } finally {
    await documents.close();
  }
  return licenseKey;
};

/** Sets up an embedded installation in a directory with all its files. Returns its license key. */
export const embeddedDeployment = async (dataDirectory: string): Promise<string> => {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  await (await openSegmentsBus({ directory: join(dataDirectory, 'bus') })).close();
  await loadSecretKey({ DATA_DIR: dataDirectory, SECRET_KEY: undefined });
  mkdirSync(join(dataDirectory, 'columns'), { recursive: true });
  copyColumns(join(dataDirectory, 'columns'));
  return setUp(await openSqliteDocuments({ path: join(dataDirectory, 'documents.sqlite') }));
};

/** Sets up an installation with documents in a MongoDB database. Returns its license key. */
export const mongoDeployment = async (url: string): Promise<string> => setUp(await openPatientDocuments(url));

/** The limits of single keys as well. */
export const withoutLimits = { OIQ_KEY_REQUESTS_PER_SECOND: String(noLimit) } as const;
