/** What helm renders from the chart for each set of values. `TEST_WRITE_GOLDEN=1` rewrites the golden files. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { chartTools, chartToolsMissing } from '../services/chart-tools.ts';
import {
  chart,
  environmentOf,
  find,
  goldenOf,
  kubernetesVersion,
  type Manifest,
  pinnedChart,
  podsOf,
  type Rendered,
  render,
  renderSet,
  valueSets,
  withoutMade,
} from './chart/chart.ts';

const run = promisify(execFile);
const withTools = chartToolsMissing === undefined ? test : test.skip;
const names = [...valueSets.keys()];
const schemas = new URL('chart/schemas/', import.meta.url).pathname;

const renderedSets = new Map<string, Promise<Rendered>>();
/** Rendered once for all tests that only read it. */
const renderedSet = (name: string): Promise<Rendered> => {
  const rendered = renderedSets.get(name) ?? renderSet(name);
  renderedSets.set(name, rendered);
  return rendered;
};

test.before(async () => {
  if (chartToolsMissing === undefined) await chartTools();
});

test('twelve sets of values exist', (t) => t.is(names.length, 12));

withTools('helm lint --strict reports no problems', async (t) => {
  const { helm } = await chartTools();
  for (const path of valueSets.values()) {
    const { stdout } = await run(helm, ['lint', '--strict', '--kube-version', kubernetesVersion, chart, '-f', path]);
    t.regex(stdout, /0 chart\(s\) failed/);
  }
});

for (const name of names) {
  withTools(`${name}: the rendered manifests equal the golden file`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'oiq-chart-'));
    t.teardown(() => rmSync(directory, { recursive: true }));
    const text = withoutMade((await renderSet(name, [], pinnedChart(directory))).text);
    if (process.env['TEST_WRITE_GOLDEN'] === '1') writeFileSync(goldenOf(name), text);
    t.is(text, existsSync(goldenOf(name)) ? readFileSync(goldenOf(name), 'utf8') : '');
  });

  withTools(`${name}: Kubernetes supports every field`, async (t) => {
    const { kubeconform } = await chartTools();
    const directory = mkdtempSync(join(tmpdir(), 'oiq-chart-'));
    t.teardown(() => rmSync(directory, { recursive: true }));
    const path = join(directory, 'rendered.yaml');
    writeFileSync(path, (await renderedSet(name)).text);
    const args = ['-strict', '-summary', '-schema-location', `${schemas}{{.ResourceKind}}{{.KindSuffix}}.json`, path];
    const { stdout } = await run(kubeconform, args);
    t.regex(stdout, /Invalid: 0, Errors: 0, Skipped: 0/);
  });

  withTools(`${name}: pods have no privileges, no token, no root user and no writable root file system`, async (t) => {
    const { manifests } = await renderedSet(name);
    const pods = podsOf(manifests);
    t.true(pods.length > 0);
    for (const { name: who, pod } of pods) {
      t.false(pod.automountServiceAccountToken, who);
      t.false(pod.enableServiceLinks, `${who}: a Service may not bring variables that look like settings`);
      t.like(pod.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }, who);
      for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
        const expected = {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        };
        t.like(container.securityContext, expected, who);
        t.truthy(container.resources.requests?.cpu && container.resources.limits?.memory, `${who}: resources`);
        t.false(container.image.endsWith(':latest'), who);
      }
    }
    const kinds: string[] = manifests.map(({ kind }) => kind);
    t.deepEqual(
      kinds.filter((kind) => /Role|ClusterRole|Webhook/.test(kind)),
      [],
    );
    for (const account of manifests.filter(({ kind }) => kind === 'ServiceAccount'))
      t.false(account.automountServiceAccountToken);
  });

  withTools(`${name}: no ConfigMap contains a secret, and each name occurs once`, async (t) => {
    const { manifests } = await renderedSet(name);
    for (const { data } of manifests.filter(({ kind }) => kind === 'ConfigMap'))
      for (const [key, value] of Object.entries(data)) {
        t.notRegex(key, /PASSWORD|SECRET|LICENSE_KEY|HEADERS|(?<!PUBLIC_)URL/);
        t.notRegex(String(value), /:\/\/[^/]*:[^/]*@/);
      }
    const all = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    t.deepEqual(all, [...new Set(all)]);
  });

  withTools(`${name}: every selector matches its pods`, async (t) => {
    const { manifests } = await renderedSet(name);
    const labels: Manifest[] = manifests.flatMap((manifest) =>
      manifest.kind === 'Pod' ? [manifest.metadata.labels] : (manifest.spec?.template?.metadata?.labels ?? []),
    );
    const found = (selector: Record<string, string>): number =>
      labels.filter((each) => Object.entries(selector).every(([key, value]) => each[key] === value)).length;
    for (const { kind, metadata, spec } of manifests) {
      const selector = kind === 'Service' ? spec.selector : (spec?.selector ?? spec?.podSelector)?.matchLabels;
      if (selector === undefined || kind === 'ServiceMonitor') continue;
      const allowedCounts = /^(Deployment|StatefulSet|PodDisruptionBudget)$/.test(kind) ? [1] : undefined;
      const count = found(selector);
      t.true(allowedCounts?.includes(count) ?? count >= 1, `${kind} ${metadata.name} selects ${count}`);
    }
  });
}

