/**
 * Random alert rules compared with `promtool test rules`: the same values, and the same alerts at every minute.
 *
 *     node bin/node.mjs test/bench/promtool-rules.ts /path/to/promtool [files] [seed]
 */
import '../../subjects/query-kinds.ts';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { evaluate } from '../../subjects/alerts/evaluate.ts';
import { type AlertRule, AlertRuleFields } from '../../subjects/alerts/rule.ts';
import { readRuleFile } from '../../subjects/alerts/rule-file.ts';
import { emptyState } from '../../subjects/alerts/state.ts';
import { seeded } from '../cases/random.ts';

const [promtool = 'promtool', files = '20', seed = '1'] = process.argv.slice(2);
const random = seeded(Number(seed));
const minutes = 60;
const groups = ['cart', 'mail', 'search'];

/** Values by group and minute, null where the series is stale. They change seldom. */
const valuesOf = (): Map<string, (number | null)[]> =>
  new Map(
    groups.map((group) => {
      let value: number | null = 0;
      return [
        group,
        Array.from({ length: minutes + 1 }, () => {
          if (random(3) === 0) value = random(4) === 0 ? null : random(3);
          return value;
        }),
      ];
    }),
  );

const ruleFile = (): object => ({
  groups: [
    {
      name: 'all',
      interval: '1m',
      rules: Array.from({ length: 20 }, (_, index) => ({
        alert: `rule${index}`,
        expr: `x > ${random(2)}`,
        ...(random(3) > 0 && { for: `${random(6) * 30}s` }),
        ...(random(3) > 0 && { keep_firing_for: `${random(6) * 30}s` }),
        labels: { severity: 'page' },
        annotations: { summary: '{{ $labels.group }} is {{ $value }}' },
      })),
    },
  ],
});

/** Firing alerts of the evaluator by minute. */
const firing = (rule: AlertRule, values: ReadonlyMap<string, readonly (number | null)[]>): object[] => {
  const above = Number((rule.condition as { query: { expression: string } }).query.expression.split('> ')[1]);
  let prior = emptyState();
  return Array.from({ length: minutes + 1 }, (_, minute) => {
    const response = [...values].flatMap(([group, points]) => {
      const value = points[minute] ?? null;
      return value !== null && value > above ? [{ labels: { group }, points: [value] }] : [];
    });
    const result = { kind: 'groups', unit: '', groups: response } as const;
    const evaluation = evaluate({ tenantId: 'tenant', rule, prior, result, nowMs: minute * 60_000 });
    prior = JSON.parse(JSON.stringify(evaluation.state));
    return {
      eval_time: `${minute}m`,
      alertname: rule.name,
      exp_alerts: Object.values(evaluation.state.alerts)
        .filter(({ state }) => state === 'firing' || state === 'recovering')
        .map(({ labels }) => ({ exp_labels: { ...labels, severity: 'page' } })),
    };
  });
};

const directory = mkdtempSync(join(tmpdir(), 'oiq-promtool-'));
let wrong = 0;
let compared = 0;
let fired = 0;
for (let file = 0; file < Number(files); file++) {
  const rules = stringify(ruleFile()).replaceAll(/ *annotations:\n.*\n/g, '');
  const values = valuesOf();
  const read = readRuleFile(rules).rules.map(
    ({ rule }, index): AlertRule => ({ ...AlertRuleFields.parse(rule), id: `rule-${index}`, version: 1 }),
  );
  const tests = read.flatMap((rule) => firing(rule, values));
  compared += tests.length;
  fired += tests.filter((each) => (each as { exp_alerts: object[] }).exp_alerts.length > 0).length;
  const series = [...values].map(([group, points]) => ({
    series: `x{group="${group}"}`,
    values: points.map((point) => point ?? 'stale').join(' '),
  }));
  writeFileSync(join(directory, 'rules.yml'), rules);
  const test = { interval: '1m', input_series: series, alert_rule_test: tests };
  writeFileSync(
    join(directory, 'test.yml'),
    stringify(
      { rule_files: ['rules.yml'], evaluation_interval: '1m', tests: [test] },
      { aliasDuplicateObjects: false },
    ),
  );
  const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', 'test.yml'], {
    cwd: directory,
    encoding: 'utf8',
  });
  if (status === 0) continue;
  wrong++;
  console.log(`file ${file} differs:\n${stdout}${stderr}`.slice(0, 3000));
}
rmSync(directory, { recursive: true });
console.log(
  `${files} files of 20 rules, ${compared} comparisons, ${fired} of them with alerts that fire: ${wrong} files differ`,
);
process.exitCode = wrong === 0 ? 0 : 1;
