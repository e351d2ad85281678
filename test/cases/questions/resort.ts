/**
 * Questions about a ski resort. Written before they were first parsed; questions about telemetry that are refused here
 * were not understood.
 */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['lift-control', 'ticketing', 'ski-school', 'rental', 'snow-report', 'webcams'];
const resource = [
  field('resource.host.name', ['base-1', 'summit-1']),
  field('resource.service.version', ['5.0', '5.1']),
  field('resource.deployment.environment.name', ['production', 'sandbox']),
];
const lifts = ['gondola', 'eagle', 'glacier'];

export const resort = {
  logs: signal(services, [
    field('lift', lifts),
    field('pass.id', ['x-500', 'x-501'], 60_000),
    field('guest.id', ['u-7', 'u-8'], 40_000),
    field('pass.kind', ['day', 'season', 'child']),
    field('scan.result', ['granted', 'denied']),
    field('wind.gust', [], 120, 'number'),
    field('instructor', ['anna', 'bruno'], 90),
    field('exception.type', ['PassExpired', 'TurnstileJam']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/passes', '/passes/{id}', '/lessons', '/gear']),
      field('http.request.method', ['GET', 'POST', 'PATCH']),
      field('http.response.status_code', ['200', '201', '402', '404', '500', '503'], 6, 'number'),
      field('db.system.name', ['mariadb', 'redis']),
      field('lift', lifts),
      field('payment.method', ['card', 'voucher']),
      field('skis.available', [], 400, 'number'),
      ...resource,
    ],
    ['scan pass', 'book lesson'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/passes', '/lessons'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['base-1', 'summit-1'] }),
    metric('system.memory.usage', 'gauge', 'By', { 'resource.host.name': ['base-1', 'summit-1'] }),
    metric('skiers.transported', 'counter', '{skier}', { lift: lifts }),
    metric('passes.sold', 'counter', '{pass}', { 'pass.kind': ['day', 'season', 'child'] }),
    metric('lift.speed', 'gauge', 'm/s', { lift: lifts }),
    metric('lift.queue.length', 'gauge', '{skier}', { lift: lifts }),
    metric('snow.depth', 'gauge', 'cm', { station: ['valley', 'peak'] }),
    metric('air.temperature', 'gauge', 'Cel', { station: ['valley', 'peak'] }),
    metric('lift.stops', 'counter', '{stop}', { lift: lifts }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const resortQuestions: readonly QuestionCase[] = [
  ['how deep is the snow at the peak', 'metric snow.depth avg/avg [station:peak]'],
  [
    'snow depth by station over the last 7 days, daily',
    'metric snow.depth avg/avg by station each 1d 04T10:30..11T10:30',
  ],
  ['current air temperature in the valley', 'metric air.temperature last/avg [station:valley]'],
  ['lowest air temperature at the peak yesterday', 'metric air.temperature min/min [station:peak] 10T00:00..11T00:00'],
  [
    'how many skiers did the gondola transport today',
    'metric skiers.transported increase/sum [lift:gondola] 11T00:00..11T10:30',
  ],
  ['skiers transported per lift this week', 'metric skiers.transported increase/sum by lift 09T00:00..11T10:30'],
  ['passes sold by kind yesterday', 'metric passes.sold increase/sum by pass.kind 10T00:00..11T00:00'],
  [
    'how many season passes were sold last month',
    'metric passes.sold increase/sum [pass.kind:season] 01T00:00..01T00:00',
  ],
  ['longest queue at the eagle this morning', 'metric lift.queue.length max/max [lift:eagle] 11T00:00..11T10:30'],
  ['queue length per lift every 5 minutes', 'metric lift.queue.length avg/sum by lift each 5m'],
  ['which lift stopped most often this week', 'refused unknown-name'],
  ['lift stops on Monday', 'metric lift.stops increase/sum 09T00:00..10T00:00'],
  ['is the glacier lift running', 'refused unknown-name'],
  ['what speed does the eagle lift have now', 'metric lift.speed last/avg [lift:eagle]'],
  ['memory usage of summit-1 since 6am', 'metric system.memory.usage avg/sum [host.name:summit-1] 11T06:00..11T10:30'],
  ['peak cpu per host in the last 24 hours', 'metric system.cpu.utilization max/max by host.name 10T10:30..11T10:30'],
  [
    'p99 of http.server.request.duration by route',
    'metric http.server.request.duration quantile 0.99/sum by http.route',
  ],
  [
    'any errors in ticketing?',
    ['logs rows [service:ticketing severity:>=error]', 'traces rows [service:ticketing status:error]'],
  ],
  [
    'errors per service for the last 12 hours',
    [
      'logs count [severity:>=error] by service 10T22:30..11T10:30',
      'traces count [kind:server status:error] by service 10T22:30..11T10:30',
    ],
  ],
  ['fatal logs this month', 'logs rows [severity:>=fatal] 01T00:00..11T10:30'],
  [
    'rental error logs in production, newest 10',
    'logs rows [deployment.environment.name:production service:rental severity:>=error] limit 10',
  ],
  ['denied scans at the gondola', 'logs rows [lift:gondola scan.result:denied]'],
  ['number of denied scans per lift today', 'logs count [scan.result:denied] by lift 11T00:00..11T10:30'],
  ['what share of scans was denied', 'share logs [scan.result:denied] of [scan.result:*]'],
  ['PassExpired errors by pass kind', 'logs count [exception.type:PassExpired severity:>=error] by pass.kind'],
  [
    'how often did TurnstileJam happen yesterday afternoon',
    'logs count [exception.type:TurnstileJam] 10T12:00..10T18:00',
  ],
  ['highest wind gust by lift', 'logs max(wind.gust) by lift'],
  ['logs with wind gust above 80', 'logs rows [wind.gust:>80]'],
  ['average wind gust at the glacier in the last 3 hours', 'logs avg(wind.gust) [lift:glacier] 11T07:30..11T10:30'],
  ['all logs about pass x-501', 'logs rows [pass.id:x-501]'],
  [
    'how many different guests had a denied scan this week',
    'logs distinct(guest.id) [scan.result:denied] 09T00:00..11T10:30',
  ],
  ['logs of instructor anna mentioning "refund"', 'logs rows ["refund" instructor:anna]'],
  ['webcams logs that do not contain "frame dropped"', 'logs rows [NOT "frame dropped" service:webcams]'],
  ['log volume of lift-control per minute', 'logs count [service:lift-control] each 1m'],
  ['logs by severity for snow-report', 'logs count [service:snow-report] by severity'],
  ['mean latency of ticketing per route', 'traces avg(duration) [kind:server service:ticketing] by http.route'],
  [
    'how slow is /lessons',
    [
      'traces avg(duration) [http.route:"/lessons" kind:server]',
      'traces p95(duration) [http.route:"/lessons" kind:server]',
    ],
  ],
  [
    'p50 and p95 of ticketing requests per hour today',
    'traces p50(duration),p95(duration) [kind:server service:ticketing] each 1h 11T00:00..11T10:30',
  ],
  ['median duration of book lesson for version 5.1', 'traces p50(duration) [name:"book lesson" service.version:5.1]'],
  ['requests slower than 1.5 seconds at rental', 'traces rows [duration:>1.5s kind:server service:rental]'],
  [
    'how many requests to /passes were faster than 100 ms',
    'traces count [duration:<100ms http.route:"/passes" kind:server]',
  ],
  ['failed PATCH requests since 9:30', 'traces rows [http.request.method:PATCH kind:server status:error]'],
  ['requests that ended in 402', 'refused unknown-name'],
  ['how many requests got a 404 or 500', 'traces count [http.response.status_code:(404 OR 500) kind:server]'],
  [
    'which routes return the most 503',
    'traces count [http.response.status_code:503 http.route:* kind:server] by http.route limit 10',
  ],
  [
    'success rate of ticketing over the last day',
    'share traces [NOT status:error] of [kind:server service:ticketing] 10T10:30..11T10:30',
  ],
  ['share of voucher requests', 'share traces [payment.method:voucher] of [kind:server]'],
  ['request rate of webcams', 'traces rate [kind:server service:webcams]'],
  ['requests by payment method and lift', 'traces count [kind:server] by payment.method,lift'],
  ['top 3 services by p95 latency', 'traces p95(duration) [kind:server] by service limit 3'],
  ['least used routes', 'traces count [http.route:*] by http.route ascending limit 10'],
  [
    'mariadb time by service',
    [
      'traces avg(duration) [db.system.name:mariadb] by service',
      'traces p95(duration) [db.system.name:mariadb] by service',
    ],
  ],
  ['errors of redis calls in rental', 'traces rows [db.system.name:redis kind:client service:rental status:error]'],
  ['spans with fewer than 5 skis available', 'traces rows [skis.available:<5]'],
  ['bookings per instructor', 'refused unknown-name'],
  ['is anything broken', ['logs rows [severity:>=error]', 'traces rows [status:error]']],
  [
    'compare passes sold this week with last week',
    'metric passes.sold increase/sum 09T00:00..11T10:30 than 02T00:00..09T00:00',
  ],
  ['unusual denied scans', 'refused anomaly'],
  ['shut down the gondola', 'refused change'],
  ['how many passes will we sell tomorrow', 'refused forecast'],
];
