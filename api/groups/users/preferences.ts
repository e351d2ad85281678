import { contacts } from '../../../schemas/resources/contact.ts';
import { Preferences, preferences } from '../../../schemas/resources/preferences.ts';
import { projects } from '../../../schemas/resources/project.ts';
import { requirePerson } from '../../callers/caller.ts';
import { hasAlready } from '../../changes.ts';
import { fieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const getPreferences = defineOperation({
  method: 'GET',
  path: '/api/preferences',
  operationId: 'getPreferences',
  summary: 'Get my preferences in this organization',
  role: 'session',
  response: Preferences,
  async handler({ caller }, { documents }) {
    const stored = await documents
      .forTenant(caller.tenantId)
      .collection(preferences)
      .find(requirePerson(caller).userId);
    return toPreferences(stored);
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
    const { userId, user, tenantId } = requirePerson(caller);
    return change(async ({ forTenant, record, unchanged }) => {
      const project = body.defaultProjectId;
      if (project !== null && (await forTenant(tenantId).collection(projects).find(project)) === undefined)
        throw fieldError('defaultProjectId', 'is not a project of this organization');
      for (const [index, { contactId }] of body.contacts.entries())
        if ((await forTenant(tenantId).collection(contacts).find(contactId))?.ownerId !== userId)
          throw fieldError(`contacts.${index}.contactId`, 'is not one of your contacts');
      const stored = forTenant(tenantId).collection(preferences);
      const before = await stored.find(userId);
      if (hasAlready(toPreferences(before), body)) {
        unchanged();
        return body;
      }
      const after = before ? await stored.replace(userId, body) : await stored.insert({ id: userId, ...body });
      record({ id: userId, name: user.email, before, after });
      return toPreferences(after);
    });
  },
});

/** Converts a stored document to preferences: without the fields of the store, and with defaults for missing fields. */
const toPreferences = (stored: object | undefined): Preferences => {
  const preferenceFields = Object.entries(stored ?? {}).filter(([name]) => Object.hasOwn(Preferences.shape, name));
  return Preferences.parse(Object.fromEntries(preferenceFields));
};
