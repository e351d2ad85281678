/** Values of the chart: which are accepted, what they change, and which are rejected before anything changes. */
import test from 'ava';
import { buildChartData } from '../../charts/generate.ts';
import { chartTools, chartToolsMissing } from '../services/chart-tools.ts';
import { find, type Manifest, podsOf, render } from './chart/chart.ts';

const withTools = chartToolsMissing === undefined ? test : test.skip;
test.before(async () => {
  if (chartToolsMissing === undefined) await chartTools();
});

const components = buildChartData();
const set = (...values: readonly string[]): readonly string[] => values.flatMap((each) => ['--set', each]);
withTools('a setting can be a key of a Secret that another operator manages', async (t) => {
  const { manifests } = await render(
    set(
      'mode=cluster',
      'settings.KAFKA_BROKERS=kafka:9092',
      'secretSettings.CLICKHOUSE_URL=http://clickhouse',
      'secretRefs.MONGODB_URL.name=oiq-mongodb',
      'secretRefs.MONGODB_URL.key=connectionString\\.standard',
      'secretRefs.SECRET_KEY.name=vault',
      'secretRefs.SECRET_KEY.key=key',
    ),
  );
  const expected = {
    name: 'OIQ_MONGODB_URL',
    valueFrom: { secretKeyRef: { name: 'oiq-mongodb', key: 'connectionString.standard' } },
  };
  for (const { name, pod } of podsOf(manifests))
    t.deepEqual(
      pod.containers[0].env.find((each: Manifest) => each.name === 'OIQ_MONGODB_URL'),
      expected,
      name,
    );
  t.deepEqual(Object.keys(find(manifests, 'Secret', 'oiq-generated').data), ['OIQ_BOOTSTRAP_PASSWORD']);
  await t.throwsAsync(render(set('secretRefs.MONGO_URL.name=a')), { message: /'MONGO_URL' not allowed/ });
});

withTools('resources that the API server would drop or refuse are refused before anything changes', async (t) => {
  const cases: readonly (readonly [value: string, reason: RegExp])[] = [
    ['receivers.resources.limit.memory=1Gi', /additional properties 'limit' not allowed/],
    ['receivers.resources.limits.memory=lots', /does not match pattern/],
    ['migration.resources.requests.cpu=1GB', /does not match pattern/],
    ['standalone.resources.limits=1Gi', /got string, want object/],
  ];
  for (const [value, reason] of cases) await t.throwsAsync(render(set(value)), { message: reason }, value);
  for (const value of [
    'limits.cpu=2',
    'limits.cpu=1.5',
    'requests.cpu=250m',
    'limits.memory=1e9',
    'limits.nvidia\\.com/gpu=1',
  ])
    await t.notThrowsAsync(render(set(`standalone.resources.${value}`)), value);
});

const stores = set(
  'mode=cluster',
  'settings.KAFKA_BROKERS=kafka:9092',
  'secretSettings.CLICKHOUSE_URL=http://clickhouse',
  'secretSettings.MONGODB_URL=mongodb://mongo',
);

/** Components that each Deployment runs, from its command; a command without names runs all components of its role. */
const listComponents = (manifests: readonly Manifest[], role: 'processors' | 'sinks'): readonly (readonly string[])[] =>
  podsOf(manifests)
    .map(({ pod }) => pod.containers[0].args as readonly string[])
    .filter(([command]) => command === role)
    .map(([, ...names]) => (names.length === 0 ? Object.keys(components[role]) : names));

withTools('a named processor or sink has its own Deployment, and each component runs in exactly one', async (t) => {
  const own = 'processors.detections.replicas=2,processors.log-patterns.replicas=3,sinks.logs.replicas=4';
  for (const values of [[], set(own), set('processors.others.replicas=3')]) {
    const { manifests } = await render([...stores, ...values]);
    for (const role of ['processors', 'sinks'] as const)
      t.deepEqual(
        listComponents(manifests, role).flat().sort(),
        Object.keys(components[role]).sort(),
        values.join(' '),
      );
  }
  const { manifests } = await render([...stores, ...set(own)]);
  const replicas = (name: string): unknown => find(manifests, 'Deployment', name).spec.replicas;
  t.deepEqual(
    ['oiq-processor-detections', 'oiq-processor-log-patterns', 'oiq-sink-logs', 'oiq-processors', 'oiq-sinks'].map(
      replicas,
    ),
    [2, 3, 4, 2, 1],
  );
});

