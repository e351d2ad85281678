/** Templates of labels and annotations render as in Prometheus. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { readRuleFile } from '../../subjects/alerts/rule-file.ts';
import { TemplateError } from '../../subjects/alerts/templates/errors.ts';
import { tokenize } from '../../subjects/alerts/templates/lex.ts';
import { findTemplateProblem, renderTemplate } from '../../subjects/alerts/templates/template.ts';

const values = {
  labels: { instance: 'db.example:9100', job: 'node', n: '3' },
  value: 0.1234567,
  threshold: 0.1,
  nowMs: 1_772_359_200_500,
};
const fill = (template: string, value: number | null = values.value): string =>
  renderTemplate(template, { ...values, value });

for (const [template, expected, value] of [
  ['plain', 'plain'],
  ['{{ $labels }}', 'map[instance:db.example:9100 job:node n:3]'],
  ['{{ .Labels.job }} {{ $.Labels.job }} {{ $labels.nothing }}.', 'node node .'],
  ['{{ $value }} {{ .Value }}', '0.1234567 0.1234567'],
  ['{{ $value }}', '1e+21', 1e21],
  ['{{ $value }} {{ print 123456.5 }}', '1e+08 123456.5', 1e8],
  ['{{ printf "%.1f %.0f %.0f %.2f %.1f" 0.25 0.5 2.5 1.125 -0.75 }}', '0.2 0 2 1.12 -0.8'],
  ['{{ $value }}', '+Inf', Number.POSITIVE_INFINITY],
  ['{{ $value | humanize }}', 'NaN', Number.NaN],
  [
    '{{ $value }} {{ .Value }} {{ $value | humanize }} {{ printf "%.1f|%v" $value $value }}',
    '<no value> <no value> <no value> <no value>|<no value>',
    null,
  ],
  ['{{ if gt $value 1.0 }}over{{ else }}none{{ end }}{{ with $value }}{{ . }}{{ end }}', 'none', null],
  ['{{ if gt $value $threshold }}{{ $value | humanizePercentage }} > {{ $threshold }}{{ end }}', '12.35% > 0.1'],
  [
    '{{ if le 1 1.0 }}{{ eq 1 1.0 }}{{ end }} {{ lt "a" "b" }} {{ ge 2 1.5 }} {{ eq true false }} {{ eq nil nil }}',
    'true true true false true',
  ],
  ['{{ $externalLabels.cluster }}{{ $externalURL }}{{ externalURL }}{{ pathPrefix }}', ''],
  ['a {{- " b " -}} c', 'a b c'],
  ['a {{- /* nothing */ -}} c{{/* nothing */}}', 'ac'],
  ['a\u00a0{{- "b" -}}\u00a0c', 'a\u00a0b\u00a0c'],
  ['{{ with $labels.cluster -}} on {{ . }} {{- end }}.', '.'],
  ['{{ with $labels.job -}} on {{ . }} {{- end }}.', 'on node.'],
  ['{{ with $labels.cluster }}{{ . }}{{ else with $labels.job }}{{ . }}!{{ else }}none{{ end }}', 'node!'],
  ['{{ if gt $value 0.5 }}high{{ else if gt $value 0.1 }}middle{{ else }}low{{ end }}', 'middle'],
  ['{{ if and (eq $labels.job "node" "other") (not (eq $labels.n "4")) }}yes{{ end }}', 'yes'],
  ['{{ or $labels.cluster $labels.job "x" }} {{ and 1 0 2 }}', 'node 0'],
  [
    '{{ range $name, $text := $labels }}{{ if eq $name "job" }}{{ continue }}{{ end }}{{ $name }}={{ $text }};{{ end }}',
    'instance=db.example:9100;n=3;',
  ],
  ['{{ range $labels }}{{ . }}{{ break }}{{ else }}none{{ end }}', 'db.example:9100'],
  ['{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $y := 3 }}{{ $y }}{{ end }}{{ $x }}', '32'],
  ['{{ len $labels }} {{ len "abc" }} {{ index $labels "job" }} {{ slice "abcdef" 1 3 }}', '3 3 node bc'],
  ['{{ print 1 2 "a" 3 }}|{{ println "a" 1 }}|', '1 2a3|a 1\n|'],
  [
    '{{ html "<a href=\'x\'>" }} {{ js "it\'s <b>" }} {{ urlquery "a b&c" }}',
    "&lt;a href=&#39;x&#39;&gt; it\\'s \\u003Cb\\u003E a+b%26c",
  ],
  [
    '{{ printf "%.2f %5.1f|%-6s|%q %d %v %x %t %%" 1.005 2.25 "ab" "q" 7 1.5 255 true }}',
    '1.00   2.2|ab    |"q" 7 1.5 ff true %',
  ],
  ['{{ printf "%05d %+d %e %.3g %G" 42 7 1234.5 0.000012345 1e-7 }}', '00042 +7 1.234500e+03 1.23e-05 1E-07'],
  ['{{ printf "%d %s" 1.5 }}{{ printf "a" 1 }}', '%!d(float64=1.5) %!s(MISSING)a%!(EXTRA int=1)'],
  ['{{ $value | printf "%.2f" }}', '0.12'],
  ['{{ humanize 1234567.0 }} {{ humanize 0.00123 }} {{ humanize1024 1048576.0 }}', '1.235M 1.23m 1Mi'],
  [
    '{{ humanizeDuration 0.5 }} {{ humanizeDuration 61.0 }} {{ humanizeDuration 100000.0 }} {{ humanizeDuration 59.94 }}',
    '500ms 1m 1s 1d 3h 46m 40s 59.94s',
  ],
  [
    '{{ humanizePercentage $value }} {{ humanizeTimestamp 1435065584.128 }}',
    '12.35% 2015-06-23 13:19:44.128 +0000 UTC',
  ],
  ['{{ title "aa bb" }} {{ toUpper "a" }} {{ toLower "A" }}', 'Aa Bb A a'],
  [
    `{{ match "^n.*e$" $labels.job }} {{ reReplaceAll "(.*):(\\\\d+)" "$2/$\{1}" $labels.instance }}`,
    'true 9100/db.example',
  ],
  [
    '{{ stripPort $labels.instance }} {{ stripDomain $labels.instance }} {{ stripPort "[::1]:80" }} {{ stripDomain "10.0.0.1:80" }}',
    'db.example db:9100 ::1 10.0.0.1:80',
  ],
  [
    '{{ parseDuration "1h30m" }} {{ now }} {{ (toTime $value).Year }}',
    '<error expanding template: 1970-01-01 00:00:00.123 +0000 UTC has no field Year>',
  ],
  ['{{ parseDuration "1h30m" }} {{ now }} {{ toTime 0.5 }}', '5400 1.7723592005e+09 1970-01-01 00:00:00.5 +0000 UTC'],
  ['{{ graphLink "up == 0" }} {{ tableLink "up" }}', '/graph?g0.expr=up+%3D%3D+0&g0.tab=0 /graph?g0.expr=up&g0.tab=1'],
  ['{{ with args 1 "b" }}{{ .arg0 }}{{ .arg1 }}{{ end }}{{ safeHtml "<b>" }}', '1b<b>'],
  ['{{ $labels.job | toUpper | printf "%s-%s" "a" }}', 'a-NODE'],
  ['{{ humanize $labels.job }}', '<error expanding template: "node" is not a number>'],
] as const)
  test(`${JSON.stringify(template)} with ${value === undefined ? 'the figure' : value} renders ${JSON.stringify(expected)}`, (t) => {
    t.is(findTemplateProblem(template), undefined);
    t.is(value === undefined ? fill(template) : fill(template, value), expected);
  });

