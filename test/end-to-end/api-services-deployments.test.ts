/** Deployments of a service with figures before and after, and verdicts on planted changes. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';
import { type ByHand, byHand, type Given, wrongWith } from './services-otlp.ts';

let harness: Harness;
const minuteMs = 60_000;
const at = Math.floor(Date.now() / minuteMs) * minuteMs - 90 * minuteMs;

interface Traffic {
  readonly service: string;
  readonly version: string;
  /** Minutes relative to the deployment. */
  readonly from: number;
  readonly minutes: number;
  readonly rate?: number;
  /** One in this number of requests fails. */
  readonly failing?: number;
  readonly slower?: number;
}

const land = async ({
  service,
  version,
  from,
  minutes,
  rate = 30,
  failing = 50,
  slower = 1,
}: Traffic): Promise<void> => {
  const resource = `cityHash64('${service}', '${version}')`;
  await harness.columns.execute(
    `INSERT INTO resources (tenant_id, resource_id, service, attributes, attribute_types, first_seen, last_seen) SELECT 'a', ${resource}, '${service}',
      map('service.name', '${service}', 'service.version', '${version}', 'deployment.environment.name', 'live'), 'sss', now64(3), now64(3)`,
  );
  await harness.columns.execute(
    `INSERT INTO spans (tenant_id, project_id, received_at, timestamp, duration, service, resource_id, name, kind, status_code)
    SELECT 'a', 'shop', now64(3), toDateTime64(${(at + from * minuteMs) / 1000}, 9, 'UTC') + (number + 0.5) * ${60 / rate}, toUInt64(${slower} * 1e7 * exp(0.5 * sin(cityHash64(number) % 1000))), '${service}', ${resource}, 'call', 2, if(cityHash64(number, 'e') % ${failing} = 0, 2, 0) FROM numbers(${minutes * rate})`,
  );
};

test.before(async () => {
  harness = await startHarness();
  for (const [service, after] of [
    ['failing', { failing: 5 }],
    ['slow', { slower: 2 }],
    ['mended', { slower: 0.5 }],
    ['calm', {}],
    ['rare', { failing: 2 }],
  ] as const) {
    const rate = service === 'rare' ? 0.5 : service === 'calm' ? 120 : 30;
    await land({ service, version: '1', from: -70, minutes: 70, rate });
    await land({ service, version: '2', from: 0, minutes: 60, rate, ...after });
  }
  // A change at this hour each day is not caused by the deployment.
  await land({ service: 'daily', version: '1', from: -60, minutes: 60 });
  await land({ service: 'daily', version: '2', from: 0, minutes: 60, slower: 2 });
  await land({ service: 'daily', version: '1', from: -60 - 1440, minutes: 60 });
  await land({ service: 'daily', version: '1', from: -1440, minutes: 60, slower: 2 });
  // The second deployment ends the window of the first.
  await land({ service: 'twice', version: '1', from: -70, minutes: 70 });
  await land({ service: 'twice', version: '2', from: 0, minutes: 20 });
  await land({ service: 'twice', version: '3', from: 20, minutes: 40, failing: 3 });
});
test.after.always(() => harness?.close());

const deploymentsOf = async (service: string) => {
  const { status, body } = await harness.request(
    'GET',
    `/api/services/${service}/deployments?scope=account&from=${at - 30 * minuteMs}`,
    { as: 'viewer' },
  );
  if (status !== 200) throw new Error(`${service}: ${status} ${JSON.stringify(body)}`);
  return body.items;
};
interface Window {
  readonly from: string;
  readonly to: string;
  readonly figures: Given;
}

const wrongIn = async (service: string, { from, to, figures }: Window): Promise<string[]> => {
  const [hand] = await byHand(
    harness.columns,
    `service = '${service}' AND timestamp >= parseDateTime64BestEffort('${from}', 9, 'UTC') AND timestamp < parseDateTime64BestEffort('${to}', 9, 'UTC')`,
  );
  return wrongWith(figures, hand as ByHand, (Date.parse(to) - Date.parse(from)) / 1000);
};

for (const [service, verdict, reason] of [
  ['failing', 'worse', /^errors worse; no data of the previous day/],
  ['slow', 'worse', /latency worse/],
  ['mended', 'better', /latency better/],
  ['calm', 'no difference', /difference is insignificant/],
  ['rare', 'unknown', /requests in \d+ minutes before and \d+ in \d+ after: at least 50/],
  ['daily', 'unknown', /latency worse.* as at these hours on the previous day/],
] as const)
  test(`${service}: ${verdict}`, async (t) => {
    const [deployment, ...others] = await deploymentsOf(service);
    t.deepEqual(others, []);
    t.like(deployment, { version: '2', previousVersion: '1', isRollback: false, verdict });
    t.regex(deployment.reason, reason);
    if (service === 'rare') return;
    t.deepEqual([...(await wrongIn(service, deployment.before)), ...(await wrongIn(service, deployment.after))], []);
    t.is(Date.parse(deployment.before.to), at);
    t.is(Date.parse(deployment.after.from), at + minuteMs);
    if (verdict !== 'unknown') t.true(deployment.confidence > 0.8, JSON.stringify(deployment.aspects));
  });

test('another deployment limits the hour after the previous deployment and the hour before the next one', async (t) => {
  const [third, second] = await deploymentsOf('twice');
  t.deepEqual([third.version, second.version], ['3', '2']);
  t.is(Date.parse(second.after.to), at + 20 * minuteMs);
  t.is(Date.parse(third.before.from), at + minuteMs);
  t.is(third.verdict, 'worse');
  t.not(second.verdict, 'worse');
});
