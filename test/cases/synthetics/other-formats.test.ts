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

test('endpoints of Gatus are imported, each for itself', (t) => {
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

test('monitors of Uptime Kuma are imported, each for itself', (t) => {
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

test('modules of Blackbox exporter and lists are named for what they are', (t) => {
  const [[name, line, problems] = []] = shown('modules:\n  http_2xx: { prober: http, timeout: 5s }\n');
  t.deepEqual([name, line], ['http_2xx', 2]);
  t.regex(String(problems), /Blackbox exporter/);
  t.regex(String(shown('- name: a\n- name: b\n')[0]?.[2]), /is a list/);
});
