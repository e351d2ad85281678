/** Settings area: tabs for usage, access, the organization and the user's own account */
import type { listAuditRecords } from '../../../api/groups/audit/records.ts';
import type { projectResource } from '../../../api/groups/projects/resource.ts';
import type { getBilling } from '../../../api/groups/usage/billing.ts';
import type { patchAccount } from '../../../api/groups/users/account.ts';
import type { getIdentityProvider } from '../../../api/groups/users/identity-provider.ts';
import { declareCall, declareListCall } from '../../client/call.ts';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { AuditRecordPanel } from './audit.tsx';
import { AuditTools } from './audit-tools.tsx';
import { DeadLetters } from './dead-letters.tsx';
import { Keys } from './keys.tsx';
import { Invitations, People } from './people.tsx';
import { ServiceAccounts } from './service-accounts.tsx';
import { Usage } from './usage.tsx';

const AuditLog = createListView({
  title: 'Audit log',
  call: declareCall<typeof listAuditRecords>('GET', '/api/audit'),
  hasTimeRange: true,
  filters: ['actor', 'action', 'resourceType', 'resourceId'],
  emptyText: 'No changes in this range.',
  toKey: ({ id }) => id,
  columns: {
    Number: ({ sequence }) => sequence,
    Time: ({ at }) => formatIsoTime(at),
    Action: ({ action }) => action,
    Actor: ({ actor }) => actor.name ?? actor.id,
    Resource: ({ resource }) => `${resource.type} ${resource.name ?? resource.id}`,
    Source: ({ address }) => address,
  },
  Tools: AuditTools,
  ItemPanel: AuditRecordPanel,
});

export const Settings = createTabbedView('Settings', [
  { name: '', title: 'Usage', View: Usage },
  {
    name: 'projects',
    title: 'Projects',
    requiredCall: declareListCall<typeof projectResource>('/api/projects'),
    View: lazyLoad(async () => (await import('./projects.tsx')).Projects),
  },
  { name: 'keys', title: 'Ingest keys', View: Keys },
  { name: 'people', title: 'Users', View: People },
  { name: 'invitations', title: 'Invitations', View: Invitations },
  { name: 'service-accounts', title: 'Service accounts', View: ServiceAccounts },
  { name: 'dead-letters', title: 'Dead letters', View: DeadLetters },
  {
    name: 'organization',
    title: 'Organization',
    requiredCall: declareCall<typeof patchAccount>('PATCH', '/api/account'),
    View: lazyLoad(async () => (await import('./organization.tsx')).Organization),
  },
  {
    name: 'billing',
    title: 'Billing',
    requiredCall: declareCall<typeof getBilling>('GET', '/api/billing'),
    View: lazyLoad(async () => (await import('./billing.tsx')).Billing),
  },
  {
    name: 'identity-provider',
    title: 'Identity provider',
    requiredCall: declareCall<typeof getIdentityProvider>('GET', '/api/account/identity-provider'),
    View: lazyLoad(async () => (await import('./identity-provider.tsx')).IdentityProvider),
  },
  { name: 'audit', title: 'Audit log', View: AuditLog },
  {
    name: 'contacts',
    title: 'Notification rules',
    View: lazyLoad(async () => (await import('./contacts.tsx')).Contacts),
  },
  { name: 'you', title: 'Security', View: lazyLoad(async () => (await import('./you.tsx')).SecuritySettings) },
]);
