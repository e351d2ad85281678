/** Every operation of the management API. A new one is a definition in its group's folder and a line in that folder's `index.ts`. */
import type { Operation } from '../kernel/operation.ts';
import { auditOperations } from './audit/index.ts';
import { authenticationOperations } from './authentication/index.ts';
import { deadLetterOperations } from './dead-letter/index.ts';
import { licenseKeysOperations } from './license-keys/index.ts';
import { logsOperations } from './logs/index.ts';
import { metricsOperations } from './metrics/index.ts';
import { onboardingOperations } from './onboarding/index.ts';
import { projectsOperations } from './projects/index.ts';
import { serviceAccountsOperations } from './service-accounts/index.ts';
import { tracesOperations } from './traces/index.ts';
import { unbuilt } from './unbuilt.ts';
import { usageOperations } from './usage/index.ts';
import { usersOperations } from './users/index.ts';

export const operations: readonly Operation[] = [
  ...authenticationOperations,
  ...usersOperations,
  ...logsOperations,
  ...metricsOperations,
  ...tracesOperations,
  ...deadLetterOperations,
  ...onboardingOperations,
  ...projectsOperations,
  ...licenseKeysOperations,
  ...serviceAccountsOperations,
  ...usageOperations,
  ...auditOperations,
  ...unbuilt,
];
