/** Monitors of other programs are imported as checks, or refused with their names. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { readCheckFiles } from '../../../subjects/synthetics/as-code.ts';

const shown = (source: string) =>
  readCheckFiles(source).map(({ name, line, check, problems }) => [
    name,
    line,
    check?.type ?? problems.map(({ path, message }) => `${path} ${message}`.slice(0, 70)),
  ]);

test('endpoints of Gatus are imported individually', (t) => {
  const source = `endpoints:
  - name: front-end
    group: core
    url: "https://shop.example/health"
    interval: 5m
    conditions: ["[STATUS] == 200", "[BODY].status == UP", "[RESPONSE_TIME] < 150", "[CERTIFICATE_EXPIRATION] > 48h"]
  - name: database
    url: tcp://db.example:5432
    conditions: ["[CONNECTED] == true"]
  - name: ping
    url: icmp://host.example
    conditions: ["[CONNECTED] == true"]
  - name: pattern
    url: https://shop.example/
    conditions: ["[BODY] == pat(*ok*)"]
  - name: names
    url: 8.8.8.8
    dns: { query-name: shop.example, query-type: A }
`;
  t.deepEqual(shown(source), [
    ['core/front-end', 2, 'http'],
    ['database', 7, 'tcp'],
    ['ping', 10, 'icmp'],
    ['pattern', 13, ['endpoints.3.conditions.0 is a condition of Gatus that cannot be import']],
    [
      'names',
      16,
      [
        'endpoints.4.dns is a field of Gatus that cannot be imported',
        'endpoints.4.url is not http, https, tcp or icmp: only these endpoints ',
      ],
    ],
  ]);
  const [front] = readCheckFiles(source);
  t.is(front?.check?.every, '5m');
  t.deepEqual(
    front?.check?.http?.steps[0]?.assertions.map(({ source: of, name, operator, value }) => [
      of,
      name,
      operator,
      value,
    ]),
    [
      ['status', undefined, 'is', 200],
      ['json', '$.status', 'is', 'UP'],
      ['duration', undefined, 'lt', 150],
      ['certificate', 'daysLeft', 'gt', 2],
    ],
  );
});

test('monitors of Uptime Kuma are imported individually', (t) => {
  const monitors = [
    { name: 'Shop', type: 'http', url: 'https://shop.example', interval: 60, accepted_statuscodes: ['200-299'] },
    { name: 'Word', type: 'keyword', url: 'https://shop.example', interval: 60, keyword: 'ok', active: false },
    { name: 'Port', type: 'port', hostname: 'db.example', port: 5432, interval: 30 },
    { name: 'Ping', type: 'ping', hostname: 'host.example', interval: 60 },
    { name: 'Queue', type: 'mqtt', hostname: 'host.example', interval: 60 },
  ];
  const source = JSON.stringify({ version: '1.23.0', notificationList: [], monitorList: monitors });
  t.deepEqual(
    shown(source).map(([name, , type]) => [name, type]),
    [
      ['Shop', 'http'],
      ['Word', 'http'],
      ['Port', 'tcp'],
      ['Ping', 'icmp'],
      ['Queue', ['monitorList.4.type is mqtt: of Uptime Kuma only monitors of the types ']],
    ],
  );
  const [shop, word] = readCheckFiles(source);
  t.is(shop?.check?.every, '60s');
  t.is(word?.check?.enabled, false);
  t.deepEqual(
    word?.check?.http?.steps[0]?.assertions.map(({ source: of, operator, value }) => [of, operator, value]),
    [['body', 'contains', 'ok']],
  );
});

const modules = `modules:
  http_ok: { prober: http, timeout: 5s, http: { method: HEAD, valid_status_codes: [200, 204], fail_if_body_matches_regexp: [down], follow_redirects: false } }
  ssh: { prober: tcp, tcp: { query_response: [{ expect: SSH }] } }
  names: { prober: dns, dns: { query_name: a } }
  unused: { prober: icmp }
`;
const scrapes = `global: { scrape_interval: 30s }
scrape_configs:
  - job_name: node
    static_configs: [{ targets: ['a:9100'] }]
  - job_name: shop
    metrics_path: /probe
    params: { module: [http_ok] }
    static_configs: [{ targets: ['https://shop.example', shop.example/health], labels: { team: shop } }]
  - job_name: hosts
    params: { module: [ssh] }
    scrape_interval: 1m
    static_configs: [{ targets: ['host.example:22'] }]
  - job_name: found
    params: { module: [names] }
    file_sd_configs: [{ files: [a.yml] }]
`;
const probe = `apiVersion: monitoring.coreos.com/v1
kind: Probe
metadata: { name: ping, namespace: a }
spec: { module: icmp, interval: 20s, targets: { staticConfig: { static: [host.example] } } }
`;

test('targets of Blackbox exporter are imported individually with their modules', (t) => {
  const text = [scrapes, modules, probe].join('---\n');
  t.deepEqual(
    shown(text).map(([name, , result]) => [name, result]),
    [
      ['shop: https://shop.example', 'http'],
      ['shop: shop.example/health', 'http'],
      ['hosts: host.example:22', ['scrape_configs.2 uses the module ssh, whose tcp.query_response cannot ']],
      ['found', ['scrape_configs.3 has no static targets: targets of a service discovery']],
      ['unused', ['modules.unused is a module of Blackbox exporter, which has no target: ']],
      ['ping: host.example', 'icmp'],
    ],
  );
  const [shop, health] = readCheckFiles(text);
  t.like(shop?.check, { every: '30s', timeout: '5s', labels: { team: 'shop' } });
  t.like(shop?.check?.http?.steps[0], { url: 'https://shop.example', method: 'HEAD', redirects: 0 });
  t.deepEqual(
    shop?.check?.http?.steps[0]?.assertions.map(({ source, operator, value }) => [source, operator, value]),
    [
      ['status', 'matches', '^(200|204)$'],
      ['body', 'notMatches', 'down'],
    ],
  );
  t.is(health?.check?.http?.steps[0]?.url, 'http://shop.example/health');
  t.deepEqual(shown(scrapes)[0]?.[2], ['scrape_configs.1 uses the module http_ok: add the modules of Blackbox ']);
});

test('HTTP versions of a module of Blackbox exporter are an assertion, or a problem if probes use none of them', (t) => {
  const job =
    "scrape_configs: [{ job_name: a, params: { module: [m] }, static_configs: [{ targets: ['b.example'] }] }]\n";
  const importWith = (versions: string) =>
    readCheckFiles(`${job}---\nmodules: { m: { prober: http, http: { valid_http_versions: ${versions} } } }\n`)[0];
  const protocolOf = (versions: string) =>
    importWith(versions)?.check?.http?.steps[0]?.assertions.find(({ source }) => source === 'protocol');
  t.like(protocolOf('[HTTP/1.1, HTTP/2.0]'), { operator: 'matches', value: '^(HTTP/1\\.1|HTTP/2\\.0)$' });
  t.is(protocolOf('[]'), undefined);
  const [problem] = importWith('[HTTP/2.0]')?.problems ?? [];
  t.regex(problem?.message ?? '', /whose http\.valid_http_versions cannot be imported: probes use HTTP\/1\.1/);
});

test('jobs of other exporters with modules are not imported as those of Blackbox exporter', (t) => {
  const other = `  - job_name: switches
    metrics_path: /snmp
    params: { module: [if_mib] }
    static_configs: [{ targets: [switch.example] }]
`;
  const namesOf = (text: string) => shown(text).map(([name]) => name);
  t.deepEqual(namesOf(`${scrapes}${other}---\n${modules}`), namesOf(`${scrapes}---\n${modules}`));
  t.regex(String(shown(`scrape_configs:\n${other}`)[0]?.[2]), /without jobs of Blackb/);
});

test('modules of Blackbox exporter and lists are identified in errors', (t) => {
  const [[name, line, problems] = []] = shown('modules:\n  http_2xx: { prober: http, timeout: 5s }\n');
  t.deepEqual([name, line], ['http_2xx', 2]);
  t.regex(String(problems), /Blackbox exporter/);
  t.regex(String(shown('- name: a\n- name: b\n')[0]?.[2]), /is a list/);
});
