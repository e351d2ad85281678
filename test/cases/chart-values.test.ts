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
