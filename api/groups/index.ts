/**
 * Every group of the management API, in the order of its documentation. A new group needs a folder with a `group.ts`,
 * and a line here.
 */
import '../../subjects/query-kinds.ts';
import type { Operation } from '../kernel/operation.ts';
import type { RegisteredResource } from '../resources/resource.ts';
import { agentsightGroup } from './agentsight/group.ts';
import { aiGroup } from './ai/group.ts';
import { alertsGroup } from './alerts/group.ts';
import { auditGroup } from './audit/group.ts';
import { authenticationGroup } from './authentication/group.ts';
import { dashboardsGroup } from './dashboards/group.ts';
import { databasesGroup } from './databases/group.ts';
import { deadLetterGroup } from './dead-letter/group.ts';
import type { Group } from './define-group.ts';
import { errorsGroup } from './errors/group.ts';
import { incidentsGroup } from './incidents/group.ts';
import { infrastructureGroup } from './infrastructure/group.ts';
import { instrumentationGroup } from './instrumentation/group.ts';
import { kubernetesGroup } from './kubernetes/group.ts';
import { licenseKeysGroup } from './license-keys/group.ts';
import { llmGroup } from './llm/group.ts';
import { logsGroup } from './logs/group.ts';
import { metricsGroup } from './metrics/group.ts';
import { networkGroup } from './network/group.ts';
import { notificationChannelsGroup } from './notification-channels/group.ts';
import { onboardingGroup } from './onboarding/group.ts';
import { overviewGroup } from './overview/group.ts';
import { projectsGroup } from './projects/group.ts';
import { prometheusGroup } from './prometheus/group.ts';
import { rumGroup } from './rum/group.ts';
import { savedQueriesGroup } from './saved-queries/group.ts';
import { securityGroup } from './security/group.ts';
import { serviceAccountsGroup } from './service-accounts/group.ts';
import { servicesGroup } from './services/group.ts';
import { siemGroup } from './siem/group.ts';
import { slosGroup } from './slos/group.ts';
import { syntheticsGroup } from './synthetics/group.ts';
import { templatesGroup } from './templates/group.ts';
import { tracesGroup } from './traces/group.ts';
import { usageGroup } from './usage/group.ts';
import { usersGroup } from './users/group.ts';

export const groups: readonly Group[] = [
  authenticationGroup,
  onboardingGroup,
  licenseKeysGroup,
  serviceAccountsGroup,
  usersGroup,
  projectsGroup,
  overviewGroup,
  logsGroup,
  metricsGroup,
  tracesGroup,
  servicesGroup,
  errorsGroup,
  rumGroup,
  infrastructureGroup,
  kubernetesGroup,
  databasesGroup,
  networkGroup,
  dashboardsGroup,
  savedQueriesGroup,
  templatesGroup,
  alertsGroup,
  notificationChannelsGroup,
  slosGroup,
  syntheticsGroup,
  securityGroup,
  siemGroup,
  incidentsGroup,
  llmGroup,
  agentsightGroup,
  instrumentationGroup,
  aiGroup,
  auditGroup,
  usageGroup,
  prometheusGroup,
  deadLetterGroup,
];

/** Every operation, implemented or planned */
export const operations: readonly Operation[] = groups.flatMap((group) => group.operations);
/** Every configuration resource; the contract tests of resources cover all of them. */
export const resources: readonly RegisteredResource[] = groups.flatMap((group) => group.resources);
