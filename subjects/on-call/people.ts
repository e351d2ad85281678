/** Recipients that a policy can page at a time, as input of the pure escalation function */
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { contacts } from '../../schemas/resources/contact.ts';
import type { PageReceiver } from '../../schemas/resources/escalation.ts';
import type { EscalationPolicy } from '../../schemas/resources/escalation-policy.ts';
import { type NotificationChannel, notificationChannels } from '../../schemas/resources/notification-channel.ts';
import { preferences } from '../../schemas/resources/preferences.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { findChannelType } from '../notification-channels/registry.ts';
import type { Responders } from './escalation.ts';
import { readOnCall } from './read-on-call.ts';

/** People at a time, with the name of each possible recipient */
export interface NamedResponders extends Responders {
  getName(to: PageReceiver): string;
  /** Returns the contacts with which a person is paged, in order. */
  getContacts(userId: string): readonly PageContact[];
  /** Returns whether a page opens an item at a channel. */
  opensItemAt(channelId: string): boolean;
}

/** A contact with which a person is paged */
export interface PageContact {
  /** Id of the contact; `null` for the account's email */
  readonly id: string | null;
  readonly name: string;
  /** Delay of the contact after the page, in minutes */
  readonly afterMinutes: number;
  /** Whether a page opens an item in the service, which only an end notification closes */
  readonly opens: boolean;
}

const accountEmail: PageContact = { id: null, name: 'mail to the account', afterMinutes: 0, opens: false };

const opensExternalItems = ({ settings }: Pick<NotificationChannel, 'settings'>): boolean =>
  findChannelType(settings.type).opens !== undefined;

const receiverKey = ({ kind, id }: PageReceiver): string => `${kind} ${id}`;

type DocumentReader = Pick<Documents, 'forTenant'>;

/** A user of an organization */
export interface Member {
  readonly name: string;
  readonly email: string;
  /** Whether the user is disabled neither in the organization nor globally */
  readonly isActive: boolean;
}

/** Returns a user of an organization; `undefined` if the id does not exist or the user has left. */
export const readMember = async (
  documents: DocumentReader,
  tenantId: string,
  userId: string,
): Promise<Member | undefined> => {
  const membership = await documents.forTenant(tenantId).collection(memberships).find(userId);
  const user = await documents.forTenant(usersTenant).collection(users).find(userId);
  if (membership === undefined || user === undefined) return undefined;
  const isActive = membership.disabled !== true && !user.disabled;
  return { name: user.name || user.email, email: user.email, isActive };
};

/** Upper bound, larger than the number of contacts that a person may have */
const maxContacts = 100;

/**
 * Returns the contacts with which a person is paged: those in their preferences, in order. If none of these can be
 * used, returns all of their contacts; if there are none, the account's email.
 */
export const readContacts = async (
  documents: DocumentReader,
  tenantId: string,
  userId: string,
): Promise<readonly PageContact[]> => {
  const tenantDocuments = documents.forTenant(tenantId);
  const filter = { ownerId: userId, enabled: true };
  const { items } = await tenantDocuments
    .collection(contacts)
    .list({ filter, sort: { createdAt: 1 }, limit: maxContacts });
  const allContacts = items.map((each) => ({ id: each.id, name: each.name, opens: opensExternalItems(each) }));
  const byId = new Map(allContacts.map((allContact) => [allContact.id, allContact]));
  const preferredContacts = ((await tenantDocuments.collection(preferences).find(userId))?.contacts ?? []).flatMap(
    ({ contactId: id, afterMinutes }) => {
      const contact = byId.get(id);
      return contact === undefined ? [] : [{ ...contact, afterMinutes }];
    },
  );
  if (preferredContacts.length > 0) return preferredContacts;
  return allContacts.length === 0 ? [accountEmail] : allContacts.map((contact) => ({ ...contact, afterMinutes: 0 }));
};

/** Returns a channel to which pages can be sent. */
const readChannel = async (documents: DocumentReader, tenantId: string, id: string) => {
  const channel = await documents.forTenant(tenantId).collection(notificationChannels).find(id);
  return channel?.enabled === true ? channel : undefined;
};

/** Returns the name of a person to whom pages can be sent; `undefined` for others. */
const findName = async (documents: DocumentReader, tenantId: string, id: string): Promise<string | undefined> => {
  const member = await readMember(documents, tenantId, id);
  return member?.isActive ? member.name : undefined;
};

const readOwners = async (documents: DocumentReader, tenantId: string): Promise<string[]> => {
  const owners: string[] = [];
  const filter = { role: 'owner' } as const;
  for await (const { id } of iterateDocuments(documents.forTenant(tenantId).collection(memberships), { filter }))
    owners.push(id);
  return owners.sort();
};

/**
 * Returns the recipients that a policy can page at a time. Whether a recipient can be reached reflects the current
 * state.
 */
export const readResponders = async (
  documents: DocumentReader,
  tenantId: string,
  { policy, atMs, nowMs }: { readonly policy: EscalationPolicy; readonly atMs: number; readonly nowMs: number },
): Promise<NamedResponders> => {
  const targets = policy.steps.flatMap((step) => step.targets);
  const onCall = new Map<string, readonly string[]>();
  for (const { kind, id } of targets) {
    if (kind !== 'schedule' || onCall.has(id)) continue;
    const [schedule] = await readOnCall(documents.forTenant(tenantId), { atMs, nowMs, scheduleId: id });
    onCall.set(id, schedule?.userIds ?? []);
  }
  const owners = await readOwners(documents, tenantId);
  const namesByReceiver = new Map<string, string | undefined>();
  const recipients: PageReceiver[] = [
    ...targets.flatMap(({ kind, id }) => (kind === 'schedule' ? [] : [{ kind, id }])),
    ...[...[...onCall.values()].flat(), ...owners].map((id) => ({ kind: 'person' as const, id })),
  ];
  const openingChannels = new Set<string>();
  const contactsByUser = new Map<string, readonly PageContact[]>();
  for (const to of recipients) {
    if (namesByReceiver.has(receiverKey(to))) continue;
    if (to.kind === 'person') {
      namesByReceiver.set(receiverKey(to), await findName(documents, tenantId, to.id));
      contactsByUser.set(to.id, await readContacts(documents, tenantId, to.id));
    } else {
      const channel = await readChannel(documents, tenantId, to.id);
      namesByReceiver.set(receiverKey(to), channel?.name);
      if (channel !== undefined && opensExternalItems(channel)) openingChannels.add(to.id);
    }
  }
  return {
    owners,
    onCall: (scheduleId) => onCall.get(scheduleId) ?? [],
    canReach: (to) => namesByReceiver.get(receiverKey(to)) !== undefined,
    getName: (to) => namesByReceiver.get(receiverKey(to)) ?? to.id,
    opensItemAt: (channelId) => openingChannels.has(channelId),
    getContacts: (userId) => contactsByUser.get(userId) ?? [accountEmail],
  };
};

/** Returns the names of people, including those who left. */
export const readNames = async (
  documents: DocumentReader,
  userIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> => {
  const names = new Map<string, string>();
  for (const id of new Set(userIds)) {
    const user = await documents.forTenant(usersTenant).collection(users).find(id);
    if (user !== undefined) names.set(id, user.name || user.email);
  }
  return names;
};
