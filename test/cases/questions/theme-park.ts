/** A theme park. The questions were written before the grammar parsed any of them. */
import { field, metric, nowMs, type QuestionCase, signal } from './question-case.ts';

const services = [
  'ticket-shop',
  'gate-control',
  'ride-monitor',
  'photo-store',
  'parking-api',
  'food-orders',
  'staff-planner',
];
const hosts = ['park-01', 'park-02'];
const rides = ['dragon', 'carousel', 'waterfall'];
const areas = ['jungle', 'castle', 'harbor'];
const resource = [
  field('resource.host.name', hosts),
  field('resource.service.version', ['3.14.0', '3.15.0']),
  field('resource.deployment.environment.name', ['production', 'staging']),
];

export const themePark = {
  logs: signal(services, [
    field('ride', rides),
    field('area', areas),
    field('visitor.id', ['v-1', 'v-2'], 60_000),
    field('ticket.type', ['day', 'season', 'group']),
    field('gate', ['north', 'south']),
    field('stop.reason', ['sensor', 'weather', 'operator']),
    field('scan.result', ['valid', 'expired', 'duplicate']),
    field('order.total', [], 400, 'number'),
    field('stop.seconds', [], 900, 'number'),
    field('exception.type', ['TicketExpired', 'CameraOffline', 'PaymentTimeout', 'GatewayTimeout']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/tickets', '/tickets/{id}', '/photos', '/orders', '/parking/spots']),
      field('http.request.method', ['GET', 'POST', 'PUT']),
      field('http.response.status_code', ['200', '201', '403', '404', '422', '500', '503'], 7, 'number'),
      field('db.system.name', ['mysql', 'redis']),
      field('ticket.type', ['day', 'season', 'group']),
      field('area', areas),
      field('photo.size', [], 5_000, 'number'),
      ...resource,
    ],
    ['open gate', 'develop photo', 'charge card'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/tickets', '/photos'] }),
    metric('visitors.present', 'gauge', '{visitor}', { area: areas }),
    metric('tickets.scanned', 'counter', '{ticket}', {
      gate: ['north', 'south'],
      'ticket.type': ['day', 'season', 'group'],
    }),
    metric('ride.waiting.time', 'gauge', 'min', { ride: rides }),
    metric('ride.emergency.stops', 'counter', '{stop}', { ride: rides }),
    metric('ride.speed', 'gauge', 'km/h', { ride: rides }),
    metric('water.temperature', 'gauge', 'Cel', { pool: ['p1', 'p2'] }),
    metric('parking.spots.free', 'gauge', '{spot}', { lot: ['a', 'b', 'c'] }),
    metric('photos.sold', 'counter', '{photo}', { ride: rides }),
    metric('food.revenue', 'counter', 'EUR', { area: areas }),
    metric('order.preparation.time', 'histogram', 's', { area: areas }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': hosts }),
    metric('system.memory.usage', 'gauge', 'By', { 'host.name': hosts, state: ['used', 'free', 'buffered'] }),
    metric('system.filesystem.utilization', 'gauge', '1', { 'host.name': hosts, mountpoint: ['/', '/photos'] }),
    metric('mysql.connection.count', 'gauge', '{connection}', { 'host.name': hosts }),
    metric('k8s.container.restarts', 'gauge', '{restart}', { 'k8s.pod.name': ['gate-control-9a', 'photo-store-1c'] }),
  ],
  deployments: [
    { service: 'photo-store', version: '3.15.0', atMs: nowMs - 75 * 60_000 },
    { service: 'gate-control', version: '3.15.0', atMs: nowMs - 34 * 3_600_000 },
  ],
};

const meanAndP95 = (rest: string) => [`traces avg(duration) ${rest}`, `traces p95(duration) ${rest}`];

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const themeParkQuestions: readonly QuestionCase[] = [
  ['how many visitors are in the castle area right now', 'metric visitors.present last/sum [area:castle]'],
  ['visitors present by area', 'metric visitors.present avg/sum by area'],
  ['tickets scanned at the north gate today', 'metric tickets.scanned increase/sum [gate:north] 11T00:00..11T10:30'],
  [
    'how many season tickets were scanned last weekend',
    'metric tickets.scanned increase/sum [ticket.type:season] 07T00:00..09T00:00',
  ],
  [
    'which gate scanned more tickets yesterday',
    'metric tickets.scanned increase/sum by gate limit 10 10T00:00..11T00:00',
  ],
  ['waiting time of the dragon', 'metric ride.waiting.time avg/avg [ride:dragon]'],
  ['rides with a waiting time over 40 minutes', 'metric ride.waiting.time avg/avg by ride having >40'],
  [
    'how many rides have a waiting time of more than half an hour',
    'metric ride.waiting.time avg/avg by ride having >30',
  ],
  ['longest waiting time by ride today', 'metric ride.waiting.time max/max by ride 11T00:00..11T10:30'],
  [
    'did the carousel have any emergency stops this week',
    'metric ride.emergency.stops increase/sum [ride:carousel] 09T00:00..11T10:30',
  ],
  [
    'rides with at least 2 emergency stops since Monday',
    'metric ride.emergency.stops increase/sum by ride having >=2 09T00:00..11T10:30',
  ],
  ['top speed of the dragon yesterday', 'metric ride.speed max/max [ride:dragon] 10T00:00..11T00:00'],
  ['which pool is the coldest', 'metric water.temperature min/min by pool'],
  ['is the water in p1 colder than in p2', 'refused comparison'],
  ['free parking spots per lot', 'metric parking.spots.free avg/sum by lot'],
  ['lots with fewer than 20 free spots now', 'metric parking.spots.free last/sum by lot having <20'],
  ['photos sold per ride last week', 'metric photos.sold increase/sum by ride 02T00:00..09T00:00'],
  [
    'food revenue in the jungle yesterday between noon and 2pm',
    'metric food.revenue increase/sum [area:jungle] 10T12:00..10T14:00',
  ],
  [
    'how does food revenue today compare with yesterday',
    'metric food.revenue increase/sum 11T00:00..11T10:30 than 10T00:00..11T00:00',
  ],
  ['p95 order preparation time per area', 'metric order.preparation.time quantile 0.95/sum by area'],
  [
    'areas where preparing an order takes more than 10 minutes',
    [
      'metric order.preparation.time avg/sum by area having >600',
      'metric order.preparation.time quantile 0.95/sum by area having >600',
    ],
  ],
  [
    'areas with an average order preparation time above 10 minutes',
    'metric order.preparation.time avg/sum by area having >600',
  ],
  [
    'which hosts are using more than 80% of their cpu',
    'metric system.cpu.utilization avg/avg by host.name having >0.8',
  ],
  [
    'cpu of park-02 over the last 12 hours as a chart',
    'metric system.cpu.utilization avg/avg [host.name:park-02] each 5m 10T22:30..11T10:30',
  ],
  ['how much free memory does park-01 have', 'metric system.memory.usage avg/sum [host.name:park-01 state:free]'],
  ['buffered memory by host', 'metric system.memory.usage avg/sum [state:buffered] by host.name'],
  ['is /photos more than 90% full', 'refused unclear'],
  ['mysql connections per host', 'metric mysql.connection.count avg/sum by host.name'],
  [
    'which pod restarted most often this week',
    'growth k8s.container.restarts by k8s.pod.name limit 10 09T00:00..11T10:30',
  ],
  ['expired tickets by gate', 'logs count [exception.type:TicketExpired] by gate'],
  ['how many scans were duplicates today', 'logs count [scan.result:duplicate] 11T00:00..11T10:30'],
  ['duplicate scans at the south gate', 'logs rows [gate:south scan.result:duplicate]'],
  [
    'stops by reason and ride',
    ['logs avg(stop.seconds) by stop.reason,ride', 'logs p95(stop.seconds) by stop.reason,ride'],
  ],
  ['how often did the dragon stop because of weather', 'logs count [ride:dragon stop.reason:weather]'],
  [
    'rides with more than 10 sensor stops this month',
    [
      'logs avg(stop.seconds) [ride:* stop.reason:sensor] by ride having >10 01T00:00..11T10:30',
      'logs count [ride:* stop.reason:sensor] by ride having >10 01T00:00..11T10:30',
      'logs p95(stop.seconds) [ride:* stop.reason:sensor] by ride having >10 01T00:00..11T10:30',
    ],
  ],
  ['offline cameras in the last 2 hours', 'logs rows [exception.type:CameraOffline] 11T08:30..11T10:30'],
  ['timeouts by exception type', 'logs count [exception.type:(PaymentTimeout OR GatewayTimeout)] by exception.type'],
  ['average order total by area', 'logs avg(order.total) by area'],
  ['orders with a total above 100', 'refused unclear'],
  ['logs of visitor v-5512', 'logs rows [visitor.id:v-5512]'],
  ['number of different visitors with errors today', 'logs distinct(visitor.id) [severity:>=error] 11T00:00..11T10:30'],
  ['top 5 visitors by number of warnings', 'logs count [severity:warn visitor.id:*] by visitor.id limit 5'],
  ['log lines of the photo store containing "disk full"', 'logs rows ["disk full" service:photo-store]'],
  [
    'error logs per service and hour since midnight',
    'logs count [severity:>=error] by service each 1h 11T00:00..11T10:30',
  ],
  ['failed ticket purchases', 'refused unknown-name'],
  [
    'failed POST /tickets requests by ticket type',
    'traces count [http.request.method:POST http.route:"/tickets" kind:server status:error] by ticket.type',
  ],
  [
    'how many 422s did the ticket shop send back this morning',
    'traces count [http.response.status_code:422 kind:server service:ticket-shop] 11T00:00..11T10:30',
  ],
  ['success rate of food orders', 'share traces [NOT status:error] of [kind:server service:food-orders]'],
  ['slowest photos', 'traces max(duration) [http.route:"/photos" kind:server] by service,name,traceId,spanId limit 10'],
  ['average photo size by area', 'traces avg(photo.size) by area'],
  ['how long does it take to develop a photo', meanAndP95('[name:"develop photo"]')],
  ['p99 of charge card in the castle', 'traces p99(duration) [area:castle name:"charge card"]'],
  [
    'services with a p95 above 800 ms in staging',
    'traces p95(duration) [deployment.environment.name:staging kind:server] by service having >800000000',
  ],
  [
    'error rate of the photo store since its last deployment',
    'share traces [status:error] of [kind:server service:photo-store] 11T09:15..11T10:30',
  ],
  [
    'latency of photo store by version since the last deployment',
    meanAndP95('[kind:server service:photo-store] by service.version 11T09:15..11T10:30'),
  ],
  ['why are there so many errors in gate control', 'cause gate-control'],
  ['what is wrong with parking', 'cause parking-api'],
  ['what changed in the ticket shop since 8am', 'changes ticket-shop 11T08:00..11T10:30'],
  [
    'what about the waterfall',
    'metric photos.sold increase/sum [ride:waterfall] 11T00:00..11T10:30',
    ['photos sold on the dragon today'],
  ],
  [
    'as a chart per hour',
    'logs count [service:photo-store severity:>=error] each 1h 11T00:00..11T10:30',
    ['how many error logs did photo store write today'],
  ],
];