withTools('the grace period is longer than the shutdown of OIQ', async (t) => {
  const grace = async (args: readonly string[], name: string): Promise<number> =>
    find((await renderSet('cluster', args)).manifests, 'Deployment', name).spec.template.spec
      .terminationGracePeriodSeconds;
  t.is(await grace([], 'oiq-receivers'), 35);
  t.is(await grace(['--set', 'settings.SHUTDOWN_SECONDS=60'], 'oiq-sinks'), 70);
  t.is(await grace(['--set', 'receivers.settings.SHUTDOWN_SECONDS=120'], 'oiq-receivers'), 130);
  t.is(await grace(['--set', 'receivers.settings.SHUTDOWN_SECONDS=120'], 'oiq-api'), 35);
});

withTools('a scaler never starts more pods than there are partitions', async (t) => {
  const { manifests } = await renderedSet('cluster-keda');
  const maxReplicas = (name: string): number => find(manifests, 'ScaledObject', name).spec.maxReplicaCount;
  t.is(maxReplicas('oiq-sink-logs'), 12);
  t.is(find(manifests, 'HorizontalPodAutoscaler', 'oiq-receivers').spec.maxReplicas, 20);
  for (const { metadata, spec } of manifests.filter(({ kind }) => kind === 'ScaledObject')) {
    t.true(spec.maxReplicaCount <= 12 && spec.minReplicaCount <= spec.maxReplicaCount, metadata.name);
    const deployment = find(manifests, 'Deployment', spec.scaleTargetRef.name);
    t.is(deployment.spec.replicas, undefined, `${metadata.name}: an upgrade would undo what the scaler did`);
    // The lag of other groups says nothing about the load of this group.
    const [, ...components] = deployment.spec.template.spec.containers[0].args;
    t.deepEqual(
      [...new Set(spec.triggers.map((trigger: Manifest) => trigger.metadata.consumerGroup.split('.')[1]))].sort(),
      components.sort(),
    );
  }
});

withTools('values that cannot work are refused with instructions', async (t) => {
  const cases: readonly (readonly [args: readonly string[], reason: RegExp])[] = [
    [['--set', 'settings.LOGLEVEL=info'], /additional properties 'LOGLEVEL' not allowed/],
    [['--set', 'sinks.log.replicas=2'], /additional properties 'log' not allowed/],
    [['--set', 'processors.patterns.replicas=2'], /additional properties 'patterns' not allowed/],
    [['--set', 'receiver.replicas=2'], /additional properties 'receiver' not allowed/],
    [['--set', 'settings.CLICKHOUSE_URL=http://a'], /additional properties 'CLICKHOUSE_URL' not allowed/],
    [['--set', 'settings.LOG_LEVEL=loud'], /value must be one of/],
    [['--set', 'mode=both'], /value must be one of/],
    [['--set', 'mode=cluster'], /a cluster needs OIQ_KAFKA_BROKERS: give settings.KAFKA_BROKERS/],
    [['-f', valueSets.get('cluster') ?? '', '--set', 'generateSecrets=false'], /share OIQ_SECRET_KEY/],
    [['-f', valueSets.get('cluster') ?? '', '--set', 'api.autoscaling.by=keda'], /api consumes nothing/],
    [['--set', 'standalone.replicas=3'], /additional properties 'replicas' not allowed/],
    [['--set', 'ingress.enabled=true'], /ingress.enabled makes nothing without a host/],
    [['--set', 'gateway.enabled=true,gateway.api.hostnames={a}'], /give gateway.parentRefs/],
    [['--set', 'gateway.enabled=true,gateway.parentRefs[0].name=a'], /makes nothing without a name/],
    [['--set', 'defaults.extraEnv[0].name=OIQ_LOG_LEVEL'], /not/],
  ];
  for (const [args, reason] of cases) await t.throwsAsync(render(args), { message: reason }, args.join(' '));
});

