/** A telecom operator. The questions were written before the grammar parsed any of them. */
import { field, metric, nowMs, type QuestionCase, signal } from './question-case.ts';

const services = [
  'subscriber-registry',
  'number-porting',
  'billing-engine',
  'topup-api',
  'sms-gateway',
  'roaming-broker',
  'self-care',
];
const hosts = ['tel-1', 'tel-2', 'tel-3'];
const pods = ['billing-engine-7c4', 'sms-gateway-5d9'];
const regions = ['north', 'coast', 'valley'];
const tariffs = ['prepaid', 'flat', 'family'];
const resource = [
  field('resource.host.name', hosts),
  field('resource.service.version', ['8.1', '8.2']),
  field('resource.deployment.environment.name', ['production', 'lab']),
];

export const telecom = {
  logs: signal(services, [
    field('cell.id', ['c-1001', 'c-1002'], 12_000),
    field('region', regions),
    field('customer.id', ['cu-1', 'cu-2'], 400_000),
    field('tariff', tariffs),
    field('call.result', ['connected', 'busy', 'unanswered']),
    field('porting.status', ['requested', 'confirmed', 'rejected']),
    field('call.duration', [], 7_000, 'number'),
    field('exception.type', ['SimBlocked', 'QuotaExceeded', 'PortingConflict']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/topups', '/balance', '/sims/{id}/activate', '/portings', '/bundles']),
      field('http.request.method', ['GET', 'POST', 'PUT']),
      field('http.response.status_code', ['200', '201', '402', '404', '409', '500', '503'], 7, 'number'),
      field('db.system.name', ['cassandra', 'redis']),
      field('messaging.system', ['kafka']),
      field('region', regions),
      field('tariff', tariffs),
      field('customer.id', ['cu-1', 'cu-2'], 400_000),
      field('topup.amount', [], 60, 'number'),
      ...resource,
    ],
    ['activate sim', 'rate call', 'send sms'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/topups', '/balance'] }),
    metric('calls.dropped', 'counter', '{call}', { region: regions }),
    metric('data.volume', 'counter', 'By', { region: regions, tariff: tariffs }),
    metric('sessions.active', 'gauge', '{session}', { 'cell.technology': ['4g', '5g'] }),
    metric('signal.strength', 'gauge', 'dBm', { region: regions }),
    metric('sms.sent', 'counter', '{sms}', { tariff: tariffs }),
    metric('sms.queue.depth', 'gauge', '{sms}', {}),
    metric('antenna.temperature', 'gauge', 'Cel', { antenna: ['ant-1', 'ant-2'] }),
    metric('battery.charge', 'gauge', '%', { site: ['site-1', 'site-7'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': hosts }),
    metric('system.memory.usage', 'gauge', 'By', { 'host.name': hosts, state: ['used', 'free'] }),
    metric('k8s.container.restarts', 'gauge', '{restart}', { 'k8s.pod.name': pods }),
    metric('kafka.consumer.lag', 'gauge', '{message}', { topic: ['cdr', 'events'] }),
  ],
  deployments: [
    { service: 'billing-engine', version: '8.2', atMs: nowMs - 200 * 60_000 },
    { service: 'sms-gateway', version: '8.2', atMs: nowMs - 50 * 60_000 },
  ],
};

const meanAndP95 = (rest: string) => [`traces avg(duration) ${rest}`, `traces p95(duration) ${rest}`];

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const telecomQuestions: readonly QuestionCase[] = [
  [
    'error logs of the SMS gateway in the last 20 minutes',
    'logs rows [service:sms-gateway severity:>=error] 11T10:10..11T10:30',
  ],
  ['how many hosts are above 80 % CPU', 'metric system.cpu.utilization avg/avg by host.name having >0.8'],
  [
    'which region dropped the most calls today',
    'metric calls.dropped increase/sum by region limit 10 11T00:00..11T10:30',
  ],
  ['dropped calls per region yesterday', 'metric calls.dropped increase/sum by region 10T00:00..11T00:00'],
  [
    'how much data did prepaid customers use last week',
    'metric data.volume increase/sum [tariff:prepaid] 02T00:00..09T00:00',
  ],
  ['active sessions by technology right now', 'metric sessions.active last/sum by cell.technology'],
  ['average signal strength in the valley', 'metric signal.strength avg/avg [region:valley]'],
  ['weakest signal by region today', 'metric signal.strength min/min by region 11T00:00..11T10:30'],
  ['which antennas are hotter than 60 degrees', 'metric antenna.temperature avg/avg by antenna having >60'],
  ['antennas with a temperature above 60 degrees', 'metric antenna.temperature avg/avg by antenna having >60'],
  ['sites whose battery charge is below 20%', 'metric battery.charge avg/avg by site having <20'],
  ['how many sites have less than 20 % battery', 'metric battery.charge avg/avg by site having <20'],
  ['how many sms were sent this morning', 'metric sms.sent increase/sum 11T00:00..11T10:30'],
  ['how deep is the sms queue', 'metric sms.queue.depth avg/sum'],
  ['why is number porting failing', 'cause number-porting'],
  ['what changed in the billing engine since the last deployment', 'changes billing-engine 11T07:10..11T10:30'],
  ['is the roaming broker ok', 'cause roaming-broker'],
  [
    'failed top-ups in the last 2 hours',
    'traces rows [http.route:"/topups" kind:server status:error] 11T08:30..11T10:30',
  ],
  ['how many top ups failed per tariff', 'traces count [http.route:"/topups" kind:server status:error] by tariff'],
  ['average top-up amount by tariff this week', 'traces avg(topup.amount) by tariff 09T00:00..11T10:30'],
  [
    'error rate of self care yesterday evening',
    'share traces [status:error] of [kind:server service:self-care] 10T18:00..11T00:00',
  ],
  [
    'p95 of self-care by route, last 3h',
    'traces p95(duration) [kind:server service:self-care] by http.route 11T07:30..11T10:30',
  ],
  [
    'which endpoints of self-care are slower than 1 second on average',
    'traces avg(duration) [http.route:* kind:server service:self-care] by http.route having >1000000000',
  ],
  ['services whose error rate is over 2 percent', 'share traces [status:error] of [kind:server] by service having >2'],
  [
    'how many services have an error rate above 2%',
    'share traces [status:error] of [kind:server] by service having >2',
  ],
  [
    'customers with more than 20 failed top-ups',
    'traces count [customer.id:* http.route:"/topups" kind:server status:error] by customer.id having >20',
  ],
  ['rejected portings by region this month', 'logs count [porting.status:rejected] by region 01T00:00..11T10:30'],
  ['how many porting requests were rejected yesterday', 'refused unknown-name'],
  [
    'compare dropped calls in the north and on the coast',
    'metric calls.dropped increase/sum [region:(north OR coast)] by region',
  ],
  [
    'dropped calls this week compared with last week',
    'metric calls.dropped increase/sum 09T00:00..11T10:30 than 02T00:00..09T00:00',
  ],
  [
    'were there more dropped calls today than yesterday?',
    'metric calls.dropped increase/sum 11T00:00..11T10:30 than 10T00:00..11T00:00',
  ],
  [
    'p95 latency of the billing engine since the last deployment compared with before',
    'traces p95(duration) [kind:server service:billing-engine] 11T07:10..11T10:30 than 11T03:50..11T07:10',
  ],
  [
    'errors of sms-gateway since the last deployment',
    [
      'logs rows [service:sms-gateway severity:>=error] 11T09:40..11T10:30',
      'traces rows [service:sms-gateway status:error] 11T09:40..11T10:30',
    ],
  ],
  ['SimBlocked exceptions by cell, top 10', 'logs count [cell.id:* exception.type:SimBlocked] by cell.id limit 10'],
  [
    'customers that hit QuotaExceeded most often',
    'logs count [customer.id:* exception.type:QuotaExceeded] by customer.id limit 10',
  ],
  ['blocked sims in the last hour', 'logs rows [exception.type:SimBlocked]'],
  ['cassandra queries slower than 100 ms', 'traces rows [db.system.name:cassandra duration:>100ms]'],
  ['how long does it take to activate a sim', meanAndP95('[name:"activate sim"]')],
  ['median and p99 of rate call per region', 'traces p50(duration),p99(duration) [name:"rate call"] by region'],
  [
    '5xx per minute on /balance',
    'traces count [http.response.status_code:[500 TO 599] http.route:"/balance" kind:server] each 1m',
  ],
  [
    'how many 404s did self-care return between 8 and 9 this morning',
    'traces count [http.response.status_code:404 kind:server service:self-care] 11T08:00..11T09:00',
  ],
  ['restarts per pod today', 'growth k8s.container.restarts by k8s.pod.name 11T00:00..11T10:30'],
  [
    'which pods have restarted more than twice since midnight',
    'growth k8s.container.restarts by k8s.pod.name having >2 11T00:00..11T10:30',
  ],
  ['used memory of tel-1', 'metric system.memory.usage avg/sum [host.name:tel-1 state:used]'],
  ['memory left on tel-2', 'metric system.memory.usage avg/sum [host.name:tel-2 state:free]'],
  ['avrage signal strenght by region', 'metric signal.strength avg/avg by region'],
  ['eror rate of roming broker', 'share traces [status:error] of [kind:server service:roaming-broker]'],
  [
    'show the latest 5 warnings of the subscriber registry',
    'logs rows [service:subscriber-registry severity:warn] limit 5',
  ],
  ['logs mentioning "imei mismatch" from the last day', 'logs rows ["imei mismatch"] 10T10:30..11T10:30'],
  ['everything about customer cu-88', ['logs rows [customer.id:cu-88]', 'traces rows [customer.id:cu-88]']],
  ['busy calls by region', 'logs count [call.result:busy] by region'],
  ['how many calls were unanswered last night', 'logs count [call.result:unanswered] 10T18:00..11T06:00'],
  [
    'data volume by tariff per day for the last 7 days',
    'metric data.volume increase/sum by tariff each 1d 04T10:30..11T10:30',
  ],
  ['peak number of active sessions today', 'metric sessions.active max/max 11T00:00..11T10:30'],
  ['when will the battery of site-7 be empty', 'refused forecast'],
  ['how many customers left us this month', 'refused unknown-name'],
  ['topics with a lag above 10k', 'metric kafka.consumer.lag avg/sum by topic having >10000'],
  [
    'only those on the coast',
    'logs rows [region:coast service:sms-gateway severity:>=error]',
    ['error logs of sms-gateway'],
  ],
  [
    'and the roaming broker?',
    'share traces [status:error] of [kind:server service:roaming-broker] 11T00:00..11T10:30',
    ['error rate of self-care today'],
  ],
  ['per region', 'metric calls.dropped increase/sum by region 11T00:00..11T10:30', ['dropped calls today']],
];
