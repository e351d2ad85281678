/** The limit of open incidents of an organization. */
import test from 'ava';
import { IncidentFields, incidents } from '../../schemas/resources/incident.ts';
import { initialFields } from '../../subjects/incidents/state.ts';
import { startHarness } from './api-harness.ts';

const harness = await startHarness();
test.after.always(() => harness.close());

test('with 5,000 open incidents no further incident can be declared until one is resolved', async (t) => {
  const stored = harness.documents.forTenant('a').collection(incidents);
  const created = { ...initialFields, openedBy: '', openedAt: new Date().toISOString(), groupId: null };
  await harness.documents.transaction(async ({ forTenant }) => {
    for (let count = 0; count < 5000; count++)
      await forTenant('a')
        .collection(incidents)
        .insert({ ...IncidentFields.parse({ title: `incident ${count}` }), ...created });
  });
  const declare = () => harness.request('POST', '/api/incidents', { as: 'editor', body: { title: 'one more' } });
  const refused = await declare();
  t.is(refused.status, 409);
  t.regex(refused.body.message, /5000 incidents are ongoing/);
  const [one] = (await stored.list({ limit: 1 })).items;
  t.is((await harness.request('POST', `/api/incidents/${one?.id}/resolve`, { as: 'editor' })).status, 200);
  t.is((await declare()).status, 200);
});
