/** Contacts through the API: each user has their own, with hidden secrets, and preferences that refer to them. */
import test from 'ava';
import { openOutbound } from '../../runtime/outbound.ts';
import { contacts } from '../../schemas/resources/contact.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { services, startChannelReceiver } from '../cases/channel-receiver.ts';
import { startHarness } from './api-harness.ts';

const harness = await startHarness({ outbound: openOutbound({ allowedNetworks: ['127.0.0.0/8'] }) });
test.after.always(() => harness.close());

const request = (method: string, path: string, as: string, body?: object) =>
  harness.request(method, path, { as, ...(body && { body }) } as never);
let created = 0;
const create = async (as: string, settings: object = { type: 'ntfy', topic: 'pages' }) => {
  const response = await request('POST', '/api/contacts', as, { name: `contact ${created++}`, settings });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body as { readonly id: string; readonly name: string; readonly settings: Record<string, string> };
};

test.serial('all users have contacts of their own, which nobody else can see or change', async (t) => {
  const { id } = await create('viewer');
  t.is((await request('GET', `/api/contacts/${id}`, 'viewer')).status, 200);
  for (const other of ['editor', 'owner']) {
    t.false(JSON.stringify((await request('GET', '/api/contacts', other)).body).includes(id));
    t.is((await request('GET', `/api/contacts/${id}`, other)).status, 404);
    t.is((await request('DELETE', `/api/contacts/${id}`, other)).status, 404);
    t.is((await request('POST', `/api/contacts/${id}/test`, other)).status, 404);
  }
});

test.serial('a contact hides its secrets, and a test is sent with them', async (t) => {
  const { settings = () => ({}), accepted = { status: 200 } } = services['ntfy'] ?? {};
  const service = await startChannelReceiver(accepted);
  t.teardown(() => service.close());
  const input = settings(service.url) as Record<string, string>;
  const contact = await create('viewer', { type: 'ntfy', ...input });
  t.is(contact.settings['token'], '********');
  const stored = await harness.documents.forTenant('a').collection(contacts).find(contact.id);
  t.false(JSON.stringify(stored).includes(input['token'] ?? ''));
  const delivery = await request('POST', `/api/contacts/${contact.id}/test`, 'viewer');
  t.true(delivery.body.delivered, JSON.stringify(delivery.body));
  t.is(service.received[0]?.headers.authorization, `Bearer ${input['token']}`);
});

test.serial('preferences order the contacts of their person only, and drop a contact that is deleted', async (t) => {
  const [own, other, foreign] = [await create('viewer'), await create('viewer'), await create('editor')];
  const refused = await request('PUT', '/api/preferences', 'viewer', { contacts: [{ contactId: foreign.id }] });
  t.is(refused.body.details[0].path, 'contacts.0.contactId');
  const listed = [
    { contactId: other.id, afterMinutes: 0 },
    { contactId: own.id, afterMinutes: 5 },
  ];
  t.deepEqual((await request('PUT', '/api/preferences', 'viewer', { contacts: listed })).body.contacts, listed);
  t.is((await request('DELETE', `/api/contacts/${other.id}`, 'viewer')).status, 200);
  t.deepEqual((await request('GET', '/api/preferences', 'viewer')).body.contacts, listed.slice(1));
});

test.serial('contacts of a removed user are deleted', async (t) => {
  const { id } = await create('auditor');
  const { items } = await harness.documents
    .forTenant('a')
    .collection(memberships)
    .list({ filter: { role: 'auditor' } });
  t.is((await request('DELETE', `/api/users/${items[0]?.id}`, 'owner')).status, 200);
  t.is(await harness.documents.forTenant('a').collection(contacts).find(id), undefined);
});
