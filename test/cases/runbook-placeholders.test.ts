/** Placeholders in PromQL of runbooks, filled with labels of an alert. */
import test from 'ava';
import { fillPlaceholders } from '../../subjects/runbooks/placeholders.ts';

const labels = { instance: 'db-1:9100', 'k8s.pod.name': 'cart.0', namespace: 'shop' };

const cases: readonly (readonly [expression: string, filled: string, missing: readonly string[]])[] = [
  ['up{instance="<value of instance label from alert>"}', 'up{instance="db-1:9100"}', []],
  ['up{instance="{{ $labels.instance }}"}', 'up{instance="db-1:9100"}', []],
  ['up{host="$instance"}', 'up{host="db-1:9100"}', []],
  ['up{ns = "[[namespace]]", x="1"}', 'up{ns = "shop", x="1"}', []],
  ['up{k8s_pod_name=~"<pod>.*"}', 'up{k8s_pod_name=~"cart\\\\.0.*"}', []],
  ['up{zone="<zone>"} > 0', 'up{zone="<zone>"} > 0', ['<zone>']],
  ['up{zone="a", code=~"5.."}', 'up{zone="a", code=~"5.."}', []],
  ['sum(rate(up[5m]))', 'sum(rate(up[5m]))', []],
];
for (const [expression, filled, missing] of cases)
  test(`${expression} becomes ${filled}`, (t) => {
    t.deepEqual(fillPlaceholders(expression, labels), { expression: filled, missing });
  });

test('a value cannot end the quotes of a matcher', (t) => {
  const { expression } = fillPlaceholders('up{a="<a>"}', { a: 'x"} or vector(1) or up{a="' });
  t.is(expression, 'up{a="x\\"} or vector(1) or up{a=\\""}');
});
