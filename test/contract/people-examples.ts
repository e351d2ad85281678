/** Examples of operations on users, invitations and organizations. */
import { randomUUID } from 'node:crypto';
import { createToken } from '../../api/identity/accounts/one-time-tokens.ts';
import type { Example } from './example.ts';

const somebody = (): string => `${randomUUID()}@people.example`;
const soon = (): string => new Date(Date.now() + 60_000).toISOString();
const nextWeek = () => ({ from: soon(), to: new Date(Date.now() + 7 * 86_400_000).toISOString() });
const password = 'another correct horse battery staple';

export const peopleExamples: Readonly<Record<string, Example>> = {
  forgotPassword: () => ({ token: '', body: { email: somebody() } }),
  resetPassword: async ({ harness, person }) => {
    const { id: userId } = await person('viewer');
    const { token } = await createToken(harness.documents, { purpose: 'reset-password', userId, expiresAt: soon() });
    return { token: '', body: { token, password } };
  },
  acknowledgeIncidentByLink: async ({ harness, person, make }) => {
    const [{ id: incidentId }, { id: personId }] = [await make('createIncident'), await person('viewer')];
    const link = { purpose: 'acknowledge-incident', tenantId: 'a', incidentId, personId, expiresAt: soon() } as const;
    const { token } = await createToken(harness.documents, link);
    return { token: '', body: { token } };
  },
  register: () => ({ token: '', body: { email: somebody(), organization: 'Another' } }),
  acceptInvitation: async ({ harness }) => {
    const registration = { email: somebody(), organization: 'Another', expiresAt: soon() };
    const { token } = await createToken(harness.documents, { purpose: 'registration', ...registration });
    return { token: '', body: { token, name: 'Somebody', password } };
  },

  createInvitation: () => ({ body: { email: somebody(), role: 'viewer' } }),
  getUser: async ({ person }) => ({ params: { id: (await person('viewer')).id } }),
  updateUser: async ({ person }) => ({ params: { id: (await person('viewer')).id }, body: { role: 'editor' } }),
  removeUser: async ({ person }) => ({ params: { id: (await person('viewer')).id } }),
  resetUserMultiFactor: async ({ person, make }) => {
    const { id, token } = await person('viewer');
    await make('enrollMultiFactor', { token });
    return { params: { id } };
  },

  addOnCallOverride: async ({ make, person }) => ({
    params: { id: (await make('createOnCallSchedule')).id },
    body: { ...nextWeek(), userIds: [(await person('viewer')).id] },
  }),
  deleteOnCallOverride: async ({ make, person }) => {
    const { id } = await make('createOnCallSchedule');
    const body = { ...nextWeek(), userIds: [(await person('viewer')).id] };
    const override = await make('addOnCallOverride', { params: { id }, body });
    return { params: { id, overrideId: override.id } };
  },

  revokeCalendarFeed: async ({ make }) => ({ params: { id: (await make('createCalendarFeed')).id } }),
  getSharedCalendar: async ({ make }) => ({
    params: { token: (await make('createCalendarFeed')).path.split('/').at(-1) },
  }),

  updateAccount: { body: { timeZone: 'Europe/Zurich' } },
  closeAccount: async (world) => {
    const { token } = await world.person('viewer');
    const name = 'To be closed';
    const { id } = await world.make('createOrganization', { token, body: { name } });
    const there = await world.make('switchTenant', { token, body: { organizationId: id } });
    return { token: there.token, tenant: id, body: { name } };
  },
  setRetention: { body: { days: { logs: 2, metrics: null } } },
  setPreferences: { body: { theme: 'dark', timeZone: 'Asia/Tokyo' } },
  createOrganization: async ({ person }) => ({ token: (await person('viewer')).token, body: { name: 'Another' } }),
};