withTools('a disabled processor runs nowhere, and values of a former layout are refused', async (t) => {
  const { manifests } = await render([...stores, ...set('processors.detections.enabled=false')]);
  t.false(listComponents(manifests, 'processors').flat().includes('detections'));
  t.true(listComponents(manifests, 'processors').flat().includes('correlations'));
  const cases: readonly (readonly [value: string, reason: RegExp])[] = [
    ['processors.detections=null', /processors\/detections': got null, want object/],
    ['processorsTogether=true', /'processorsTogether' not allowed/],
    ['sinks.logs.enabled=false', /'enabled' not allowed/],
    ['size=large', /size "large" is none of sizes: small, standard/],
  ];
  for (const [value, reason] of cases)
    await t.throwsAsync(render([...stores, ...set(value)]), { message: reason }, value);
});

/** Totals over the pods of Deployments: count, requested millicores and MiB. */
const sumRequests = (
  manifests: readonly Manifest[],
): readonly [pods: number, millicores: number, mebibytes: number] => {
  const sums: [number, number, number] = [0, 0, 0];
  for (const { spec } of manifests.filter(({ kind }) => kind === 'Deployment')) {
    const { cpu, memory } = spec.template.spec.containers[0].resources.requests;
    sums[0] += spec.replicas;
    sums[1] += spec.replicas * Number(/^(\d+)m$/.exec(cpu)?.[1]);
    sums[2] += spec.replicas * Number(/^(\d+)Mi$/.exec(memory)?.[1]);
  }
  return sums;
};

withTools(
  'a cluster requests 7 pods, 1.75 cores and 3 GiB; a small one a pod for each role and 1.25 GiB',
  async (t) => {
    const requests = async (...values: readonly string[]) =>
      sumRequests((await render([...stores, ...set(...values)])).manifests);
    t.deepEqual(await requests(), [7, 1750, 3072]);
    t.deepEqual(await requests('size=small'), [4, 500, 1280]);
    t.deepEqual(await requests('size=small', 'receivers.replicas=3'), [6, 700, 1792], "a role's own values win");
    const own = set('size=mine', 'sizes.mine.processors.replicas=5', 'sizes.mine.sinks.replicas=3');
    const { manifests } = await render([...stores, ...own]);
    t.is(find(manifests, 'Deployment', 'oiq-processors').spec.replicas, 5, 'an entry of the operator');
  },
);

withTools('an invalid number, and a secret that is too short, are refused before anything changes', async (t) => {
  const cases: readonly (readonly [value: string, reason: RegExp])[] = [
    ['settings.KEY_REQUESTS_PER_SECOND=many', /does not match pattern/],
    ['settings.KEY_REQUESTS_PER_SECOND=0', /exclusiveMinimum|greater than 0/],
    ['receivers.settings.BUS_PUBLISH_DELAY_MS=1s', /does not match pattern/],
    ['secretSettings.SECRET_KEY=short', /secretSettings.SECRET_KEY has 5 characters and needs 32 or more/],
    ['secretSettings.BOOTSTRAP_PASSWORD=short', /BOOTSTRAP_PASSWORD has 5 characters and needs 12 or more/],
  ];
  for (const [value, reason] of cases) await t.throwsAsync(render(set(value)), { message: reason }, value);
  for (const value of ['KEY_REQUESTS_PER_SECOND=2000', 'QUERY_ROWS_READ=5e9', 'BUS_PUBLISH_DELAY_MS=2.5'])
    await t.notThrowsAsync(render(set(`settings.${value}`)), value);
  await t.notThrowsAsync(render(['--set-string', 'settings.KEY_REQUESTS_PER_SECOND=2000']));
});

withTools('a chart that depends on this one can enable it by a condition', async (t) => {
  await t.notThrowsAsync(render(set('enabled=true')));
});