withTools('the migration has the settings of the release before the release exists', async (t) => {
  const { manifests } = await renderedSet('cluster');
  const job = find(manifests, 'Job', 'oiq-migrate');
  t.is(job.metadata.annotations['helm.sh/hook'], 'pre-install,pre-upgrade');
  const of = (manifest: Manifest) => environmentOf(manifests, manifest.spec.template.spec);
  t.deepEqual(of(job), of(find(manifests, 'Deployment', 'oiq-api')));
  const weight = (kind: string, name: string): number =>
    Number(find(manifests, kind, name).metadata.annotations['helm.sh/hook-weight']);
  for (const kind of ['ServiceAccount', 'ConfigMap', 'Secret', 'NetworkPolicy'])
    t.true(weight(kind, 'oiq-migrate') < weight('Job', 'oiq-migrate'), kind);
  t.true(weight('Secret', 'oiq-generated') < weight('Job', 'oiq-migrate'));
});

withTools('ConfigMaps of dashboards are applied after the release, with a token from a Secret', async (t) => {
  const args = ['--set', 'dashboards.configMaps={a,b.c},dashboards.source=git:x,dashboards.tokenSecret.name=pass'];
  const { manifests } = await renderSet('cluster', args);
  const job = find(manifests, 'Job', 'oiq-dashboards');
  t.is(job.metadata.annotations['helm.sh/hook'], 'post-install,post-upgrade');
  const { containers, volumes } = job.spec.template.spec;
  t.deepEqual(containers[0].args, [
    'dashboards',
    'apply',
    '/dashboards',
    '--source=git:x',
    '--api=http://oiq-api:8080',
  ]);
  t.deepEqual(containers[0].env, [
    { name: 'DASHBOARDS_TOKEN', valueFrom: { secretKeyRef: { name: 'pass', key: 'token' } } },
  ]);
  t.deepEqual(
    volumes.flatMap((one: Manifest) => one.configMap?.name ?? []),
    ['a', 'b.c'],
  );
  t.is((await renderedSet('cluster')).manifests.filter(({ metadata }) => metadata.name === 'oiq-dashboards').length, 0);
  for (const [given, reason] of [
    ['dashboards.configMaps={a},dashboards.tokenSecret.name=pass', /needs dashboards.source/],
    ['dashboards.configMaps={a},dashboards.source=git:x', /needs dashboards.tokenSecret.name/],
    ['dashboards.configMaps={A b}', /does not match pattern/],
  ] as const)
    await t.throwsAsync(renderSet('cluster', ['--set', given]), { message: reason }, given);
});

withTools('probes of a location have its token, and can send echo requests without privileges', async (t) => {
  const input = ['--set', 'probe.tokenSecret.name=frankfurt,probe.networks={10.0.0.0/8,fd00::/8}'];
  const { manifests } = await renderSet('cluster', input);
  const { replicas, template } = find(manifests, 'Deployment', 'oiq-probe').spec;
  t.is(replicas, 2);
  const [container] = template.spec.containers;
  t.deepEqual(container.args, ['probe']);
  t.regex(container.image, /^oiq-probe:/);
  t.deepEqual(container.env, [
    { name: 'OIQ_URL', value: 'http://oiq-api:8080' },
    { name: 'OIQ_PROBE_TOKEN', valueFrom: { secretKeyRef: { name: 'frankfurt', key: 'token' } } },
    { name: 'OIQ_PROBE_NETWORKS', value: '10.0.0.0/8,fd00::/8' },
  ]);
  t.deepEqual(template.spec.securityContext.sysctls, [{ name: 'net.ipv4.ping_group_range', value: '0 2147483647' }]);
  t.true(template.spec.securityContext.runAsNonRoot);
  t.false(template.spec.automountServiceAccountToken);
  t.deepEqual(container.securityContext.capabilities, { drop: ['ALL'] });
  t.is(find((await renderedSet('cluster')).manifests, 'Deployment', 'oiq-probe'), undefined);
  const withRemoteProbe = await renderSet('standalone', [
    '--set',
    'probe.tokenSecret.name=a,probe.url=https://oiq.example.com',
  ]);
  t.is(
    find(withRemoteProbe.manifests, 'Deployment', 'oiq-probe').spec.template.spec.containers[0].env[0].value,
    'https://oiq.example.com',
  );
});

