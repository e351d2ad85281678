import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { CollectionDefinition, StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type Contact, contacts } from '../../../schemas/resources/contact.ts';
import { type Preferences, preferences } from '../../../schemas/resources/preferences.ts';
import { requireUser } from '../../callers/caller.ts';
import { ApiError } from '../../errors.ts';
import { defineResource } from '../../resources/resource.ts';
import { maskSecrets } from '../../resources/resource-secrets.ts';
import { storedView } from '../../resources/resource-spec.ts';
import { channelSecrets, MaskableSettings } from './channel.ts';

/** Maximum number per person in an organization */
const maxContacts = 20;

const ContactFields = z.strictObject({
  name: z.string().min(1).max(256),
  enabled: z.boolean().default(true).describe('Whether notifications are sent to the contact'),
  settings: MaskableSettings,
});

const View = z.strictObject({
  ...ContactFields.shape,
  ownerId: z.string().describe('Id of its owner'),
  ...storedView,
});

/** Removes a deleted contact from its person's preferences. */
const removeFromPreferences = async (
  tenantDocuments: TenantDocuments,
  { before, after }: { readonly before?: Contact & StoredMetadata; readonly after?: Contact & StoredMetadata },
): Promise<void> => {
  if (before === undefined || after !== undefined) return;
  const preferencesCollection = tenantDocuments.collection(preferences);
  const ownerPreferences = await preferencesCollection.find(before.ownerId);
  if (!ownerPreferences?.contacts?.some(({ contactId }) => contactId === before.id)) return;
  const { contacts: contactPreferences, ...others } = getFields<Preferences>(ownerPreferences);
  const remaining = contactPreferences.filter(({ contactId }) => contactId !== before.id);
  await preferencesCollection.replace(before.ownerId, { ...others, contacts: remaining }, ownerPreferences.version);
};

export const contactResource = defineResource<typeof ContactFields, Contact, typeof View>({
  noun: 'contact',
  path: '/api/contacts',
  collection: contacts as CollectionDefinition<Contact>,
  verbs: ['list', 'create', 'read', 'replace', 'delete'],
  roles: { read: 'session', write: 'session' },
  fields: ContactFields,
  example: { name: 'Phone', settings: { type: 'ntfy', topic: 'pages-of-ann' } },
  secrets: channelSecrets,
  view: View,
  show: (documents) => documents.map((contact) => maskSecrets(contact, channelSecrets)),
  initial: ({ caller }) => ({ ownerId: requireUser(caller).userId }),
  visible: {
    where: ({ actor }) => ({ ownerId: actor.id }),
    to: ({ ownerId }, { actor }) => ownerId === actor.id,
  },
  async prepare(after, { before, forTenant, caller }) {
    const { ownerId } = after;
    if (
      before === undefined &&
      (await forTenant(caller.tenantId).collection(contacts).count({ ownerId })) >= maxContacts
    )
      throw new ApiError('CONFLICT', `there are ${maxContacts} contacts: delete one first`);
    return after;
  },
  alongside: removeFromPreferences,
  list: { searched: ['name'] },
});
