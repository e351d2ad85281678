/** Values of the chart: what is taken, where it leads, and what is refused before anything changes. */
import test from 'ava';
import { chartTools, chartToolsMissing } from '../services/chart-tools.ts';
import { find, type Manifest, podsOf, render } from './chart/chart.ts';

const withTools = chartToolsMissing === undefined ? test : test.skip;
test.before(async () => {
  if (chartToolsMissing === undefined) await chartTools();
});

const set = (...values: readonly string[]): readonly string[] => values.flatMap((each) => ['--set', each]);
withTools('a setting may be a key of a Secret that another operator keeps', async (t) => {
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

withTools('a processor that is null is left out, by itself and together with others', async (t) => {
  const processorsOf = async (...values: readonly string[]) =>
    podsOf((await render([...stores, ...set('processors.detections=null', ...values)])).manifests)
      .map(({ name, pod }) => ({ name, args: pod.containers[0].args }))
      .filter(({ args }) => args.includes('processors'));
  const alone = await processorsOf();
  t.true(alone.length > 10);
  t.false(alone.some(({ name }) => name.includes('detections')));
  const [combined] = await processorsOf('processorsTogether=true');
  t.true(combined?.args.includes('correlations'));
  t.false(combined?.args.includes('detections'));
});

withTools('a number that is none, and a secret that is too short, are refused before anything changes', async (t) => {
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

withTools('a chart that has this one as a dependency may switch it by a condition', async (t) => {
  await t.notThrowsAsync(render(set('enabled=true')));
});
