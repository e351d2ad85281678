/** Questions about a chain of cinemas. Written before the grammar parsed them */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = [
  'seat-map',
  'box-office',
  'screening-api',
  'loyalty',
  'snack-orders',
  'kiosk-gateway',
  'film-catalog',
  'mailer',
];
const resource = [
  field('resource.host.name', ['c1-host', 'c2-host']),
  field('resource.service.version', ['1.9.2', '1.10.0']),
  field('resource.deployment.environment.name', ['prod', 'preview']),
  field('resource.k8s.node.name', ['gke-a', 'gke-b']),
];
export const cinema = {
  logs: signal(services, [
    field('cinema', ['Odeon', 'Roxy', 'Plaza'], 60),
    field('film', ['Dune', 'Alien'], 400),
    field('booking.id', ['B-1'], 80000),
    field('member.level', ['silver', 'platinum']),
    field('event.name', ['seat_released', 'payment_timeout', 'kiosk_offline', 'voucher_redeemed']),
    field('exception.type', ['SeatTakenException', 'PrinterJamError', 'TimeoutException']),
    field('queue.minutes', [], 90, 'number'),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/seats', '/bookings', '/bookings/{id}', '/films/{id}', '/vouchers']),
      field('http.request.method', ['GET', 'POST', 'DELETE']),
      field('http.response.status_code', ['200', '201', '400', '404', '409', '429', '500', '503'], 8, 'number'),
      field('db.system.name', ['mysql', 'redis']),
      field('cinema', ['Odeon', 'Roxy', 'Plaza'], 60),
      field('member.level', ['silver', 'platinum']),
      field('messaging.destination.name', ['ticket-mails']),
      ...resource,
    ],
    ['POST /bookings', 'hold seats', 'print ticket', 'GET /films/{id}'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/seats', '/bookings'] }),
    metric('tickets.printed', 'counter', '{ticket}', { cinema: ['Odeon', 'Roxy'] }),
    metric('seats.occupied', 'gauge', '{seat}', { cinema: ['Odeon', 'Roxy'], film: ['Dune', 'Alien'] }),
    metric('snacks.revenue', 'counter', 'EUR', { cinema: ['Odeon', 'Roxy'] }),
    metric('projector.temperature', 'gauge', 'Cel', { cinema: ['Odeon', 'Roxy'], screen: ['1', '2'] }),
    metric('kiosks.online', 'gauge', '{kiosk}', { cinema: ['Odeon', 'Roxy'] }),
    metric('payment.processing.time', 'histogram', 'ms', { method: ['card', 'cash'] }),
    metric('process.memory.usage', 'gauge', 'By', { 'service.instance.id': ['a', 'b'] }),
    metric('container.cpu.usage', 'gauge', '{cpu}', {
      'k8s.pod.name': ['loyalty-1', 'seat-map-2'],
      'k8s.node.name': ['gke-a', 'gke-b'],
    }),
    metric('system.disk.io', 'counter', 'By', { 'host.name': ['c1-host', 'c2-host'], direction: ['read', 'write'] }),
    metric('mysql.connection.count', 'gauge', '{connection}', {}),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const cinemaQuestions: readonly QuestionCase[] = [
  [
    'how many tickets were printed at the Odeon yesterday',
    'metric tickets.printed increase/sum [cinema:Odeon] 10T00:00..11T00:00',
  ],
  ['snack revenue by cinema this week', 'metric snacks.revenue increase/sum by cinema 09T00:00..11T10:30'],
  ['occupied seats for Dune right now', 'metric seats.occupied last/sum [film:Dune]'],
  ['which cinema has the most occupied seats', 'metric seats.occupied avg/sum by cinema limit 10'],
  [
    'temperature of the projectors at the Roxy over the last 12 hours',
    'metric projector.temperature avg/avg [cinema:Roxy] 10T22:30..11T10:30',
  ],
  ['hottest projector', 'metric projector.temperature max/max'],
  ['kiosks online per cinema', 'metric kiosks.online avg/sum by cinema'],
  [
    'how long does processing a card payment take',
    [
      'metric payment.processing.time avg/sum [method:card]',
      'metric payment.processing.time quantile 0.95/sum [method:card]',
    ],
  ],
  ['p95 payment time by method today', 'metric payment.processing.time quantile 0.95/sum by method 11T00:00..11T10:30'],
  ['seat taken exceptions by film', 'logs count [exception.type:SeatTakenException] by film'],
  [
    'printer jams at the Plaza since Monday',
    'logs rows [cinema:Plaza exception.type:PrinterJamError] 09T00:00..11T10:30',
  ],
  ['payment timeouts per hour', 'logs count [event.name:payment_timeout] each 1h'],
  ['redeemed vouchers of platinum members', 'logs rows [event.name:voucher_redeemed member.level:platinum]'],
  ['average queue time at the Odeon', 'refused unknown-name'],
  ['longest queue today', 'logs max(queue.minutes) 11T00:00..11T10:30'],
  ['error rate of box-office', 'share traces [status:error] of [kind:server service:box-office]'],
  ['why is seat-map slow since 9', 'cause seat-map 11T09:00..11T10:30'],
  ['what is wrong with loyalty', 'cause loyalty'],
  ['bookings that failed with 409', 'traces rows [http.response.status_code:409 http.route:"/bookings" kind:server]'],
  ['cancelled bookings today', 'refused unknown-name'],
  [
    'rate limited calls by service',
    [
      'traces count [http.response.status_code:429 kind:client] by service',
      'traces count [http.response.status_code:429 kind:server] by service',
    ],
  ],
  [
    'slowest film pages',
    'traces max(duration) [http.route:"/films/{id}" kind:server] by service,name,traceId,spanId limit 10',
  ],
  ['latency of hold seats', ['traces avg(duration) [name:"hold seats"]', 'traces p95(duration) [name:"hold seats"]']],
  ['cpu of loyalty', 'metric container.cpu.usage avg/sum [k8s.pod.name:loyalty-*]'],
  ['cpu per node', 'metric container.cpu.usage avg/sum by k8s.node.name'],
  ['memory of all processes', 'metric process.memory.usage avg/sum'],
  ['disk reads on c1-host', 'metric system.disk.io increase/sum [direction:read host.name:c1-host]'],
  ['bytes written per host yesterday', 'refused unknown-name'],
  ['open mysql connections', 'metric mysql.connection.count avg/sum'],
  ['redis latency', ['traces avg(duration) [db.system.name:redis]', 'traces p95(duration) [db.system.name:redis]']],
  [
    'top 3 slowest mysql queries in screening-api',
    'traces max(duration) [db.system.name:mysql service:screening-api] by service,name,traceId,spanId limit 3',
  ],
  [
    'errors in preview',
    [
      'logs rows [deployment.environment.name:preview severity:>=error]',
      'traces rows [deployment.environment.name:preview status:error]',
    ],
  ],
  [
    'errors by cinema and film',
    [
      'logs count [severity:>=error] by cinema,film',
      'traces count [http.route:"/films/{id}" kind:server status:error] by cinema',
    ],
  ],
  ['requests per minute by service as a graph', 'traces count [kind:server] by service each 1m'],
  ['how many members booked today', 'refused unknown-name'],
  ['did the latency of screening-api increase since the last deployment', 'refused unclear'],
  [
    'traffic today versus yesterday',
    [
      'metric system.disk.io increase/sum 11T00:00..11T10:30 than 10T00:00..11T00:00',
      'traces count [kind:server] 11T00:00..11T10:30 than 10T00:00..11T00:00',
    ],
  ],
  [
    'is 1.10.0 faster than 1.9.2',
    [
      'traces avg(duration) [kind:server service.version:(1.10.0 OR 1.9.2)] by service.version',
      'traces p95(duration) [kind:server service.version:(1.10.0 OR 1.9.2)] by service.version',
    ],
  ],
  ['logs of kiosk-gateway around 8pm yesterday', 'logs rows [service:kiosk-gateway] 10T19:30..10T20:30'],
  ['kiosks that went offline', 'refused unknown-name'],
  ['deletes per hour', 'traces count [http.request.method:DELETE] each 1h'],
  ['show traces of print ticket longer than 5s', 'traces rows [NOT parentSpanId:* duration:>5s name:"print ticket"]'],
  ['what percentage of bookings succeed', 'share traces [NOT status:error] of [http.route:"/bookings" kind:server]'],
  [
    'services with more errors than yesterday',
    [
      'logs count [severity:>=error] by service than 10T09:30..10T10:30',
      'traces count [kind:server status:error] by service than 10T09:30..10T10:30',
    ],
  ],
  [
    'which hosts have errors',
    ['logs count [severity:>=error] by host.name', 'traces count [kind:server status:error] by host.name'],
  ],
];
