/** A ride-hailing company, and the questions of five of its employees. */
import { field, metric, nowMs, type Persons, signal } from '../question-case.ts';

const services = ['matcher', 'pricing', 'driver-location', 'trip-ledger', 'rider-app-bff', 'eta-service'];
const resource = [
  field('resource.host.name', ['ride-eu-1', 'ride-eu-2']),
  field('resource.service.version', ['7.0.3', '7.1.0']),
  field('resource.k8s.namespace.name', ['rides', 'platform']),
];

export const rides = {
  logs: signal(services, [
    field('city', ['porto', 'tallinn', 'lyon']),
    field('vehicle.class', ['economy', 'premium', 'van']),
    field('trip.status', ['completed', 'cancelled', 'noshow']),
    field('driver.id', ['d-1', 'd-2'], 12_000),
    field('rider.id', ['r-1', 'r-2'], 90_000),
    field('fare', [], 5_000, 'number'),
    field('exception.type', ['NoDriverFound', 'GeoTimeout', 'FareMismatch']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/trips', '/trips/{id}', '/estimates', '/drivers/{id}/location', '/promotions']),
      field('http.request.method', ['GET', 'POST', 'PUT']),
      field('http.response.status_code', ['200', '201', '400', '404', '409', '429', '500', '503'], 8, 'number'),
      field('db.system.name', ['cassandra', 'redis', 'postgresql']),
      field('city', ['porto', 'tallinn', 'lyon']),
      field('client.platform', ['ios', 'android']),
      ...resource,
    ],
    ['rank drivers', 'compute surge'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/trips', '/estimates'] }),
    metric('trips.completed', 'counter', '{trip}', {
      city: ['porto', 'tallinn', 'lyon'],
      'vehicle.class': ['economy', 'premium', 'van'],
    }),
    metric('drivers.online', 'gauge', '{driver}', { city: ['porto', 'tallinn', 'lyon'] }),
    metric('surge.multiplier', 'gauge', '1', { city: ['porto', 'tallinn', 'lyon'] }),
    metric('payout.amount', 'counter', 'EUR', { city: ['porto', 'tallinn', 'lyon'] }),
    metric('kafka.consumer.lag', 'gauge', '{message}', { topic: ['locations', 'payouts'] }),
    metric('k8s.container.restarts', 'gauge', '{restart}', { 'k8s.namespace.name': ['rides', 'platform'] }),
    metric('system.network.io', 'counter', 'By', {
      'host.name': ['ride-eu-1', 'ride-eu-2'],
      direction: ['receive', 'transmit'],
    }),
  ],
  deployments: [
    { service: 'pricing', version: '7.1.0', atMs: nowMs - 85 * 60_000 },
    { service: 'matcher', version: '7.1.0', atMs: nowMs - 1_245 * 60_000 },
    { service: 'rider-app-bff', version: '7.1.0', atMs: nowMs - 35 * 60_000 },
  ],
};

export const ridesPersons: Persons = {
  operator: [
    [
      '5xx pricing since last deployment',
      'traces rows [http.response.status_code:[500 TO 599] kind:server service:pricing] 11T09:05..11T10:30',
    ],
    ['p95 matcher by city', 'traces p95(duration) [kind:server service:matcher] by city'],
    ['why is eta-service slow', 'cause eta-service'],
    ['what changed in pricing in the last 2 hours', 'changes pricing 11T08:30..11T10:30'],
    ['consumer lag by topic now', 'metric kafka.consumer.lag last/sum by topic'],
    [
      'restarts of namespace rides in the last 24 hours',
      'growth k8s.container.restarts [k8s.namespace.name:rides] 10T10:30..11T10:30',
    ],
    ['error logs of the rider app bff, latest first', 'logs rows [service:rider-app-bff severity:>=error]'],
    [
      'error rate by route last 10 minutes',
      'share traces [status:error] of [kind:server] by http.route 11T10:20..11T10:30',
    ],
    ['429s per minute', 'traces count [http.response.status_code:429 kind:server] each 1m'],
    ['network io by direction', 'metric system.network.io increase/sum by direction'],
    [
      'slowest cassandra calls',
      'traces max(duration) [db.system.name:cassandra kind:client] by service,name,traceId,spanId limit 10',
    ],
    ['requests per second of driver-location', 'traces rate [kind:server service:driver-location]'],
    ['GeoTimeout by host since 9:00', 'logs count [exception.type:GeoTimeout] by host.name 11T09:00..11T10:30'],
    ['what changed since the last deployment of matcher', 'changes matcher 10T13:45..11T10:30'],
    ['noisiest services by warnings', 'logs count [severity:warn] by service limit 10'],
  ],
  developer: [
    [
      'how many NoDriverFound exceptions did the matcher throw in porto',
      'logs count [city:porto exception.type:NoDriverFound service:matcher]',
    ],
    ['duration of rank drivers, p50 and p99', 'traces p50(duration),p99(duration) [name:"rank drivers"]'],
    ['compute surge spans with errors in lyon', 'traces rows [city:lyon name:"compute surge" status:error]'],
    [
      'PUT requests to /drivers/{id}/location that took longer than 200 ms',
      'traces rows [duration:>200ms http.request.method:PUT http.route:"/drivers/{id}/location" kind:server]',
    ],
    ['logs of trip-ledger containing "double entry"', 'logs rows ["double entry" service:trip-ledger]'],
    [
      'error rate of pricing after the deployment compared with before',
      'share traces [status:error] of [kind:server service:pricing] 11T09:05..11T10:30 than 11T07:40..11T09:05',
    ],
    [
      'compare the p95 latency of 7.0.3 and 7.1.0 for pricing',
      'traces p95(duration) [kind:server service.version:(7.0.3 OR 7.1.0) service:pricing] by service.version',
    ],
    ['postgres calls by service', 'traces count [db.system.name:postgresql kind:client] by service'],
    ['traces of the eta service longer than 3s', 'traces rows [NOT parentSpanId:* duration:>3s service:eta-service]'],
    ['FareMismatch exceptions per hour today', 'logs count [exception.type:FareMismatch] each 1h 11T00:00..11T10:30'],
    ['why does the matcher return errors since 10', 'cause matcher 11T10:00..11T10:30'],
    [
      'which endpoint fails most on android',
      'traces count [client.platform:android http.route:* kind:server status:error] by http.route limit 10',
    ],
    [
      'top 5 exception types of the last week',
      'logs count [exception.type:*] by exception.type limit 5 04T10:30..11T10:30',
    ],
    ['warn logs of matcher and pricing', 'logs rows [service:(matcher OR pricing) severity:warn]'],
    [
      'redis latency by service',
      [
        'traces avg(duration) [db.system.name:redis] by service',
        'traces p95(duration) [db.system.name:redis] by service',
      ],
    ],
  ],
  manager: [
    [
      'How many trips were completed in Tallinn yesterday?',
      [
        'logs count [city:tallinn trip.status:completed] 10T00:00..11T00:00',
        'metric trips.completed increase/sum [city:tallinn] 10T00:00..11T00:00',
      ],
    ],
    ['How many drivers are online right now?', 'metric drivers.online last/sum'],
    ['Which city has the most drivers online?', 'metric drivers.online avg/sum by city limit 10'],
    [
      'Completed trips this week compared with last week',
      [
        'logs count [trip.status:completed] 09T00:00..11T10:30 than 02T00:00..09T00:00',
        'metric trips.completed increase/sum 09T00:00..11T10:30 than 02T00:00..09T00:00',
      ],
    ],
    ['What is the surge multiplier in Porto?', 'metric surge.multiplier avg/avg [city:porto]'],
    ['Why are riders getting errors?', 'refused cause'],
    ['Why has the pricing been slow since this morning?', 'cause pricing 11T00:00..11T10:30'],
    ['What changed yesterday?', 'changes * 10T00:00..11T00:00'],
    ['How much did we pay out last month?', 'refused unknown-name'],
    [
      'What is the payout amount per city for last week?',
      'metric payout.amount increase/sum by city 02T00:00..09T00:00',
    ],
    ['What percentage of trips were cancelled?', 'share logs [trip.status:cancelled] of [trip.status:*]'],
    [
      'How many estimates failed today?',
      'traces count [http.route:"/estimates" kind:server status:error] 11T00:00..11T10:30',
    ],
    ['Will we have enough drivers tomorrow?', 'refused forecast'],
    [
      'Could you show me the number of requests per day for this month, please?',
      'traces count [kind:server] each 1d 01T00:00..11T10:30',
    ],
    ['Delete the trips of rider r-1', 'refused change'],
  ],
  support: [
    ['logs of rider r-55021 since yesterday', 'logs rows [rider.id:r-55021] 10T00:00..11T10:30'],
    ['errors for driver d-2', 'logs rows [driver.id:d-2 severity:>=error]'],
    ['cancelled trips in porto today', 'logs rows [city:porto trip.status:cancelled] 11T00:00..11T10:30'],
    ['how many noshow trips per city', 'logs count [trip.status:noshow] by city'],
    [
      'which drivers have the most cancelled trips',
      'logs count [driver.id:* trip.status:cancelled] by driver.id limit 10',
    ],
    [
      'first error log of trip ledger today',
      'logs rows [service:trip-ledger severity:>=error] oldest limit 1 11T00:00..11T10:30',
    ],
    [
      'requests from ios with 503 in the last hour',
      'traces rows [client.platform:ios http.response.status_code:503 kind:server]',
    ],
    ['is the app broken', 'refused unknown-name'],
    ['what is wrong with pricing', 'cause pricing'],
    [
      'promotions that returned 409 yesterday',
      'traces rows [http.response.status_code:409 http.route:"/promotions" kind:server] 10T00:00..11T00:00',
    ],
    ['average fare of premium trips in lyon', 'logs avg(fare) [city:lyon vehicle.class:premium]'],
    ['highest fare today', 'logs max(fare) 11T00:00..11T10:30'],
    ['logs mentioning refund', 'logs rows ["refund"]'],
    [
      'how long did requests to /trips take yesterday evening',
      [
        'traces avg(duration) [http.route:"/trips" kind:server] 10T18:00..11T00:00',
        'traces p95(duration) [http.route:"/trips" kind:server] 10T18:00..11T00:00',
      ],
    ],
    ['who cancelled the trip', 'refused elsewhere'],
  ],
  analyst: [
    [
      'trips completed by city and vehicle class yesterday',
      [
        'logs count [trip.status:completed] by city,vehicle.class 10T00:00..11T00:00',
        'metric trips.completed increase/sum by city,vehicle.class 10T00:00..11T00:00',
      ],
    ],
    ['average fare by vehicle class and city', 'logs avg(fare) by vehicle.class,city'],
    ['p90 fare in tallinn', 'logs p90(fare) [city:tallinn]'],
    ['distinct riders per city in the last 7 days', 'logs distinct(rider.id) by city 04T10:30..11T10:30'],
    ['peak drivers online by city yesterday', 'metric drivers.online max/max by city 10T00:00..11T00:00'],
    ['share of requests over 500 ms by city', 'share traces [duration:>500ms] of [kind:server] by city'],
    ['payout amount per hour in lyon as a chart', 'metric payout.amount increase/sum [city:lyon] each 1h'],
    [
      'compare completed trips of porto and lyon',
      [
        'logs count [city:(porto OR lyon) trip.status:completed] by city',
        'metric trips.completed increase/sum [city:(porto OR lyon)] by city',
      ],
    ],
    ['total fare per city since Monday', 'logs sum(fare) by city 09T00:00..11T10:30'],
    ['requests by platform and route', 'refused unclear'],
    [
      'error rate on android vs ios',
      'share traces [status:error] of [client.platform:(android OR ios) kind:server] by client.platform',
    ],
    ['logs by trip status per hour today', 'logs count by trip.status each 1h 11T00:00..11T10:30'],
    ['mean surge multiplier by city, last week', 'metric surge.multiplier avg/avg by city 02T00:00..09T00:00'],
    ['total surge multiplier', 'refused unclear'],
    ['correlation of fare and surge', 'refused unknown-name'],
  ],
};
