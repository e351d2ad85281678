/** Names of OTLP metrics and labels in Prometheus. */
import test from 'ava';
import { buildSeriesLabels, buildTargetLabels, sortLabels } from '../../queries/promql/otlp/labels.ts';
import { buildLabelName, buildMetricName, buildUnitName } from '../../queries/promql/otlp/names.ts';

const counter = { kind: 'sum', monotonic: true };
const upDown = { kind: 'sum', monotonic: false };
const gauge = { kind: 'gauge', monotonic: false };
const histogram = { kind: 'histogram', monotonic: false };

/** Metric, unit and kind, then the name with suffixes: escaped, and as UTF-8. */
const named: readonly (readonly [string, string, typeof counter, string, string])[] = [
  ['http.server.duration', 's', histogram, 'http_server_duration_seconds', 'http.server.duration_seconds'],
  ['requests', '1', counter, 'requests_total', 'requests_total'],
  ['requests_total', '', counter, 'requests_total', 'requests_total'],
  ['total.requests', '', counter, 'requests_total', 'total.requests_total'],
  ['system.cpu.utilization', '1', gauge, 'system_cpu_utilization_ratio', 'system.cpu.utilization_ratio'],
  ['queue.size', '1', upDown, 'queue_size', 'queue.size'],
  ['memory.usage', 'By', gauge, 'memory_usage_bytes', 'memory.usage_bytes'],
  ['memory_usage_bytes', 'By', gauge, 'memory_usage_bytes', 'memory_usage_bytes'],
  ['network.io', 'By/s', gauge, 'network_io_bytes_per_second', 'network.io_bytes_per_second'],
  ['speed', 'm/s', gauge, 'speed_meters_per_second', 'speed_meters_per_second'],
  ['orders', '{order}', counter, 'orders_total', 'orders_total'],
  ['orders.rate', '{order}/s', gauge, 'orders_rate_per_second', 'orders.rate_per_second'],
  ['2xx.responses', '', counter, '_2xx_responses_total', '2xx.responses_total'],
  ['many...dots', '', gauge, 'many_dots', 'many...dots'],
  ['a:b', '', gauge, 'a:b', 'a:b'],
  ['battery', '%', gauge, 'battery_percent', 'battery_percent'],
  ['...', '', gauge, '', '...'],
];

test('a metric name includes its unit and type', (t) => {
  for (const [metric, unit, kind, escaped, plain] of named) {
    const one = { metric, unit, ...kind };
    t.is(buildMetricName(one, 'UnderscoreEscapingWithSuffixes'), escaped, metric);
    t.is(buildMetricName(one, 'NoUTF8EscapingWithSuffixes'), plain, metric);
    t.is(buildMetricName(one, 'NoTranslation'), metric);
  }
  const dotted = { metric: 'http.server__duration', unit: 's', ...histogram };
  t.is(buildMetricName(dotted, 'UnderscoreEscapingWithoutSuffixes'), 'http_server__duration');
});

test('units in metadata are words', (t) => {
  t.is(buildUnitName('By/s', 'UnderscoreEscapingWithSuffixes'), 'bytes_per_second');
  t.is(buildUnitName('1', 'UnderscoreEscapingWithSuffixes'), '');
  t.is(buildUnitName('{order}', 'NoTranslation'), '');
});

test('a label has only letters, digits and underscores if names are escaped', (t) => {
  for (const [key, name] of [
    ['http.method', 'http_method'],
    ['1st', 'key_1st'],
    ['_hidden', 'key_hidden'],
    ['__reserved__', '__reserved__'],
    ['größe', 'gr__e'],
    ['...', ''],
  ] as const) {
    t.is(buildLabelName(key, 'UnderscoreEscapingWithSuffixes'), name, key);
    t.is(buildLabelName(key, 'NoTranslation'), key);
  }
});

test('labels are derived from attributes, promoted resource attributes, the scope and the target', (t) => {
  const resource = new Map([
    ['service.name', 'cart'],
    ['service.namespace', 'shop'],
    ['service.instance.id', 'i-1'],
    ['host.name', 'h1'],
    ['k8s.pod.name', 'p1'],
  ]);
  const scope = { name: 'lib', version: '1', url: '', attributes: '{"build":7,"of.it":"x"}' };
  const translation = {
    strategy: 'UnderscoreEscapingWithSuffixes',
    promoted: ['host.name', 'absent'],
    scopeLabels: true,
  } as const;
  const attributes = new Map([
    ['a_b', '2'],
    ['a.b', '1'],
    ['job', 'own'],
  ]);
  t.deepEqual(sortLabels(buildSeriesLabels(attributes, resource, scope, translation)), {
    a_b: '1;2',
    host_name: 'h1',
    instance: 'i-1',
    job: 'shop/cart',
    otel_scope_build: '7',
    otel_scope_name: 'lib',
    otel_scope_of_it: 'x',
    otel_scope_version: '1',
  });
  t.deepEqual(sortLabels(buildTargetLabels(resource, translation) ?? []), {
    host_name: 'h1',
    instance: 'i-1',
    job: 'shop/cart',
    k8s_pod_name: 'p1',
  });
  t.is(buildTargetLabels(new Map([['service.name', 'cart']]), translation), undefined);
  t.is(buildTargetLabels(new Map([['host.name', 'h1']]), translation), undefined);
});
