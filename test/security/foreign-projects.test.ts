/**
 * Objects of an organization cannot belong to a project of another organization, or to a project that does not exist.
 */
import test from 'ava';
import { projects } from '../../schemas/resources/project.ts';
import { type Harness, startHarness } from '../end-to-end/api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
  await harness.documents.forTenant('b').collection(projects).insert({ id: 'theirs', name: 'Theirs', description: '' });
  await harness.documents.forTenant('a').collection(projects).insert({ id: 'ours', name: 'Ours', description: '' });
});
test.after.always(() => harness?.close());

const requests: readonly (readonly [path: string, body: object])[] = [
  [
    '/api/alerts/rules',
    {
      name: 'Errors',
      condition: {
        kind: 'threshold',
        window: '5m',
        query: { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }] },
        thresholds: [{ severity: 'critical', operator: 'above', value: 10 }],
      },
    },
  ],
  [
    '/api/ai/detectors',
    {
      name: 'Errors',
      query: { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }] },
      step: '1m',
      falseAlarmsPerWeek: 0.5,
      minChange: 10,
    },
  ],
  ['/api/events', { title: 'Maintenance' }],
  ['/api/deployments', { service: 'shop', version: '1' }],
  ['/api/license-keys', { name: 'Key' }],
];

for (const [path, body] of requests)
  test(`POST ${path} refuses a project of another organization like one that does not exist`, async (t) => {
    for (const projectId of ['theirs', 'nobodys']) {
      const { status, body: answer } = await harness.request('POST', path, { body: { ...body, projectId } });
      t.true(status === 400 || status === 404, `${projectId}: ${status} ${JSON.stringify(answer)}`);
      t.regex(answer.message, new RegExp(`${projectId} does not exist`));
    }
    const { status, body: answer } = await harness.request('POST', path, { body: { ...body, projectId: 'ours' } });
    t.is(status, 200, JSON.stringify(answer));
  });
