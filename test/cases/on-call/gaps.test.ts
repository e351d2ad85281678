/**
 * A schedule in which nobody will be on call soon raises an alert of its organization, once, which ends with the gap.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../../adapters/documents-sqlite/documents-sqlite.ts';
import { listFiringPlatformAlerts } from '../../../api/groups/alerts/platform-alerts.ts';
import { detectGaps } from '../../../api/platform-watch/on-call-gaps.ts';
import type { AlertTransition } from '../../../schemas/alerts.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import { OnCallScheduleFields, onCallSchedules } from '../../../schemas/resources/on-call-schedule.ts';
import { memberships } from '../../../schemas/resources/user.ts';
import { saveOnCallVersion } from '../../../subjects/on-call/versions.ts';

const dayMs = 86_400_000;
const tenantId = 'acme';

const open = async () => {
  const clock = { ms: Date.parse('2026-11-23T10:00:00Z'), now: () => clock.ms };
  const documents = await openSqliteDocuments({
    path: join(mkdtempSync(join(tmpdir(), 'gaps-')), 'documents.db'),
    clock,
  });
  const own = documents.forTenant(tenantId);
  const { id: ann } = await own.collection(memberships).insert({ role: 'editor' });
  const transitions: AlertTransition[] = [];
  const ports = {
    documents,
    clock,
    log: silentLog,
    publishEvent: async () => undefined,
    publish: async (transition: AlertTransition) => void transitions.push(transition),
  };
  return {
    ann,
    clock,
    own,
    transitions,
    async write(participants: string[][], id?: string): Promise<string> {
      const layer = { name: 'first', startsAt: '2026-11-23T09:00', participants };
      const layers = [{ ...layer, rotation: { every: 3, unit: 'days' } }];
      const fields = {
        ...OnCallScheduleFields.parse({ name: 'Shop', timeZone: 'UTC', layers }),
        overrides: [],
        userIds: [],
      };
      const stored = own.collection(onCallSchedules);
      const before = id === undefined ? undefined : await stored.find(id);
      const after =
        before === undefined ? await stored.insert(fields) : await stored.replace(before.id, fields, before.version);
      await saveOnCallVersion(own, { ...(before && { before }), after });
      return after.id;
    },
    async remove(id: string): Promise<void> {
      const before = await own.collection(onCallSchedules).find(id);
      await own.collection(onCallSchedules).delete(id);
      if (before !== undefined) await saveOnCallVersion(own, { before });
    },
    checkGaps: () => detectGaps(ports, new AbortController().signal),
    activeAlerts: () => listFiringPlatformAlerts(documents, tenantId, clock.now()),
  };
};

test('a gap is reported once, with its time and reason, and ends when somebody is on call', async (t) => {
  const { ann, clock, transitions, write, checkGaps, activeAlerts } = await open();
  const id = await write([[ann], []]);
  await checkGaps();
  await checkGaps();
  t.is(transitions.length, 1);
  const [raised] = transitions;
  t.is(raised?.to, 'firing');
  t.deepEqual(raised?.labels, {
    alertname: 'OnCallGap',
    severity: 'warning',
    origin: 'platform',
    schedule: 'Shop',
    reason: 'no-one',
  });
  t.regex(raised?.reason ?? '', /from 2026-11-26T09:00:00.000Z to 2026-11-29T09:00:00.000Z/);
  t.is((await activeAlerts())[0]?.alertId, `on-call-gap-${id}`);
  // The gap passes, and the next gap is within seven days.
  clock.ms += 6 * dayMs;
  await checkGaps();
  t.is(transitions.length, 1);
  t.regex((await activeAlerts())[0]?.reason ?? '', /from 2026-12-02/);
  await write([[ann]], id);
  clock.ms += 1;
  await checkGaps();
  t.deepEqual(
    transitions.map(({ to }) => to),
    ['firing', 'inactive'],
  );
  t.deepEqual(transitions[1]?.labels, raised?.labels);
  t.deepEqual(await activeAlerts(), []);
});

test('a disabled member leaves a gap, and the alert of a deleted schedule ends', async (t) => {
  const { ann, own, transitions, write, remove, checkGaps } = await open();
  const id = await write([[ann]]);
  await checkGaps();
  t.is(transitions.length, 0);
  await own.collection(memberships).update(ann, { disabled: true });
  await checkGaps();
  t.is(transitions[0]?.labels['reason'], 'unreachable');
  await remove(id);
  await checkGaps();
  t.deepEqual(
    transitions.map(({ to }) => to),
    ['firing', 'inactive'],
  );
});
