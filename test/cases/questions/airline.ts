/** An airline. The questions were written before the grammar parsed any of them. */
import { field, metric, nowMs, type QuestionCase, signal } from './question-case.ts';

const services = ['booking-api', 'check-in', 'loyalty', 'baggage-tracker', 'crew-roster', 'fare-engine', 'notifier'];
const hosts = ['fra-app-1', 'fra-app-2', 'muc-app-1'];
const airports = ['FRA', 'MUC', 'LIS'];
const cabins = ['economy', 'business', 'first'];
const resource = [
  field('resource.host.name', hosts),
  field('resource.service.version', ['7.8.0', '7.9.0']),
  field('resource.k8s.namespace.name', ['prod', 'test']),
];

export const airline = {
  logs: signal(services, [
    field('airport', airports),
    field('cabin', cabins),
    field('passenger.id', ['px-1', 'px-2'], 90_000),
    field('flight.number', ['OQ100', 'OQ205'], 600),
    field('baggage.status', ['loaded', 'delayed', 'lost']),
    field('booking.channel', ['app', 'web', 'agency']),
    field('delay.minutes', [], 300, 'number'),
    field('refund.amount', [], 900, 'number'),
    field('exception.type', ['SeatUnavailable', 'PaymentDeclined', 'GdsTimeout']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/bookings', '/bookings/{id}', '/seats', '/boarding-passes', '/fares']),
      field('http.request.method', ['GET', 'POST', 'DELETE']),
      field('http.response.status_code', ['200', '201', '400', '404', '409', '500', '503', '504'], 8, 'number'),
      field('db.system.name', ['postgresql', 'redis']),
      field('messaging.system', ['kafka']),
      field('cabin', cabins),
      field('booking.channel', ['app', 'web', 'agency']),
      field('passenger.count', [], 9, 'number'),
      ...resource,
    ],
    ['price itinerary', 'issue ticket'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/bookings', '/fares'] }),
    metric('tickets.issued', 'counter', '{ticket}', { cabin: cabins }),
    metric('bookings.cancelled', 'counter', '{booking}', { 'booking.channel': ['app', 'web', 'agency'] }),
    metric('bags.handled', 'counter', '{bag}', { airport: airports }),
    metric('flights.airborne', 'gauge', '{flight}', {}),
    metric('security.queue.length', 'gauge', '{passenger}', { airport: airports }),
    metric('turnaround.time', 'histogram', 'min', { airport: airports }),
    metric('fuel.stock', 'gauge', 'L', { airport: airports }),
    metric('seat.load.factor', 'gauge', '%', { cabin: cabins }),
    metric('engine.oil.temperature', 'gauge', 'Cel', { aircraft: ['D-AOQA', 'D-AOQB'] }),
    metric('revenue', 'counter', 'EUR', { cabin: cabins }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': hosts }),
    metric('system.memory.utilization', 'gauge', '1', { 'host.name': hosts }),
    metric('system.network.io', 'counter', 'By', { 'host.name': hosts, direction: ['receive', 'transmit'] }),
    metric('k8s.pod.memory.usage', 'gauge', 'By', { 'k8s.pod.name': ['check-in-7f', 'loyalty-2b'] }),
    metric('k8s.container.restarts', 'gauge', '{restart}', { 'k8s.pod.name': ['check-in-7f', 'loyalty-2b'] }),
    metric('kafka.consumer.lag', 'gauge', '{message}', { topic: ['bookings', 'bags'] }),
  ],
  deployments: [
    { service: 'fare-engine', version: '7.9.0', atMs: nowMs - 120 * 60_000 },
    { service: 'check-in', version: '7.9.0', atMs: nowMs - 15 * 60_000 },
  ],
};

const meanAndP95 = (rest: string) => [`traces avg(duration) ${rest}`, `traces p95(duration) ${rest}`];

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const airlineQuestions: readonly QuestionCase[] = [
  ['how many tickets have we issued today', 'metric tickets.issued increase/sum 11T00:00..11T10:30'],
  [
    'business tickets issued per day last week',
    'metric tickets.issued increase/sum [cabin:business] each 1d 02T00:00..09T00:00',
  ],
  ['revenue by cabin this month', 'metric revenue increase/sum by cabin 01T00:00..11T10:30'],
  ['how much revenue did we make yesterday', 'metric revenue increase/sum 10T00:00..11T00:00'],
  [
    'is revenue higher this week than last week',
    'metric revenue increase/sum 09T00:00..11T10:30 than 02T00:00..09T00:00',
  ],
  [
    'cancelled bookings by channel since Sunday',
    'metric bookings.cancelled increase/sum by booking.channel 08T00:00..11T10:30',
  ],
  [
    'which channel had the most cancelled bookings yesterday',
    'metric bookings.cancelled increase/sum by booking.channel limit 10 10T00:00..11T00:00',
  ],
  ['how many flights are airborne at the moment', 'metric flights.airborne last/sum'],
  ['maximum number of airborne flights on Monday', 'metric flights.airborne max/max 09T00:00..10T00:00'],
  ['how long is the security queue in MUC', 'metric security.queue.length avg/sum [airport:MUC]'],
  [
    'airports where the security queue is longer than 80 passengers',
    'metric security.queue.length avg/sum by airport having >80',
  ],
  [
    'how many airports have more than 80 passengers in the security queue',
    'metric security.queue.length avg/sum by airport having >80',
  ],
  ['median turnaround time per airport', 'metric turnaround.time quantile 0.5/sum by airport'],
  ['airports with an average turnaround time above 45 minutes', 'metric turnaround.time avg/sum by airport having >45'],
  ['fuel stock at LIS', 'metric fuel.stock avg/avg [airport:LIS]'],
  ['lowest fuel stock by airport since midnight', 'metric fuel.stock min/min by airport 11T00:00..11T10:30'],
  ['cabins with a load factor under 60%', 'metric seat.load.factor avg/avg by cabin having <60'],
  ['hottest engine oil today', 'metric engine.oil.temperature max/max 11T00:00..11T10:30'],
  ['aircraft with oil hotter than 110 degrees', 'metric engine.oil.temperature avg/avg by aircraft having >110'],
  ['bags handled per hour in FRA', 'metric bags.handled increase/sum [airport:FRA] each 1h'],
  [
    'compare bags handled in FRA and LIS today',
    'metric bags.handled increase/sum [airport:(FRA OR LIS)] by airport 11T00:00..11T10:30',
  ],
  ['lost bags by airport this week', 'refused unknown-name'],
  ['lost baggage by airport this week', 'logs count [baggage.status:lost] by airport 09T00:00..11T10:30'],
  [
    'what share of the baggage was delayed yesterday',
    'share logs [baggage.status:delayed] of [baggage.status:*] 10T00:00..11T00:00',
  ],
  ['average delay by airport', 'logs avg(delay.minutes) by airport'],
  [
    'flights with an average delay of more than 20 minutes',
    'logs avg(delay.minutes) [flight.number:*] by flight.number having >20',
  ],
  ['which airport has the most delays over 30 minutes', 'logs count [airport:* delay.minutes:>30] by airport limit 10'],
  ['total refund amount by channel last month', 'logs sum(refund.amount) by booking.channel 01T00:00..01T00:00'],
  [
    'passengers with more than 3 declined payments',
    'logs count [exception.type:PaymentDeclined passenger.id:*] by passenger.id having >3',
  ],
  [
    'how many payments were declined in the last 24 hours',
    'logs count [exception.type:PaymentDeclined] 10T10:30..11T10:30',
  ],
  ['unavailable seats by cabin', 'logs count [exception.type:SeatUnavailable] by cabin'],
  ['GDS timeouts in the fare engine, by minute', 'logs count [exception.type:GdsTimeout service:fare-engine] each 1m'],
  ['everything logged about passenger px-881 yesterday', 'logs rows [passenger.id:px-881] 10T00:00..11T00:00'],
  ['error logs of the notifier, newest first', 'logs rows [service:notifier severity:>=error]'],
  [
    'errors and warnings of crew roster in the past 45 minutes',
    'logs rows [(severity:>=error OR severity:warn) service:crew-roster] 11T09:45..11T10:30',
  ],
  [
    'how many bookings failed in business yesterday',
    'traces count [cabin:business http.route:"/bookings" kind:server status:error] 10T00:00..11T00:00',
  ],
  ['failed bookings per channel', 'traces count [http.route:"/bookings" kind:server status:error] by booking.channel'],
  ['what percentage of bookings fail', 'share traces [status:error] of [http.route:"/bookings" kind:server]'],
  ['error rate of /seats by cabin', 'share traces [status:error] of [http.route:"/seats" kind:server] by cabin'],
  ['p95 of boarding passes', 'traces p95(duration) [http.route:"/boarding-passes" kind:server]'],
  ['how slow is check-in at the moment', meanAndP95('[kind:server service:check-in]')],
  ['how long does it take to price an itinerary', meanAndP95('[name:"price itinerary"]')],
  [
    'slow postgres queries of loyalty',
    'traces max(duration) [db.system.name:postgresql service:loyalty] by service,name,traceId,spanId limit 10',
  ],
  [
    'endpoints with a p99 of more than 3 seconds',
    'traces p99(duration) [http.route:* kind:server] by http.route having >3000000000',
  ],
  [
    'how many endpoints are slower than 1 second on average',
    'traces avg(duration) [http.route:* kind:server] by http.route having >1000000000',
  ],
  ['504s per service today', 'traces count [http.response.status_code:504 kind:server] by service 11T00:00..11T10:30'],
  [
    'did version 7.9.0 return more 500s than 7.8.0',
    'traces count [http.response.status_code:500 kind:server service.version:(7.9.0 OR 7.8.0)] by service.version',
  ],
  [
    'p95 latency of check-in since the last deployment',
    'traces p95(duration) [kind:server service:check-in] 11T10:15..11T10:30',
  ],
  [
    'has the error rate of the fare engine changed since the last deployment compared with before',
    'share traces [status:error] of [kind:server service:fare-engine] 11T08:30..11T10:30 than 11T06:30..11T08:30',
  ],
  ['why is baggage tracker so slow', 'cause baggage-tracker'],
  ['why did bookings fail', 'refused cause'],
  ['what changed in loyalty over the last 2 hours', 'changes loyalty 11T08:30..11T10:30'],
  ['hosts with memory above 85 %', 'metric system.memory.utilization avg/avg by host.name having >0.85'],
  ['how many hosts are below 10 % cpu', 'metric system.cpu.utilization avg/avg by host.name having <0.1'],
  [
    'outgoing network traffic of muc-app-1',
    'metric system.network.io increase/sum [direction:transmit host.name:muc-app-1]',
  ],
  [
    'pods that restarted at least once today',
    'growth k8s.container.restarts by k8s.pod.name having >=1 11T00:00..11T10:30',
  ],
  ['consumer lag of the bags topic', 'metric kafka.consumer.lag avg/sum [topic:bags]'],
  ['cancled bokings by chanel', 'refused unknown-name'],
  [
    'now only agencies',
    'metric bookings.cancelled increase/sum [booking.channel:agency] 11T00:00..11T10:30',
    ['cancelled bookings today'],
  ],
  [
    'same for loyalty',
    'share traces [status:error] of [kind:server service:loyalty] by service.version',
    ['error rate of check-in by version'],
  ],
];