for (const [template, problem] of [
  ['{{ $nothing }}', 'the variable $nothing is unknown'],
  ['{{ tmpl "up" | first | value }}', 'the function tmpl is unknown here'],
  ['{{ if true }}', '{{ if }} has no {{ end }}'],
  ['{{ end }}', '{{ end }} has no opening action'],
  ['{{ $value', '{{ has no }}'],
  ['{{ "a }}', 'a string in " is not closed'],
  ['{{ /* a }}', 'a comment is not closed'],
  ['{{ }}', 'a value is missing'],
  ['{{ ("a" }}', ') is missing'],
  ['{{ break }}', '{{ break }} is outside of range'],
  ['{{ $x, := 1 }}', 'the variable $x is unknown'],
  ['{{ $x = 1 }}', 'the variable $x is unknown'],
  ['{{ define "x" }}{{ end }}', 'define is unknown here'],
  ['{{ constructor }}', 'the function constructor is unknown here'],
  [`${'{{ if true }}'.repeat(200)}${'{{ end }}'.repeat(200)}`, 'it is nested more than 50 levels deep'],
  [`{{ ${'('.repeat(1000)}1${')'.repeat(1000)} }}`, 'it is nested more than 50 levels deep'],
] as const)
  test(`${JSON.stringify(template.slice(0, 40))} cannot be parsed, and stays unchanged`, (t) => {
    t.is(findTemplateProblem(template), problem);
    t.is(fill(template), template);
  });

