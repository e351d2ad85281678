/**
 * Questions about a container port. Written before they were first parsed; questions about telemetry that are refused
 * here were not understood.
 */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['berth-planner', 'crane-control', 'gate-in', 'manifest', 'pilotage', 'truck-portal'];
const resource = [
  field('resource.host.name', ['quay-1', 'quay-2', 'yard-1']),
  field('resource.service.version', ['9.1.0', '9.2.0']),
  field('resource.k8s.namespace.name', ['live', 'trial']),
];
const carriers = ['maersk', 'hapag', 'evergreen'];
const quays = ['north', 'west'];

export const port = {
  logs: signal(services, [
    field('carrier', carriers),
    field('vessel.name', ['Aurora', 'Baltic Star'], 700),
    field('container.id', ['MSKU1', 'HLXU2'], 200_000),
    field('container.state', ['discharged', 'held', 'damaged']),
    field('driver.id', ['d-11', 'd-12'], 6_000),
    field('gross.weight', [], 4_000, 'number'),
    field('exception.type', ['SealMismatch', 'EdiTimeout', 'CraneFault']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/containers', '/containers/{id}', '/slots', '/manifests']),
      field('http.request.method', ['GET', 'POST', 'DELETE']),
      field('http.response.status_code', ['200', '202', '400', '409', '500', '504'], 6, 'number'),
      field('db.system.name', ['oracle', 'redis']),
      field('messaging.system', ['kafka']),
      field('carrier', carriers),
      field('cargo.type', ['reefer', 'bulk', 'hazardous']),
      field('containers.listed', [], 900, 'number'),
      ...resource,
    ],
    ['plan berth', 'release hold'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/containers', '/slots'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['quay-1', 'quay-2', 'yard-1'] }),
    metric('system.memory.utilization', 'gauge', '1', { 'resource.host.name': ['quay-1', 'quay-2', 'yard-1'] }),
    metric('system.filesystem.usage', 'gauge', 'By', { 'resource.host.name': ['quay-1', 'quay-2', 'yard-1'] }),
    metric('containers.moved', 'counter', '{container}', { quay: quays }),
    metric('trucks.turned_away', 'counter', '{truck}', {}),
    metric('trucks.waiting', 'gauge', '{truck}', {}),
    metric('wind.speed', 'gauge', 'm/s', { quay: quays }),
    metric('crane.idle.time', 'counter', 's', { quay: quays }),
    metric('reefer.temperature', 'gauge', 'Cel', { quay: quays }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const portQuestions: readonly QuestionCase[] = [
  [
    'Show errors in crane-control from the last 20 minutes',
    [
      'logs rows [service:crane-control severity:>=error] 11T10:10..11T10:30',
      'traces rows [service:crane-control status:error] 11T10:10..11T10:30',
    ],
  ],
  [
    'how many errors did truck-portal log today',
    'logs count [service:truck-portal severity:>=error] 11T00:00..11T10:30',
  ],
  ['how many containers were moved yesterday', 'metric containers.moved increase/sum 10T00:00..11T00:00'],
  [
    'containers moved per quay each hour since midnight',
    'metric containers.moved increase/sum by quay each 1h 11T00:00..11T10:30',
  ],
  ['how many trucks are waiting right now', 'metric trucks.waiting last/sum'],
  ['number of trucks turned away this week', 'metric trucks.turned_away increase/sum 09T00:00..11T10:30'],
  ['wind speed at the north quay over the last 6 hours', 'metric wind.speed avg/avg [quay:north] 11T04:30..11T10:30'],
  ['maximum wind speed by quay today', 'metric wind.speed max/max by quay 11T00:00..11T10:30'],
  ['strongest wind yesterday', 'metric wind.speed max/max 10T00:00..11T00:00'],
  ['did the wind exceed 20 m/s', 'refused unknown-name'],
  ['reefer temperature at west', 'metric reefer.temperature avg/avg [quay:west]'],
  ['crane idle time per quay this month', 'metric crane.idle.time increase/sum by quay 01T00:00..11T10:30'],
  ['disk usage on yard-1', 'metric system.filesystem.usage avg/sum [host.name:yard-1]'],
  [
    'average cpu of quay-2 in 10 minute steps over the past 2 hours',
    'metric system.cpu.utilization avg/avg [host.name:quay-2] each 10m 11T08:30..11T10:30',
  ],
  [
    'which machine has the highest memory utilization',
    'metric system.memory.utilization avg/avg by host.name limit 10',
  ],
  ['top 2 hosts by cpu utilization', 'metric system.cpu.utilization avg/avg by host.name limit 2'],
  ['p95 latency of berth-planner', 'traces p95(duration) [kind:server service:berth-planner]'],
  [
    'average response time of /slots by carrier yesterday',
    'traces avg(duration) [http.route:"/slots" kind:server] by carrier 10T00:00..11T00:00',
  ],
  [
    'What is the 99th percentile of plan berth over the last day?',
    'traces p99(duration) [name:"plan berth"] 10T10:30..11T10:30',
  ],
  ['how many release hold spans failed', 'traces count [name:"release hold" status:error]'],
  [
    'POST requests to /manifests that took more than 3 s',
    'traces rows [duration:>3s http.request.method:POST http.route:"/manifests" kind:server]',
  ],
  [
    'how many 409s did gate-in return between 8am and 9am',
    'traces count [http.response.status_code:409 kind:server service:gate-in] 11T08:00..11T09:00',
  ],
  [
    'count of requests by status code for manifest',
    'traces count [kind:server service:manifest] by http.response.status_code',
  ],
  ['error rate of pilotage', 'share traces [status:error] of [kind:server service:pilotage]'],
  [
    'error rate per endpoint in the last 3 hours',
    'share traces [status:error] of [kind:server] by http.route 11T07:30..11T10:30',
  ],
  ['what percentage of hazardous requests failed', 'share traces [status:error] of [cargo.type:hazardous kind:server]'],
  [
    'share of 5xx responses by carrier',
    'share traces [http.response.status_code:[500 TO 599]] of [kind:server] by carrier',
  ],
  ['requests per second to truck-portal', 'traces rate [kind:server service:truck-portal]'],
  [
    'traffic to gate-in per minute for evergreen',
    'traces count [carrier:evergreen kind:server service:gate-in] each 1m',
  ],
  ['top 5 routes by number of errors', 'traces count [http.route:* kind:server status:error] by http.route limit 5'],
  ['which carrier sends the most requests', 'traces count [carrier:* kind:server] by carrier limit 10'],
  [
    'the 10 slowest requests of manifest today',
    'traces max(duration) [kind:server service:manifest] by service,name,traceId,spanId limit 10 11T00:00..11T10:30',
  ],
  ['slowest oracle queries', 'traces max(duration) [db.system.name:oracle] by service,name,traceId,spanId limit 10'],
  [
    'oracle calls from manifest slower than 500 ms',
    'traces rows [db.system.name:oracle duration:>500ms kind:client service:manifest]',
  ],
  [
    'latency of redis calls',
    [
      'traces avg(duration) [db.system.name:redis kind:client]',
      'traces p95(duration) [db.system.name:redis kind:client]',
    ],
  ],
  ['kafka errors by service', 'traces count [messaging.system:kafka status:error] by service'],
  ['damaged containers by carrier', 'logs count [container.state:damaged] by carrier'],
  [
    'how many containers are held',
    ['logs count [container.state:held]', 'logs distinct(container.id) [container.state:held]'],
  ],
  ['logs of container MSKU1', 'logs rows [container.id:MSKU1]'],
  ['what happened to container TGHU99', 'logs rows [container.id:TGHU99]'],
  ['logs from vessel Baltic Star since yesterday', 'logs rows [vessel.name:"Baltic Star"] 10T00:00..11T10:30'],
  ['average gross weight per carrier', 'logs avg(gross.weight) by carrier'],
  ['logs where gross weight exceeds 30000', 'logs rows [gross.weight:>30000]'],
  ['gross weight over 28 tons', 'refused unknown-name'],
  ['number of different drivers today', 'logs distinct(driver.id) 11T00:00..11T10:30'],
  ['SealMismatch by vessel', 'logs count [exception.type:SealMismatch] by vessel.name'],
  [
    'most common exceptions in crane-control this week',
    'logs count [exception.type:* service:crane-control] by exception.type limit 10 09T00:00..11T10:30',
  ],
  [
    'EdiTimeout or CraneFault in the live namespace',
    'logs rows [exception.type:(EdiTimeout OR CraneFault) k8s.namespace.name:live]',
  ],
  [
    'error logs that contain "hoist" but not from trial',
    'logs rows ["hoist" NOT k8s.namespace.name:trial severity:>=error]',
  ],
  ['warnings per service per hour yesterday', 'logs count [severity:warn] by service each 1h 10T00:00..11T00:00'],
  ['last 25 logs of pilotage', 'logs rows [service:pilotage] limit 25'],
  ['logs without a driver id', 'logs rows [NOT driver.id:*]'],
  [
    'errors by version',
    ['logs count [severity:>=error] by service.version', 'traces count [kind:server status:error] by service.version'],
  ],
  ['did 9.2.0 make things worse', 'refused unknown-name'],
  ['why are trucks waiting so long', 'refused cause'],
  ['will yard-1 run out of disk', 'refused forecast'],
  [
    'more errors than yesterday?',
    [
      'logs count [severity:>=error] than 10T09:30..10T10:30',
      'traces count [kind:server status:error] than 10T09:30..10T10:30',
    ],
  ],
  ['ships waiting for a berth', 'refused unknown-name'],
  ['which alerts are firing for crane-control', 'refused elsewhere'],
  ['how much error budget does gate-in have left', 'refused elsewhere'],
];
