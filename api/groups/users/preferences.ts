import { contacts } from '../../../schemas/resources/contact.ts';
import { Preferences, preferences } from '../../../schemas/resources/preferences.ts';
import { projects } from '../../../schemas/resources/project.ts';
import { requireUser } from '../../callers/caller.ts';
import { hasSameFields } from '../../changes.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const getPreferences = defineOperation({
  method: 'GET',
  path: '/api/preferences',
  operationId: 'getPreferences',
  summary: 'Get my preferences in this organization',
  role: 'session',
  response: Preferences,
  async handler({ caller }, { documents }) {
    const storedPreferences = await documents
      .forTenant(caller.tenantId)
      .collection(preferences)
      .find(requireUser(caller).userId);
    return toPreferences(storedPreferences);
  },
});

export const putPreferences = defineOperation({
  method: 'PUT',
  path: '/api/preferences',
  operationId: 'setPreferences',
  summary: 'Set my preferences in this organization; omitted fields are reset to their default',
  role: 'session',
  audit: 'preferences.update',
  // Every role may call it, and each change writes an audit record.
  limit: { rate: 1, burst: 20 },
  body: Preferences,
  response: Preferences,
  async handler({ caller, body, change }) {
    const { userId, user, tenantId } = requireUser(caller);
    return change(async ({ forTenant, record, markUnchanged }) => {
      const projectId = body.defaultProjectId;
      if (projectId !== null && (await forTenant(tenantId).collection(projects).find(projectId)) === undefined)
        throw createFieldError('defaultProjectId', 'is not a project of this organization');
      for (const [index, { contactId }] of body.contacts.entries())
        if ((await forTenant(tenantId).collection(contacts).find(contactId))?.ownerId !== userId)
          throw createFieldError(`contacts.${index}.contactId`, 'is not one of your contacts');
      const preferencesCollection = forTenant(tenantId).collection(preferences);
      const before = await preferencesCollection.find(userId);
      if (hasSameFields(toPreferences(before), body)) {
        markUnchanged();
        return body;
      }
      const after = before
        ? await preferencesCollection.replace(userId, body)
        : await preferencesCollection.insert({ id: userId, ...body });
      record({ id: userId, name: user.email, before, after });
      return toPreferences(after);
    });
  },
});

/** Converts a stored document to preferences: removes the metadata and adds defaults for missing fields. */
const toPreferences = (document: object | undefined): Preferences => {
  const preferenceFields = Object.entries(document ?? {}).filter(([name]) => Object.hasOwn(Preferences.shape, name));
  return Preferences.parse(Object.fromEntries(preferenceFields));
};
