/** Questions about a railway. The grammar was not developed with them: see `subjects/questions/README.md`. */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['ticketing', 'timetable', 'seat-allocation', 'signal-gateway', 'passenger-app', 'billing'];
const resource = [
  field('resource.host.name', ['rail-01', 'rail-02', 'rail-03']),
  field('resource.cloud.region', ['eu-central-1', 'eu-west-1']),
  field('resource.service.version', ['7.1.0', '7.2.0']),
];

export const railway = {
  logs: signal(services, [
    field('train.number', ['IC712', 'RE4', 'S12']),
    field('station.code', ['ZRH', 'GVA', 'BSL']),
    field('ticket.type', ['single', 'return', 'season']),
    field('passenger.id', ['p-1', 'p-2'], 90_000),
    field('exception.type', ['SeatTakenError', 'ConnectionResetError']),
    field('bytes.sent', [], 5_000, 'number'),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/tickets/{id}', '/connections', '/seats']),
      field('http.request.method', ['GET', 'PUT', 'DELETE']),
      field('http.response.status_code', ['200', '409', '502'], 3, 'number'),
      field('rpc.method', ['Reserve', 'Release']),
      field('messaging.system', ['rabbitmq']),
      field('fare.class', ['first', 'second']),
      field('passenger.count', [], 40, 'number'),
      ...resource,
    ],
    ['Reserve seat', 'GET /connections'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/tickets/{id}', '/connections'] }),
    metric('system.cpu.utilization', 'gauge', '1', { cpu: ['0', '1'], 'resource.host.name': ['rail-01', 'rail-02'] }),
    metric('system.filesystem.usage', 'gauge', 'By', {
      'system.device': ['sda', 'sdb'],
      'resource.host.name': ['rail-01', 'rail-02'],
    }),
    metric('jvm.memory.used', 'gauge', 'By', { 'jvm.memory.pool.name': ['eden', 'old'] }),
    metric('rabbitmq.queue.messages', 'gauge', '{message}', { queue: ['bookings', 'refunds'] }),
    metric('tickets.sold', 'counter', '{ticket}', {
      'ticket.type': ['single', 'return'],
      'station.code': ['ZRH', 'GVA'],
    }),
    metric('refunds.paid', 'counter', '{refund}', {}),
    metric('train.delay', 'histogram', 'min', { 'train.number': ['IC712', 'RE4'] }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const railwayQuestions: readonly QuestionCase[] = [
  [
    'How many errors were logged by ticketing during the last 3 hours?',
    'logs count [service:ticketing severity:>=error] 11T07:30..11T10:30',
  ],
  ['show the last 50 log lines from signal-gateway', 'logs rows [service:signal-gateway] limit 50'],
  ['what is the p99 latency of seat-allocation', 'traces p99(duration) [kind:server service:seat-allocation]'],
  ['requests per service', 'traces count [kind:server] by service'],
  [
    'mean duration of PUT requests to /seats',
    'traces avg(duration) [http.request.method:PUT http.route:"/seats" kind:server]',
  ],
  ['tickets sold today by station', 'metric tickets.sold increase/sum by station.code 11T00:00..11T10:30'],
  ['how many tickets were sold yesterday?', 'metric tickets.sold increase/sum 10T00:00..11T00:00'],
  ['tickets sold per minute', 'metric tickets.sold increase/sum each 1m'],
  ['average train delay by train number', 'metric train.delay avg/sum by train.number'],
  ['95th percentile of train delay over the last week', 'metric train.delay quantile 0.95/sum 04T10:30..11T10:30'],
  ['messages in rabbitmq by queue', 'metric rabbitmq.queue.messages avg/sum by queue'],
  [
    'maximum of rabbitmq queue messages for refunds in the past 6 hours',
    'metric rabbitmq.queue.messages max/max [queue:refunds] 11T04:30..11T10:30',
  ],
  ['filesystem usage by host', 'metric system.filesystem.usage avg/sum by host.name'],
  [
    'peak cpu utilisation per host since midnight',
    'metric system.cpu.utilization max/max by host.name 11T00:00..11T10:30',
  ],
  ['which routes fail the most', 'traces count [http.route:* kind:server status:error] by http.route limit 10'],
  ['percentage of failed requests in billing', 'share traces [status:error] of [kind:server service:billing]'],
  [
    'error rate per route since yesterday',
    'share traces [status:error] of [kind:server] by http.route 10T00:00..11T10:30',
  ],
  ['top 3 services by error logs this week', 'logs count [severity:>=error] by service limit 3 09T00:00..11T10:30'],
  [
    'requests with status 502 between 8am and 9am',
    'traces rows [http.response.status_code:502 kind:server] 11T08:00..11T09:00',
  ],
  ['count of 4xx responses per hour', 'traces count [http.response.status_code:[400 TO 499] kind:server] each 1h'],
  ['spans longer than 2 seconds in timetable', 'traces rows [duration:>2s service:timetable]'],
  ['how many requests took less than 50ms', 'traces count [duration:<50ms kind:server]'],
  ['logs mentioning "signal lost"', 'logs rows ["signal lost"]'],
  ['how many log lines contain "seat taken" by station code', 'logs count ["seat taken"] by station.code'],
  ['logs for train IC712', 'logs rows [train.number:IC712]'],
  ['warnings per train number', 'logs count [severity:warn] by train.number'],
  ['logs of ticketing except severity debug', 'logs rows [NOT severity:debug service:ticketing]'],
  ['unique passenger ids per station in logs', 'logs distinct(passenger.id) by station.code'],
  ['how many different passengers were there yesterday', 'logs distinct(passenger.id) 10T00:00..11T00:00'],
  ['sum of bytes.sent by service', 'logs sum(bytes.sent) by service'],
  ['average passenger count of requests in first class', 'traces avg(passenger.count) [fare.class:first kind:server]'],
  ['requests by fare class and route', 'traces count [kind:server] by fare.class,http.route'],
  ['p50 and p95 latency of passenger-app', 'traces p50(duration),p95(duration) [kind:server service:passenger-app]'],
  [
    'slow requests in billing',
    'traces max(duration) [kind:server service:billing] by service,name,traceId,spanId limit 10',
  ],
  ['five slowest routes by average latency', 'traces avg(duration) [http.route:* kind:server] by http.route limit 5'],
  [
    'latency of ticketing every 10 minutes, 90th percentile',
    'traces p90(duration) [kind:server service:ticketing] each 10m',
  ],
  ['hourly requests on Monday', 'traces count [kind:server] each 1h 09T00:00..10T00:00'],
  [
    'errors on 5 March in seat-allocation logs',
    'logs rows [service:seat-allocation severity:>=error] 05T00:00..06T00:00',
  ],
  [
    'how many spans did timetable send yesterday from 14:00 to 15:30',
    'traces count [service:timetable] 10T14:00..10T15:30',
  ],
  ['requests in eu-west-1 grouped by version', 'traces count [cloud.region:eu-west-1 kind:server] by service.version'],
  [
    'which host wrote the most logs in the last 10 minutes',
    'logs count [host.name:*] by host.name limit 10 11T10:20..11T10:30',
  ],
  ['SeatTakenError in the last day', 'logs rows [exception.type:SeatTakenError] 10T10:30..11T10:30'],
  ['show me ticketing or billing fatal logs', 'logs rows [service:(ticketing OR billing) severity:>=fatal]'],
  [
    'Reserve calls slower than 300ms',
    [
      'traces rows [duration:>300ms kind:client rpc.method:Reserve]',
      'traces rows [duration:>300ms kind:server rpc.method:Reserve]',
    ],
  ],
  [
    'errors in timetable',
    ['logs rows [service:timetable severity:>=error]', 'traces rows [service:timetable status:error]'],
  ],
  ['sum(rate(tickets_sold_total[5m])) by (station_code)', 'promql sum(rate(tickets_sold_total[5m])) by (station_code)'],
  ['severity:error AND station.code:ZRH', 'logs rows [severity:error AND station.code:ZRH]'],
  ['duration:>1s service:billing', 'traces rows [duration:>1s service:billing]'],
  ['jvm memory', 'metric jvm.memory.used avg/sum'],
  ['refunds paid compared to last week', 'metric refunds.paid increase/sum than 04T09:30..04T10:30'],
  ['why did ticketing fail this morning', 'cause ticketing 11T00:00..11T10:30'],
  ['when will sda run out of space', 'refused forecast'],
  ['please remove the logs of billing', 'refused change'],
  ['scale ticketing to 5 replicas', 'refused change'],
  ['errors in the dining service', 'refused unknown-name'],
  ['requests by platform', 'refused unknown-name'],
  ['average speed of trains', 'refused unknown-name'],
  ['requets by rout', 'traces count [kind:server] by http.route'],
  ['avergae latency of tiketing', 'traces avg(duration) [kind:server service:ticketing]'],
  [
    'count of logs where ticket type is season and station code is not ZRH',
    'logs count [NOT station.code:ZRH ticket.type:season]',
  ],
  ['rate of requests of passenger-app per second', 'traces rate [kind:server service:passenger-app]'],
  ['how did requests develop over the last 2 hours', 'traces count [kind:server] each 1m 11T08:30..11T10:30'],
];
