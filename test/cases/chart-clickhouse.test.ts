/**
 * The handbook on ClickHouse in Kubernetes: the operator accepts its example, OIQ finds the servers, and its alerts
 * fire.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { parseSettings } from '../../schemas/settings.ts';
import { chartTools, chartToolsMissing } from '../services/chart-tools.ts';
import type { Manifest } from './chart/chart.ts';

const run = promisify(execFile);
const withTools = chartToolsMissing === undefined ? test : test.skip;
const schemas = new URL('chart/schemas/', import.meta.url).pathname;
const readPage = (name: string): string =>
  readFileSync(new URL(`../../docs/operate/${name}.md`, import.meta.url), 'utf8');
const handbook = readPage('kubernetes');
const page = readPage('clickhouse');

/** Returns the first code block after a line. */
const exampleAfter = (text: string, line: string): string => {
  const [, after = ''] = text.split(line);
  const [, block = ''] = /\n```\w+\n([\s\S]*?)```/.exec(after) ?? [];
  return block;
};

const about = "*Altinity's ClickHouse operator*.";
const example = exampleAfter(handbook, about);
const [keeper, clickhouse]: readonly Manifest[] = parseAllDocuments(example).map((document) => document.toJS());

const directoryOf = (t: ExecutionContext): string => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-chart-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
};

const conforms = async (t: ExecutionContext, text: string): Promise<string> => {
  const { kubeconform } = await chartTools();
  const path = join(directoryOf(t), 'example.yaml');
  writeFileSync(path, text);
  const args = ['-strict', '-summary', '-schema-location', `${schemas}{{.ResourceKind}}{{.KindSuffix}}.json`, path];
  return (await run(kubeconform, args).catch((error: { stdout: string }) => error)).stdout;
};

withTools('the cluster example has only fields that the operator supports', async (t) => {
  t.regex(await conforms(t, example), /Valid: 2, Invalid: 0, Errors: 0, Skipped: 0/);
  t.regex(await conforms(t, example.replace('shardsCount', 'shardCount')), /shardCount/);
});

test('the example has two shards of two replicas, with the named Keeper', (t) => {
  const { zookeeper, clusters } = clickhouse.spec.configuration;
  t.deepEqual(clusters[0].layout, { shardsCount: 2, replicasCount: 2 });
  const { name, namespace } = keeper.metadata;
  t.deepEqual(zookeeper.nodes, [{ host: `keeper-${name}.${namespace}` }]);
  t.true(
    keeper.spec.configuration.clusters[0].layout.replicasCount % 2 === 1,
    'Keeper needs more than half of its servers',
  );
  for (const { spec } of [keeper, clickhouse])
    t.is(spec.defaults.templates.dataVolumeClaimTemplate, spec.templates.volumeClaimTemplates[0].name);
});

test('OIQ uses the cluster and server names that the operator creates', (t) => {
  const [{ name: cluster, layout }] = clickhouse.spec.configuration.clusters;
  const { name, namespace } = clickhouse.metadata;
  const hosts = Array.from({ length: layout.shardsCount }, (_, shard) =>
    Array.from(
      { length: layout.replicasCount },
      (__, replica) => `chi-${name}-${cluster}-${shard}-${replica}.${namespace}`,
    ),
  ).flat();
  const urls = hosts.map((host) => `http://oiq:PASSWORD@${host}:8123/oiq`);
  const [, documentedUrls = ''] = /OIQ_CLICKHOUSE_URL='([^']*),…'/.exec(handbook) ?? [];
  t.is(documentedUrls, urls.slice(0, 2).join(','));
  t.true(handbook.includes(`\`settings.CLICKHOUSE_CLUSTER: ${cluster}\``));
  t.deepEqual(
    parseSettings({ OIQ_CLICKHOUSE_URL: urls.join(','), OIQ_CLICKHOUSE_CLUSTER: cluster }).CLICKHOUSE_URL,
    urls,
  );
  t.true(Object.keys(clickhouse.spec.configuration.users).every((key) => key.startsWith('oiq/')));
});

/** ClickHouse series by minute that make an alert fire, and series that do not. */
const firing: Readonly<Record<string, readonly [series: string, failing: string, healthy: string]>> = {
  OiqClickhouseReadonlyReplica: ['ClickHouseMetrics_ReadonlyReplica', '1x60', '0x60'],
  OiqClickhouseReplicaLag: ['ClickHouseAsyncMetrics_ReplicasMaxAbsoluteDelay', '400x60', '20x60'],
  OiqClickhouseReplicaQueueGrowing: ['ClickHouseAsyncMetrics_ReplicasMaxQueueSize', '0+100x60', '6000-100x60'],
};

withTools('each alert of the page fires for its condition, and not for healthy servers', async (t) => {
  const { promtool } = await chartTools();
  const directory = directoryOf(t);
  const rules = parse(exampleAfter(page, '## Alerts'));
  const alerts: readonly string[] = rules.groups[0].rules.map(({ alert }: Manifest) => alert);
  t.deepEqual([...alerts].sort(), Object.keys(firing).sort());
  writeFileSync(join(directory, 'rules.yaml'), stringify(rules));
  const expr = 'count by (alertname) (ALERTS{alertstate="firing"})';
  const tests = Object.entries(firing).flatMap(([alert, [series, failing, healthy]]) =>
    [failing, healthy].map((values) => ({
      interval: '1m',
      input_series: [{ series: `${series}{instance="a"}`, values }],
      promql_expr_test: [
        {
          expr,
          eval_time: '58m',
          exp_samples: values === failing ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
        },
      ],
    })),
  );
  const file = join(directory, 'tests.yaml');
  writeFileSync(file, stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests }));
  await t.notThrowsAsync(run(promtool, ['test', 'rules', file]));
});
