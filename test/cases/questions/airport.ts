/** Questions about an airport. The grammar was developed with them. */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['check-in', 'baggage', 'gates', 'security', 'flight-board', 'lounge'];
const resource = [
  field('resource.host.name', ['term-a', 'term-b']),
  field('resource.service.version', ['4.2', '4.3']),
  field('resource.deployment.environment.name', ['production', 'staging']),
];
const airlines = ['delta', 'iberia', 'finnair'];

export const airport = {
  logs: signal(services, [
    field('airline', airlines),
    field('flight.number', ['IB204', 'AY31'], 9_000),
    field('passenger.id', ['pa-1', 'pa-2'], 80_000),
    field('bag.status', ['loaded', 'missing', 'rerouted']),
    field('terminal', ['T1', 'T2']),
    field('bag.weight', [], 900, 'number'),
    field('exception.type', ['ScanError', 'PrinterOffline']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/boarding', '/bags/{id}', '/flights']),
      field('http.request.method', ['GET', 'POST', 'PUT']),
      field('http.response.status_code', ['200', '201', '404', '429', '500', '503'], 6, 'number'),
      field('db.system.name', ['postgresql', 'redis']),
      field('airline', airlines),
      field('cabin.class', ['economy', 'business']),
      field('seats.left', [], 300, 'number'),
      ...resource,
    ],
    ['print tag', 'assign seat'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/boarding', '/flights'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['term-a', 'term-b'] }),
    metric('system.memory.usage', 'gauge', 'By', { 'resource.host.name': ['term-a', 'term-b'] }),
    metric('bags.handled', 'counter', '{bag}', { terminal: ['T1', 'T2'] }),
    metric('flights.delayed', 'counter', '{flight}', { airline: airlines }),
    metric('security.queue.length', 'gauge', '{passenger}', { terminal: ['T1', 'T2'] }),
    metric('runway.temperature', 'gauge', 'Cel', {}),
    metric('passengers.boarded', 'counter', '{passenger}', { airline: airlines }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const airportQuestions: readonly QuestionCase[] = [
  [
    'what errors did check-in throw today',
    [
      'logs rows [service:check-in severity:>=error] 11T00:00..11T10:30',
      'traces rows [service:check-in status:error] 11T00:00..11T10:30',
    ],
  ],
  [
    'how many 500s has baggage returned since 8',
    'traces count [http.response.status_code:500 kind:server service:baggage] 11T08:00..11T10:30',
  ],
  ['how long is the queue at security in T2', 'metric security.queue.length avg/sum [terminal:T2]'],
  ['which host uses the most memory', 'metric system.memory.usage avg/sum by host.name limit 10'],
  ['is term-b out of memory', 'refused unknown-name'],
  [
    'what percentage of requests to /flights were 429',
    'share traces [http.response.status_code:429] of [http.route:"/flights" kind:server]',
  ],
  ['status codes of check-in', 'refused unclear'],
  ['unique exceptions in baggage today', 'logs distinct(exception.type) [service:baggage] 11T00:00..11T10:30'],
  [
    'how many requests failed with 503 in the last half hour',
    'traces count [http.response.status_code:503 kind:server] 11T10:00..11T10:30',
  ],
  ['list all services', ['logs count by service', 'traces count by service']],
  [
    'when did the last error in security happen',
    ['logs rows [service:security severity:>=error]', 'traces rows [service:security status:error]'],
  ],
  ['first error per service', 'refused unclear'],
  [
    'passengers boarded per airline per hour yesterday between 6 and 10',
    'metric passengers.boarded increase/sum by airline each 1h 10T06:00..10T10:00',
  ],
  [
    'errors during the weekend',
    ['logs rows [severity:>=error] 07T00:00..09T00:00', 'traces rows [status:error] 07T00:00..09T00:00'],
  ],
  [
    'errors last night',
    ['logs rows [severity:>=error] 10T18:00..11T06:00', 'traces rows [status:error] 10T18:00..11T06:00'],
  ],
  ['mean time of assign seat for iberia', 'traces avg(duration) [airline:iberia name:"assign seat"]'],
  [
    'time spent in redis',
    ['traces avg(duration) [db.system.name:redis]', 'traces p95(duration) [db.system.name:redis]'],
  ],
  ['sum of bag weight for delta flights', 'logs sum(bag.weight) [airline:delta]'],
  ['share of business requests', 'share traces [cabin.class:business] of [kind:server]'],
  [
    'trace 4bf92f3577b34da6a3ce929d0e0e4736',
    ['logs rows [traceId:4bf92f3577b34da6a3ce929d0e0e4736]', 'traces rows [traceId:4bf92f3577b34da6a3ce929d0e0e4736]'],
  ],
  ['min and max runway temperature today', 'refused unclear'],
  [
    'What is the average response time for API endpoint /flights across all airlines last week?',
    'traces avg(duration) [http.route:"/flights" kind:server] 02T00:00..09T00:00',
  ],
  ['number of requests and average latency by service', 'traces count,avg(duration) [kind:server] by service'],
  ['requests and errors by service', 'refused unclear'],
  ['error rate and p95 latency of gates', 'refused unclear'],
  ['errors and latency of gates', 'refused unclear'],
  ['highest p95 latency of gates', 'refused unclear'],
  ['highest error rate of gates', 'refused unclear'],
  ['requests from gates', ['traces rows [kind:client service:gates]', 'traces rows [kind:server service:gates]']],
  ['requests sent by gates', 'traces rows [kind:client service:gates]'],
  ['requests made to gates', 'traces rows [kind:server service:gates]'],
  [
    'longest requests in gates today',
    'traces max(duration) [kind:server service:gates] by service,name,traceId,spanId limit 10 11T00:00..11T10:30',
  ],
  ['slowest response time of gates', 'traces max(duration) [kind:server service:gates]'],
  ['trace with the longest duration', 'traces max(duration) by service,name,traceId,spanId limit 10'],
  ['traces that touch redis', 'traces rows [db.system.name:redis]'],
  [
    'airlines with the highest latency',
    [
      'traces avg(duration) [airline:* kind:server] by airline limit 10',
      'traces p95(duration) [airline:* kind:server] by airline limit 10',
    ],
  ],
  ['highest cpu usage by host today', 'metric system.cpu.utilization max/max by host.name 11T00:00..11T10:30'],
  ['host with highest cpu usage right now', 'metric system.cpu.utilization last/avg by host.name limit 10'],
  ['coldest runway temperature today', 'metric runway.temperature min/min 11T00:00..11T10:30'],
  ['last runway temperature', 'metric runway.temperature last/avg'],
  ['give me 20 error logs from lounge', 'logs rows [service:lounge severity:>=error] limit 20'],
  ['how many ScanErrors', 'logs count [exception.type:ScanError]'],
  ['how many times did ScanError occur in T1', 'logs count [exception.type:ScanError terminal:T1]'],
  ['requests with status between 400 and 499', 'traces rows [http.response.status_code:[400 TO 499] kind:server]'],
  [
    '4xx and 5xx responses by route',
    'traces count [(http.response.status_code:[400 TO 499] OR http.response.status_code:[500 TO 599]) kind:server] by http.route',
  ],
  ['non-200 responses', 'traces rows [NOT http.response.status_code:200 kind:server]'],
  ["requests that didn't return 200", 'traces rows [NOT http.response.status_code:200 kind:server]'],
  ['which methods are used on /bags/{id}', 'traces count [http.route:"/bags/{id}"] by http.request.method'],
  ['what airlines do we have', ['logs count by airline', 'traces count by airline']],
  ['how many requests had a latency above 2s', 'traces count [duration:>2s kind:server]'],
  ['GET /flights p99', 'traces p99(duration) [http.request.method:GET http.route:"/flights" kind:server]'],
  ['what are the top 10 error types', 'logs count [exception.type:*] by exception.type limit 10'],
  ['avg duration by service name', 'traces avg(duration) by service'],
  ['most common errors in gates', 'refused unclear'],
  [
    'is /flights slower than yesterday',
    [
      'traces avg(duration) [http.route:"/flights" kind:server] than 10T09:30..10T10:30',
      'traces p95(duration) [http.route:"/flights" kind:server] than 10T09:30..10T10:30',
    ],
  ],
  [
    'errors of delta and iberia',
    ['logs rows [airline:(delta OR iberia) severity:>=error]', 'traces rows [airline:(delta OR iberia) status:error]'],
  ],
];
