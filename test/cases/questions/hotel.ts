/** Questions about hotel bookings. Held out, and evaluated once. */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['search', 'rooms', 'booking', 'payments', 'guest-app', 'housekeeping'];
const resource = [
  field('resource.host.name', ['ber-1', 'ber-2']),
  field('resource.service.version', ['2.0.1', '2.1.0']),
  field('resource.cloud.region', ['eu-west', 'eu-east']),
];
const hotels = ['berlin', 'prague', 'lisbon'];

export const hotel = {
  logs: signal(services, [
    field('hotel', hotels),
    field('booking.id', ['b-700', 'b-701'], 30_000),
    field('guest.id', ['g-1', 'g-2'], 20_000),
    field('booking.channel', ['web', 'phone', 'agency']),
    field('payment.result', ['paid', 'declined', 'refunded']),
    field('nights', [], 30, 'number'),
    field('exception.type', ['RoomTaken', 'CardExpired']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/rooms', '/bookings', '/bookings/{id}']),
      field('http.request.method', ['GET', 'POST', 'PATCH']),
      field('http.response.status_code', ['200', '201', '409', '500'], 4, 'number'),
      field('db.system.name', ['postgresql', 'redis']),
      field('hotel', hotels),
      field('room.class', ['single', 'double', 'suite']),
      field('rooms.found', [], 200, 'number'),
      ...resource,
    ],
    ['hold room', 'charge card'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/rooms', '/bookings'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['ber-1', 'ber-2'] }),
    metric('system.memory.usage', 'gauge', 'By', { 'resource.host.name': ['ber-1', 'ber-2'] }),
    metric('bookings.made', 'counter', '{booking}', { hotel: hotels }),
    metric('bookings.cancelled', 'counter', '{booking}', { hotel: hotels }),
    metric('rooms.occupied', 'gauge', '{room}', { hotel: hotels }),
    metric('mail.queue.size', 'gauge', '{mail}', {}),
    metric('door.locks.offline', 'gauge', '{lock}', { hotel: hotels }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const hotelQuestions: readonly QuestionCase[] = [
  ['bookings made in prague yesterday', 'metric bookings.made increase/sum [hotel:prague] 10T00:00..11T00:00'],
  ['how many bookings were cancelled this week', 'metric bookings.cancelled increase/sum 09T00:00..11T10:30'],
  ['cancellations per hotel', 'metric bookings.cancelled increase/sum by hotel'],
  ['rooms occupied right now in lisbon', 'metric rooms.occupied last/sum [hotel:lisbon]'],
  ['total number of occupied rooms', 'metric rooms.occupied avg/sum'],
  ['what is the size of the mail queue', 'metric mail.queue.size avg/sum'],
  ['offline door locks by hotel since 6am', 'metric door.locks.offline avg/sum by hotel 11T06:00..11T10:30'],
  ['how many guests checked in', 'refused unknown-name'],
  [
    'declined payments today',
    [
      'logs rows [payment.result:declined service:payments] 11T00:00..11T10:30',
      'logs rows [payment.result:declined] 11T00:00..11T10:30',
    ],
  ],
  ['declined cards by hotel', 'refused unknown-name'],
  ['refunded bookings of agencies', 'logs rows [booking.channel:agency payment.result:refunded]'],
  ['RoomTaken errors by booking channel', 'logs count [exception.type:RoomTaken severity:>=error] by booking.channel'],
  ['stays longer than 7 nights', 'refused unknown-name'],
  ['logs with more than 7 nights', 'logs rows [nights:>7]'],
  ['average nights by hotel', 'logs avg(nights) by hotel'],
  ['show everything about booking b-700', 'logs rows [booking.id:b-700]'],
  [
    'which hotel has the slowest search',
    [
      'traces avg(duration) [hotel:* service:search] by hotel limit 10',
      'traces p95(duration) [hotel:* service:search] by hotel limit 10',
    ],
  ],
  ['p95 latency of booking by room class', 'traces p95(duration) [kind:server service:booking] by room.class'],
  [
    'how often did POST /bookings return 409 today',
    'traces count [http.request.method:POST http.response.status_code:409 http.route:"/bookings" kind:server] 11T00:00..11T10:30',
  ],
  ['conflicts on /bookings', 'traces rows [http.response.status_code:409 http.route:"/bookings" kind:server]'],
  ['suites requested in berlin', 'refused unknown-name'],
  ['requests for suites in berlin', 'traces rows [hotel:berlin kind:server room.class:suite]'],
  ['99th percentile of charge card', 'traces p99(duration) [name:"charge card"]'],
  [
    'redis time of rooms',
    [
      'traces avg(duration) [db.system.name:redis service:rooms]',
      'traces p95(duration) [db.system.name:redis service:rooms]',
    ],
  ],
  ['failed payments', 'traces rows [service:payments status:error]'],
  ['did payments get slower after version 2.1.0', 'refused unknown-name'],
  ['is ber-1 overloaded', 'refused unknown-name'],
  ['what will occupancy be next weekend', 'refused forecast'],
  ['cancel booking b-701', 'refused unknown-name'],
  ['guests with errors in the guest-app', 'logs count [service:guest-app severity:>=error] by guest.id'],
];