withTools('pods of a new version wait for the preceding role', async (t) => {
  const { manifests } = await renderedSet('cluster');
  const waits = (name: string): string | undefined =>
    find(manifests, 'Deployment', name).spec.template.spec.initContainers?.[0].args[1];
  t.is(waits('oiq-sinks'), undefined);
  t.is(waits('oiq-processors'), 'http://oiq-sinks-pods:8080');
  t.is(waits('oiq-receivers'), 'http://oiq-processors-pods:8080');
  t.is(waits('oiq-api'), 'http://oiq-receivers-pods:8080');
  for (const role of ['sinks', 'processors', 'receivers']) t.truthy(find(manifests, 'Service', `oiq-${role}-pods`));
});

withTools('no two installations share a secret, and given secrets are not generated', async (t) => {
  const create = async (args: readonly string[] = []) =>
    find((await renderSet('cluster', args)).manifests, 'Secret', 'oiq-generated').data;
  const [one, two] = [await create(), await create()];
  t.deepEqual(Object.keys(one).sort(), ['OIQ_BOOTSTRAP_PASSWORD', 'OIQ_SECRET_KEY']);
  t.not(one.OIQ_SECRET_KEY, two.OIQ_SECRET_KEY);
  t.deepEqual(Object.keys(await create(['--set', 'secretSettings.SECRET_KEY=0123456789012345678901234567890123'])), [
    'OIQ_BOOTSTRAP_PASSWORD',
  ]);
});

withTools('changed settings restart pods, and unchanged settings do not', async (t) => {
  const annotations = async (args: readonly string[]) =>
    find((await renderSet('cluster', args)).manifests, 'Deployment', 'oiq-api').spec.template.metadata.annotations;
  const before = await annotations([]);
  t.deepEqual(await annotations([]), before);
  t.notDeepEqual(await annotations(['--set', 'settings.LOG_LEVEL=debug']), before);
  t.notDeepEqual(await annotations(['--set', 'secretSettings.REDIS_URL=redis://other']), before);
});

withTools('a standalone stores its data in a new claim, in an existing claim, or in its pod only', async (t) => {
  const data = async (args: readonly string[]) => {
    const { spec } = find((await render(args)).manifests, 'StatefulSet', 'oiq');
    const volume = spec.template.spec.volumes.find(({ name }: Manifest) => name === 'data');
    return [spec.volumeClaimTemplates?.length ?? 0, volume];
  };
  t.deepEqual(await data([]), [1, undefined]);
  t.deepEqual(await data(['--set', 'standalone.persistence.existingClaim=mine']), [
    0,
    { name: 'data', persistentVolumeClaim: { claimName: 'mine' } },
  ]);
  t.deepEqual(await data(['--set', 'standalone.persistence.enabled=false']), [
    0,
    { name: 'data', emptyDir: { sizeLimit: '50Gi' } },
  ]);
});

withTools('extra objects are part of the release, and their texts are templates', async (t) => {
  const text = '{ apiVersion: v1, kind: ConfigMap, metadata: { name: {{ include "oiq.fullname" . }}-mine } }';
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' }, data: { of: '{{ .Release.Name }}' } };
  const { manifests } = await render(['--set-json', `extraObjects=${JSON.stringify([text, map])}`]);
  t.truthy(find(manifests, 'ConfigMap', 'oiq-mine'));
  t.is(find(manifests, 'ConfigMap', 'other').data.of, 'oiq');
});

withTools('rollouts, annotations of the migration and the external traffic policy follow the values', async (t) => {
  const sets = {
    'receivers.strategy': { rollingUpdate: { maxSurge: 3 } },
    'receivers.minReadySeconds': 10,
    'api.strategy': { type: 'Recreate' },
    'migration.podAnnotations': { 'sidecar.istio.io/inject': 'false' },
    'services.receivers': { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
  };
  const args = Object.entries(sets).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`]);
  const { manifests } = await renderSet('cluster', args);
  const receivers = find(manifests, 'Deployment', 'oiq-receivers').spec;
  t.deepEqual(receivers.strategy, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 3 } });
  t.is(receivers.minReadySeconds, 10);
  t.deepEqual(find(manifests, 'Deployment', 'oiq-api').spec.strategy, { type: 'Recreate' });
  t.deepEqual(
    find(manifests, 'Job', 'oiq-migrate').spec.template.metadata.annotations,
    sets['migration.podAnnotations'],
  );
  t.is(find(manifests, 'Service', 'oiq-receivers').spec.externalTrafficPolicy, 'Local');
});
