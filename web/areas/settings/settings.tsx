/**
 * Settings: usage and quotas, projects, keys, members, service accounts, dead letters, organization, plan, identity
 * provider, audit log, contacts and sign-in
 */
import type { listAuditRecords } from '../../../api/groups/audit/records.ts';
import type { projectResource } from '../../../api/groups/projects/resource.ts';
import type { getBilling } from '../../../api/groups/usage/billing.ts';
import type { patchAccount } from '../../../api/groups/users/account.ts';
import type { getIdentityProvider } from '../../../api/groups/users/identity-provider.ts';
import { callOf, listOf } from '../../client/call.ts';
import { later } from '../../frame/lazy-load.tsx';
import { partsOf } from '../../frame/parts.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { OpenAuditRecord } from './audit.tsx';
import { AuditTools } from './audit-tools.tsx';
import { DeadLetters } from './dead-letters.tsx';
import { Keys } from './keys.tsx';
import { Invitations, People } from './people.tsx';
import { ServiceAccounts } from './service-accounts.tsx';
import { Usage } from './usage.tsx';

const Audit = listed({
  title: 'Audit log',
  call: callOf<typeof listAuditRecords>('GET', '/api/audit'),
  isRanged: true,
  filters: ['actor', 'action', 'resourceType', 'resourceId'],
  nothing: 'No changes in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Number: ({ sequence }) => sequence,
    Time: ({ at }) => shownMoment(at),
    Action: ({ action }) => action,
    Actor: ({ actor }) => actor.name ?? actor.id,
    Resource: ({ resource }) => `${resource.type} ${resource.name ?? resource.id}`,
    Source: ({ address }) => address,
  },
  Tools: AuditTools,
  Open: OpenAuditRecord,
});

export const Settings = partsOf('Settings', [
  { name: '', title: 'Usage', View: Usage },
  {
    name: 'projects',
    title: 'Projects',
    requiredCall: listOf<typeof projectResource>('/api/projects'),
    View: later(async () => (await import('./projects.tsx')).Projects),
  },
  { name: 'keys', title: 'Ingest keys', View: Keys },
  { name: 'people', title: 'Users', View: People },
  { name: 'invitations', title: 'Invitations', View: Invitations },
  { name: 'service-accounts', title: 'Service accounts', View: ServiceAccounts },
  { name: 'dead-letters', title: 'Dead letters', View: DeadLetters },
  {
    name: 'organization',
    title: 'Organization',
    requiredCall: callOf<typeof patchAccount>('PATCH', '/api/account'),
    View: later(async () => (await import('./organization.tsx')).Organization),
  },
  {
    name: 'billing',
    title: 'Billing',
    requiredCall: callOf<typeof getBilling>('GET', '/api/billing'),
    View: later(async () => (await import('./billing.tsx')).Billing),
  },
  {
    name: 'identity-provider',
    title: 'Identity provider',
    requiredCall: callOf<typeof getIdentityProvider>('GET', '/api/account/identity-provider'),
    View: later(async () => (await import('./identity-provider.tsx')).IdentityProvider),
  },
  { name: 'audit', title: 'Audit log', View: Audit },
  { name: 'contacts', title: 'Notification rules', View: later(async () => (await import('./contacts.tsx')).Contacts) },
  { name: 'you', title: 'Security', View: later(async () => (await import('./you.tsx')).You) },
]);
