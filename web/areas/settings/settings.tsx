/** Settings area: tabs for usage, access, the organization and the user's own account */
import type { listAuditRecords } from '../../../api/groups/audit/records.ts';
import type { projectResource } from '../../../api/groups/projects/resource.ts';
import type { getBilling } from '../../../api/groups/usage/billing.ts';
import type { patchAccount } from '../../../api/groups/users/account.ts';
import type { getIdentityProvider } from '../../../api/groups/users/identity-provider.ts';
import { declareCall, declareListCall } from '../../client/call.ts';
import { formatIsoTime } from '../../frame/format-time.ts';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
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

const data = 'Data';
const access = 'Access';
const organization = 'Organization';
const personal = 'Personal';

export const Settings = createTabbedView('Settings', [
  { name: '', title: 'Usage', group: data, View: Usage },
  {
    name: 'projects',
    title: 'Projects',
    group: data,
    requiredCall: declareListCall<typeof projectResource>('/api/projects'),
    View: lazyLoad(async () => (await import('./projects.tsx')).Projects),
  },
  { name: 'keys', title: 'Ingest keys', group: data, View: Keys },
  { name: 'dead-letters', title: 'Dead letters', group: data, View: DeadLetters },
  { name: 'people', title: 'Users', group: access, View: People },
  { name: 'invitations', title: 'Invitations', group: access, View: Invitations },
  { name: 'service-accounts', title: 'Service accounts', group: access, View: ServiceAccounts },
  {
    name: 'identity-provider',
    title: 'Identity provider',
    group: access,
    requiredCall: declareCall<typeof getIdentityProvider>('GET', '/api/account/identity-provider'),
    View: lazyLoad(async () => (await import('./identity-provider.tsx')).IdentityProvider),
  },
  { name: 'audit', title: 'Audit log', group: access, View: AuditLog },
  {
    name: 'organization',
    title: 'Organization',
    group: organization,
    requiredCall: declareCall<typeof patchAccount>('PATCH', '/api/account'),
    View: lazyLoad(async () => (await import('./organization.tsx')).Organization),
  },
  {
    name: 'billing',
    title: 'Billing',
    group: organization,
    requiredCall: declareCall<typeof getBilling>('GET', '/api/billing'),
    View: lazyLoad(async () => (await import('./billing.tsx')).Billing),
  },
  {
    name: 'contacts',
    title: 'Notification rules',
    group: personal,
    View: lazyLoad(async () => (await import('./contacts.tsx')).Contacts),
  },
  {
    name: 'you',
    title: 'Security',
    group: personal,
    View: lazyLoad(async () => (await import('./you.tsx')).SecuritySettings),
  },
]);