test('a template cannot expand a short text into a long one, and is limited in its steps', (t) => {
  const doubling = `{{ $x := "aaaaaaaaaa" }}${'{{ $x = printf "%s%s" $x $x }}'.repeat(40)}{{ $x }}`;
  t.regex(fill(doubling), /^<error expanding template: it produces a text of more than 65536 characters>$/);
  const nested = `${'{{ range $labels }}'.repeat(12)}x${'{{ end }}'.repeat(12)}`;
  t.regex(fill(nested), /^<error expanding template: it takes more than 10000 steps>$/);
  t.regex(fill('{{ printf "%999999999d" 1 }}'), /maximum width of 1000/);
  t.regex(
    fill('{{ match "(a{100}){10}b{100}" $labels.job }}'),
    /is not a valid regular expression: too large, repeat less>$/,
  );
  const long = `{{ $x := "aaaaaaaaaaaaaaaa" }}${'{{ $x = print $x $x }}'.repeat(11)}`;
  t.is(fill(`${long}{{ len $x }}`), '32768');
  t.regex(
    fill(long + '{{ $y := match "b" $x }}'.repeat(30)),
    /^<error expanding template: it takes more than 10000 steps>$/,
  );
});

/** Counts the reads of a text while a template is parsed. */
const countReads = (source: string): number => {
  let reads = 0;
  const text = new Proxy(Object(source), {
    get(target, name) {
      reads++;
      const found = Reflect.get(target, name);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
  try {
    tokenize(text);
  } catch (error) {
    // The result does not matter; only the reads are counted.
    if (!(error instanceof TemplateError)) throw error;
  }
  return reads;
};

for (const [what, of] of [
  ['spaces without an end', (count: number) => `{{${' '.repeat(count)}`],
  ['spaces in an action', (count: number) => `{{ 1${' '.repeat(count)}}}`],
  ['dashes', (count: number) => `{{ 1${' -'.repeat(count)}}}`],
  ['beginnings', (count: number) => '{{'.repeat(count)],
  ['actions', (count: number) => '{{ 1 }}'.repeat(count)],
  ['letters of a text', (count: number) => `{{ "${'a'.repeat(count)}`],
] as const)
  test(`doubling the number of ${what} doubles the character reads of the text`, (t) => {
    const [once, twice] = [countReads(of(2500)), countReads(of(5000))];
    t.true(once > 0 && twice < 2.1 * once + 100, `${once} and ${twice} looks`);
  });

test('a rule with only an unreadable text is accepted, and the text is reported', (t) => {
  const { rules } = readRuleFile(
    `groups: [{name: g, rules: [{alert: A, expr: up == 0, annotations: {a: '{{ tmpl "up" }}', b: '{{ $labels }}'}}]}]`,
  );
  t.is(rules[0]?.rule?.annotations['a'], '{{ tmpl "up" }}');
  t.deepEqual(rules[0]?.problems, [
    { path: 'annotations.a', message: 'is shown unchanged: the function tmpl is unknown here' },
  ]);
});
