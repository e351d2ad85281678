/** Questions about a bus company. Written before the grammar parsed them */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = [
  'timetable',
  'ticketing',
  'vehicle-tracker',
  'fare-engine',
  'mobile-api',
  'journey-planner',
  'crew-app',
  'refunds',
];
const resource = [
  field('resource.host.name', ['bus-core-1', 'bus-core-2']),
  field('resource.service.version', ['8.1', '8.2']),
  field('resource.deployment.environment.name', ['live', 'test']),
  field('resource.k8s.cluster.name', ['north', 'south']),
];
export const transit = {
  logs: signal(services, [
    field('route.id', ['42', 'X7', 'N11'], 300),
    field('vehicle.id', ['V-100', 'V-200'], 900),
    field('ticket.type', ['single', 'day', 'season']),
    field('event.name', ['departure_late', 'trip_cancelled', 'door_fault', 'refund_requested']),
    field('exception.type', ['GpsLostError', 'FareNotFoundException', 'ConnectionResetError']),
    field('delay.minutes', [], 200, 'number'),
    field('depot', ['east', 'west']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/tickets', '/tickets/{id}', '/journeys', '/departures/{stop}', '/refunds']),
      field('http.request.method', ['GET', 'POST']),
      field('http.response.status_code', ['200', '201', '400', '404', '409', '500', '502', '503'], 8, 'number'),
      field('db.system.name', ['postgresql', 'cassandra']),
      field('ticket.type', ['single', 'day', 'season']),
      field('depot', ['east', 'west']),
      field('client.os', ['ios', 'android']),
      ...resource,
    ],
    ['POST /tickets', 'plan journey', 'publish position'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/tickets', '/journeys'] }),
    metric('tickets.sold', 'counter', '{ticket}', { 'ticket.type': ['single', 'day', 'season'] }),
    metric('tickets.revenue', 'counter', 'GBP', { 'ticket.type': ['single', 'day', 'season'] }),
    metric('buses.in_service', 'gauge', '{bus}', { depot: ['east', 'west'] }),
    metric('bus.delay', 'histogram', 'min', { depot: ['east', 'west'] }),
    metric('bus.battery.level', 'gauge', '%', { 'vehicle.id': ['V-100', 'V-200'] }),
    metric('passengers.counted', 'counter', '{passenger}', { route: ['42', 'X7'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': ['bus-core-1', 'bus-core-2'] }),
    metric('system.memory.usage', 'gauge', 'By', {
      'host.name': ['bus-core-1', 'bus-core-2'],
      state: ['used', 'free'],
    }),
    metric('k8s.pod.memory.usage', 'gauge', 'By', { 'k8s.pod.name': ['ticketing-aa', 'refunds-bb'] }),
    metric('redis.memory.used', 'gauge', 'By', {}),
    metric('mqtt.messages.received', 'counter', '{message}', { topic: ['positions'] }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const transitQuestions: readonly QuestionCase[] = [
  ['how many tickets did we sell today', 'metric tickets.sold increase/sum 11T00:00..11T10:30'],
  ['revenue by ticket type last week', 'metric tickets.revenue increase/sum by ticket.type 02T00:00..09T00:00'],
  ['how many buses are in service at the east depot', 'metric buses.in_service avg/sum [depot:east]'],
  [
    'average delay of the west depot this morning',
    [
      'logs avg(delay.minutes) [depot:west] 11T00:00..11T10:30',
      'metric bus.delay avg/sum [depot:west] 11T00:00..11T10:30',
    ],
  ],
  ['which bus has the lowest battery', 'metric bus.battery.level avg/avg by vehicle.id ascending limit 10'],
  [
    'battery level of V-100 over the last day',
    'metric bus.battery.level avg/avg [vehicle.id:V-100] 10T10:30..11T10:30',
  ],
  ['passengers on the X7 yesterday', 'metric passengers.counted increase/sum [route:X7] 10T00:00..11T00:00'],
  ['door faults per vehicle this week', 'logs count [event.name:door_fault] by vehicle.id 09T00:00..11T10:30'],
  ['late departures by depot today', 'logs count [event.name:departure_late] by depot 11T00:00..11T10:30'],
  ['cancelled trips since Monday', 'logs rows [event.name:trip_cancelled] 09T00:00..11T10:30'],
  ['gps losses by vehicle', 'logs count [exception.type:GpsLostError] by vehicle.id'],
  [
    'errors in the fare engine',
    ['logs rows [service:fare-engine severity:>=error]', 'traces rows [service:fare-engine status:error]'],
  ],
  [
    'what is the error rate of ticketing compared to yesterday',
    'share traces [status:error] of [kind:server service:ticketing] than 10T09:30..10T10:30',
  ],
  ['p90 latency of journey planning', 'traces p90(duration) [kind:server service:journey-planner]'],
  [
    'slowest routes of mobile-api',
    [
      'traces avg(duration) [http.route:* service:mobile-api] by http.route limit 10',
      'traces p95(duration) [http.route:* service:mobile-api] by http.route limit 10',
    ],
  ],
  ['how long does it take to buy a ticket', 'refused unknown-name'],
  ['failed ticket purchases from android', 'refused unknown-name'],
  [
    'requests to /departures that took longer than 1s',
    'traces rows [duration:>1s http.route:"/departures/{stop}" kind:server]',
  ],
  [
    'which depot has the most delays over 10 minutes',
    [
      'logs count [delay.minutes:>10 depot:*] by depot limit 10',
      'metric bus.delay avg/sum by depot having >10 limit 10',
      'metric bus.delay quantile 0.95/sum by depot having >10 limit 10',
    ],
  ],
  ['memory usage of ticketing', 'metric k8s.pod.memory.usage avg/sum [k8s.pod.name:ticketing-*]'],
  [
    'cpu of bus-core-2 in the last 6 hours',
    'metric system.cpu.utilization avg/avg [host.name:bus-core-2] 11T04:30..11T10:30',
  ],
  ['used memory by host', 'refused unknown-name'],
  ['position messages per second', 'refused unknown-name'],
  [
    'refund requests per hour yesterday',
    [
      'logs count [event.name:refund_requested] each 1h 10T00:00..11T00:00',
      'traces count [http.route:"/refunds" kind:server] each 1h 10T00:00..11T00:00',
    ],
  ],
  ['why are refunds failing', 'cause refunds'],
  ['why is ticketing slow', 'cause ticketing'],
  ['what happened to the vehicle tracker at 7:30', 'cause vehicle-tracker 11T07:30..11T07:31'],
  ['average delay in minutes by route', 'logs avg(delay.minutes) by route.id'],
  ['connection resets in the north cluster', 'logs rows [exception.type:ConnectionResetError k8s.cluster.name:north]'],
  ['traces that failed in journey-planner', 'traces rows [NOT parentSpanId:* service:journey-planner status:error]'],
  ['how many 404s for journeys', 'traces count [http.response.status_code:404 http.route:"/journeys" kind:server]'],
  [
    'day tickets sold per hour today as a line chart',
    'metric tickets.sold increase/sum [ticket.type:day] each 1h 11T00:00..11T10:30',
  ],
  ['share of season tickets', 'share traces [ticket.type:season] of [kind:server]'],
  ['compare ios and android errors', 'traces count [client.os:(ios OR android) kind:server status:error] by client.os'],
  [
    'errors by version since yesterday',
    [
      'logs count [severity:>=error] by service.version 10T00:00..11T10:30',
      'traces count [kind:server status:error] by service.version 10T00:00..11T10:30',
    ],
  ],
  [
    'most used routes',
    ['logs count [route.id:*] by route.id limit 10', 'traces count [http.route:*] by http.route limit 10'],
  ],
  [
    'cassandra queries slower than 50ms per service',
    'traces count [db.system.name:cassandra duration:>50ms] by service',
  ],
  ['logs from V-200 after 9pm yesterday', 'logs rows [vehicle.id:V-200] 10T21:00..11T00:00'],
  ['how many vehicles reported gps errors', 'refused unknown-name'],
  ['is redis memory growing', 'metric redis.memory.used avg/sum each 30000'],
  ['total revenue this month', 'metric tickets.revenue increase/sum 01T00:00..11T10:30'],
  ['median request duration by client os', 'traces p50(duration) [kind:server] by client.os'],
  ['show trip cancellations of depot east', 'logs rows [depot:east event.name:trip_cancelled]'],
  [
    'top 10 vehicles by number of door faults',
    'logs count [event.name:door_fault vehicle.id:*] by vehicle.id limit 10',
  ],
  [
    'was there a spike in errors last night',
    [
      'logs count [severity:>=error] each 5m 10T18:00..11T06:00',
      'traces count [kind:server status:error] each 5m 10T18:00..11T06:00',
    ],
  ],
];
