/** Which incidents are suggested for a merge: a table of pairs. */
import test from 'ava';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Incident, IncidentFields } from '../../../schemas/resources/incident.ts';
import { findMergeable, suggestMerges } from '../../../subjects/incidents/merges.ts';
import { initialFields } from '../../../subjects/incidents/state.ts';

const at = (minutes: number): string =>
  new Date(Date.parse('2026-11-25T10:00:00.000Z') + minutes * 60_000).toISOString();
const incident = (id: string, fields: Partial<Incident>): Incident & StoredMetadata => ({
  ...IncidentFields.parse({ title: id }),
  openedBy: 'u1',
  openedAt: at(0),
  groupId: null,
  escalationPolicyId: null,
  ...initialFields,
  id,
  version: 1,
  createdAt: at(0),
  updatedAt: at(0),
  ...fields,
});
const calls = [
  { client: 'shop', server: 'bank', requests: 10, errors: 4 },
  { client: 'bank', server: 'bank', requests: 10, errors: 4 },
  { client: 'web', server: 'shop', requests: 10, errors: 9 },
];
const shop = incident('shop', { services: ['shop'] });

const pairs: readonly [what: string, other: Partial<Incident>, suggested: boolean][] = [
  ['about the same service', { services: ['x', 'shop'] }, true],
  ['about a service that it calls', { services: ['bank'] }, true],
  ['about a service that calls it', { services: ['web'] }, true],
  ['with a service that it has no calls with', { services: ['mail'] }, false],
  ['about no service', {}, false],
  ['opened 60 minutes after', { services: ['shop'], openedAt: at(60) }, true],
  ['opened 61 minutes before', { services: ['shop'], openedAt: at(-61) }, false],
  ['that is acknowledged', { services: ['shop'], status: 'acknowledged' }, true],
  ['that is resolved', { services: ['shop'], status: 'resolved' }, false],
  ['that is merged', { services: ['shop'], status: 'merged' }, false],
];
for (const [what, fields, suggested] of pairs)
  test(`an incident ${what} is ${suggested ? '' : 'not '}suggested for a merge`, (t) => {
    const found = suggestMerges(shop, [shop, incident('other', fields)], calls);
    t.deepEqual(
      found.map(({ incidentId }) => incidentId),
      suggested ? ['other'] : [],
    );
  });

test('incidents with the most failing calls are listed first, then those with more services in common', (t) => {
  const others = [
    incident('same', { services: ['shop'] }),
    incident('bank', { services: ['bank'] }),
    incident('web', { services: ['web'] }),
  ];
  t.deepEqual(
    suggestMerges(shop, others, calls).map(({ incidentId }) => incidentId),
    ['web', 'bank', 'same'],
  );
});

test('an ended incident, and one without services, has no merge suggestions', (t) => {
  t.deepEqual(findMergeable(incident('over', { services: ['shop'], status: 'resolved' }), [shop]), []);
  t.deepEqual(findMergeable(incident('unnamed', {}), [shop]), []);
});
