/**
 * Questions in ordinary English over four domains, with the expected query of each. A third, chosen by a hash of the
 * question, is held out of development: only its success rates are inspected.
 */
import { hash } from 'node:crypto';
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const resource = (hosts: readonly string[]) => [
  field('resource.host.name', hosts),
  field('resource.service.version', ['1.8.0', '1.9.0']),
  field('resource.deployment.environment.name', ['production', 'staging']),
];
const statusCodes = field('http.response.status_code', ['200', '201', '400', '404', '500', '503'], 6, 'number');
const methods = field('http.request.method', ['GET', 'POST', 'DELETE']);

const chargingServices = ['session-manager', 'tariff-engine', 'billing', 'station-gateway', 'driver-app'];
const charging = {
  logs: signal(chargingServices, [
    field('station.id', ['st-100', 'st-101'], 9_000),
    field('connector.type', ['ccs', 'chademo', 'type2']),
    field('session.outcome', ['completed', 'aborted', 'rejected']),
    field('energy.kwh', [], 5_000, 'number'),
    field('exception.type', ['MeterTimeout', 'CardRejected']),
    ...resource(['edge-1', 'edge-2']),
  ]),
  traces: signal(
    chargingServices,
    [
      field('http.route', ['/sessions', '/sessions/{id}', '/tariffs', '/invoices']),
      methods,
      statusCodes,
      field('db.system.name', ['postgresql', 'redis']),
      field('db.collection.name', ['sessions', 'invoices']),
      field('country', ['NO', 'SE', 'DK']),
      ...resource(['edge-1', 'edge-2']),
    ],
    ['authorize card', 'start charge'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/sessions', '/tariffs'] }),
    metric('energy.delivered', 'counter', 'kWh', { country: ['NO', 'SE', 'DK'] }),
    metric('connectors.occupied', 'gauge', '{connector}', { country: ['NO', 'SE', 'DK'] }),
    metric('transformer.temperature', 'gauge', 'Cel', { station: ['st-100', 'st-101'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['edge-1', 'edge-2'] }),
    metric('system.memory.usage', 'gauge', 'By', { 'host.name': ['edge-1', 'edge-2'], state: ['used', 'free'] }),
  ],
};

const streamingServices = ['catalog', 'playback', 'recommendations', 'transcoder', 'auth'];
const streaming = {
  logs: signal(streamingServices, [
    field('device.type', ['tv', 'phone', 'web']),
    field('title.id', ['t-1', 't-2'], 40_000),
    field('member.plan', ['basic', 'premium']),
    field('exception.type', ['DecodeError', 'LicenseDenied']),
    field('bitrate', [], 300, 'number'),
    ...resource(['cdn-1', 'cdn-2']),
  ]),
  traces: signal(
    streamingServices,
    [
      field('http.route', ['/watch/{id}', '/search', '/login', '/titles']),
      methods,
      statusCodes,
      field('db.system.name', ['mongodb', 'redis']),
      field('device.type', ['tv', 'phone', 'web']),
      field('member.plan', ['basic', 'premium']),
      ...resource(['cdn-1', 'cdn-2']),
    ],
    ['load manifest', 'rank titles'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/search', '/login'] }),
    metric('streams.started', 'counter', '{stream}', { 'device.type': ['tv', 'phone', 'web'] }),
    metric('streams.active', 'gauge', '{stream}', { 'device.type': ['tv', 'phone', 'web'] }),
    metric('buffer.ratio', 'gauge', '1', { 'device.type': ['tv', 'phone', 'web'] }),
    metric('k8s.container.restarts', 'gauge', '{restart}', { 'k8s.namespace.name': ['media', 'edge'] }),
    metric('kafka.consumer.lag', 'gauge', '{message}', { topic: ['views', 'ratings'] }),
  ],
};

const farmServices = ['irrigation', 'harvest-planner', 'sensor-hub', 'greenhouse-api'];
const farm = {
  logs: signal(farmServices, [
    field('greenhouse', ['g1', 'g2', 'g3']),
    field('crop', ['tomato', 'basil', 'pepper']),
    field('valve.state', ['open', 'shut', 'stuck']),
    field('exception.type', ['SensorOffline', 'ValveStuck']),
    field('liters', [], 900, 'number'),
    ...resource(['shed-a', 'shed-b']),
  ]),
  traces: signal(
    farmServices,
    [
      field('http.route', ['/schedules', '/valves/{id}', '/readings']),
      methods,
      statusCodes,
      field('db.system.name', ['postgresql']),
      field('crop', ['tomato', 'basil', 'pepper']),
      ...resource(['shed-a', 'shed-b']),
    ],
    ['open valve', 'plan harvest'],
  ),
  metrics: [
    metric('soil.moisture', 'gauge', '%', { greenhouse: ['g1', 'g2', 'g3'] }),
    metric('air.temperature', 'gauge', 'Cel', { greenhouse: ['g1', 'g2', 'g3'] }),
    metric('water.used', 'counter', 'L', { greenhouse: ['g1', 'g2', 'g3'] }),
    metric('harvest.queue.size', 'gauge', '{crate}', { crop: ['tomato', 'basil'] }),
    metric('system.filesystem.usage', 'gauge', 'By', { 'host.name': ['shed-a', 'shed-b'], device: ['sda', 'sdb'] }),
  ],
};

const ticketServices = ['box-office', 'seat-map', 'payment-hub', 'mail-sender'];
const tickets = {
  logs: signal(ticketServices, [
    field('venue', ['arena', 'opera', 'stadium']),
    field('order.id', ['o-1'], 70_000),
    field('payment.method', ['card', 'voucher', 'invoice']),
    field('exception.type', ['SeatTaken', 'PaymentDeclined']),
    field('price', [], 400, 'number'),
    ...resource(['box-1', 'box-2']),
  ]),
  traces: signal(
    ticketServices,
    [
      field('http.route', ['/orders', '/orders/{id}', '/seats', '/payments']),
      methods,
      statusCodes,
      field('db.system.name', ['mysql']),
      field('db.collection.name', ['orders', 'seats']),
      field('venue', ['arena', 'opera', 'stadium']),
      ...resource(['box-1', 'box-2']),
    ],
    ['hold seat', 'print ticket'],
  ),
  metrics: [
    metric('tickets.sold', 'counter', '{ticket}', { venue: ['arena', 'opera', 'stadium'] }),
    metric('queue.visitors', 'gauge', '{visitor}', { venue: ['arena', 'opera', 'stadium'] }),
    metric('refund.amount', 'counter', 'EUR', {}),
    metric('db.client.connection.count', 'gauge', '{connection}', { 'db.client.connection.pool.name': ['main'] }),
  ],
};

const chargingQuestions: readonly QuestionCase[] = [
  [
    'how many 5xx did the tariff engine return',
    'traces count [http.response.status_code:[500 TO 599] kind:server service:tariff-engine]',
  ],
  ['error logs from the station gateway, newest first', 'logs rows [service:station-gateway severity:>=error]'],
  ['show me 12 recent warnings from billing', 'logs rows [service:billing severity:warn] limit 12'],
  ['what portion of billing requests fail', 'share traces [status:error] of [kind:server service:billing]'],
  [
    'which service has the worst error rate today',
    'share traces [status:error] of [kind:server] by service limit 10 11T00:00..11T10:30',
  ],
  [
    'how many sessions failed in the last 2 hours',
    'traces count [http.route:"/sessions" kind:server status:error] 11T08:30..11T10:30',
  ],
  ['energy delivered per country yesterday', 'metric energy.delivered increase/sum by country 10T00:00..11T00:00'],
  ['how many connectors are occupied right now', 'metric connectors.occupied last/sum'],
  ['hottest transformer temperature today', 'metric transformer.temperature max/max 11T00:00..11T10:30'],
  ['average transformer temperature of st-100', 'metric transformer.temperature avg/avg [station:st-100]'],
  ['memory usage of edge-1', 'metric system.memory.usage avg/sum [host.name:edge-1 state:used]'],
  [
    'p95 latency of session-manager compared with yesterday',
    'traces p95(duration) [kind:server service:session-manager] than 10T09:30..10T10:30',
  ],
  ['compare p95 latency of NO and SE', 'traces p95(duration) [country:(NO OR SE) kind:server] by country'],
  [
    'aborted sessions by connector type this morning',
    'logs count [session.outcome:aborted] by connector.type 11T00:00..11T10:30',
  ],
  ['top 5 stations by error logs', 'logs count [severity:>=error station.id:*] by station.id limit 5'],
  ['how many CardRejected exceptions since 8', 'logs count [exception.type:CardRejected] 11T08:00..11T10:30'],
  ['requests per minute of driver app', 'traces count [kind:server service:driver-app] each 1m'],
  [
    'slowest requests of tariff-engine',
    'traces max(duration) [kind:server service:tariff-engine] by service,name,traceId,spanId limit 10',
  ],
  ['postgres calls slower than 200 ms', 'traces rows [db.system.name:postgresql duration:>200ms kind:client]'],
  ['distinct stations with rejected sessions', 'logs distinct(station.id) [session.outcome:rejected]'],
  ['total kwh by connector type', 'logs sum(energy.kwh) by connector.type'],
  ['logs of neither billing nor driver-app', 'logs rows [NOT service:billing NOT service:driver-app]'],
  ['what is the mean energy per country and per hour', 'metric energy.delivered increase/sum by country each 1h'],
  ['restart st-100', 'refused change'],
  ['why is billing slow', 'cause billing'],
  ['when will the disk be full', 'refused forecast'],
  ['oldest error logs of billing, newest first', 'refused unclear'],
  ['how many chargers were vandalized', 'refused unknown-name'],
  [
    '404s by route over the past half hour',
    'traces count [http.response.status_code:404 kind:server] by http.route 11T10:00..11T10:30',
  ],
  ['how often did authorize card fail', 'traces count [name:"authorize card" status:error]'],
  ['median time of start charge in DK', 'traces p50(duration) [country:DK name:"start charge"]'],
  ['number of requests by country, grouped by hour', 'traces count [kind:server] by country each 1h'],
];

const streamingQuestions: readonly QuestionCase[] = [
  [
    'how many streams were started on tv last week',
    'metric streams.started increase/sum [device.type:tv] 02T00:00..09T00:00',
  ],
  ['active streams by device right now', 'metric streams.active last/sum by device.type'],
  ['buffer ratio on phones', 'metric buffer.ratio avg/avg [device.type:phone]'],
  [
    'how many restarts in namespace media today',
    'growth k8s.container.restarts [k8s.namespace.name:media] 11T00:00..11T10:30',
  ],
  ['which namespace has the most restarts', 'growth k8s.container.restarts by k8s.namespace.name limit 10'],
  ['consumer lag of topic views now', 'metric kafka.consumer.lag last/sum [topic:views]'],
  ['error rate of playback per device', 'share traces [status:error] of [kind:server service:playback] by device.type'],
  [
    'error rate of playback, premium compared with basic',
    'share traces [status:error] of [kind:server member.plan:(premium OR basic) service:playback] by member.plan',
  ],
  ['p99 of /search in the past 3 hours', 'traces p99(duration) [http.route:"/search" kind:server] 11T07:30..11T10:30'],
  ['login requests with status 503', 'traces rows [http.response.status_code:503 http.route:"/login" kind:server]'],
  [
    'how many requests to /login returned 400 yesterday between 2 and 4 pm',
    'traces count [http.response.status_code:400 http.route:"/login" kind:server] 10T14:00..10T16:00',
  ],
  [
    'errors of transcoder in the last 10 minutes',
    [
      'logs rows [service:transcoder severity:>=error] 11T10:20..11T10:30',
      'traces rows [service:transcoder status:error] 11T10:20..11T10:30',
    ],
  ],
  ['DecodeErrors per device type', 'logs count [exception.type:DecodeError] by device.type'],
  ['number of licence denied exceptions', 'logs count [exception.type:LicenseDenied]'],
  ['mongo queries by service', 'traces count [db.system.name:mongodb] by service'],
  ['slowest mongo queries', 'traces max(duration) [db.system.name:mongodb] by service,name,traceId,spanId limit 10'],
  ['top 3 routes by average latency', 'traces avg(duration) [http.route:* kind:server] by http.route limit 3'],
  ['requests from premium members on tv', 'traces rows [device.type:tv kind:server member.plan:premium]'],
  ['how many distinct titles appear in error logs', 'logs distinct(title.id) [severity:>=error]'],
  ['average bitrate by device since midnight', 'logs avg(bitrate) by device.type 11T00:00..11T10:30'],
  [
    'traces that took more than 2 seconds in recommendations',
    'traces rows [NOT parentSpanId:* duration:>2s service:recommendations]',
  ],
  ['traces with both playback and auth', 'refused unclear'],
  ['warnings of both playback and auth', 'logs rows [service:(playback OR auth) severity:warn]'],
  ['is auth healthy', 'cause auth'],
  ['unusual errors of playback', 'refused anomaly'],
  ['delete the logs of auth', 'refused change'],
  ['requests today compared with yesterday', 'traces count [kind:server] 11T00:00..11T10:30 than 10T00:00..11T00:00'],
  ['log volume by service per hour today', 'logs count by service each 1h 11T00:00..11T10:30'],
  ['p90 latency of rank titles', 'traces p90(duration) [name:"rank titles"]'],
  ['how many logs mention "manifest expired"', 'logs count ["manifest expired"]'],
  ['streams started per minute as a chart', 'metric streams.started increase/sum each 1m'],
  [
    'failed requests of catalog by version',
    'traces count [kind:server service:catalog status:error] by service.version',
  ],
];

const farmQuestions: readonly QuestionCase[] = [
  ['soil moisture in g2 over the last 6 hours', 'metric soil.moisture avg/avg [greenhouse:g2] 11T04:30..11T10:30'],
  ['lowest soil moisture by greenhouse today', 'metric soil.moisture min/min by greenhouse 11T00:00..11T10:30'],
  ['total air temperature', 'refused unclear'],
  ['how much water was used yesterday', 'metric water.used increase/sum 10T00:00..11T00:00'],
  [
    'water used per greenhouse per day this month',
    'metric water.used increase/sum by greenhouse each 1d 01T00:00..11T10:30',
  ],
  ['size of the harvest queue now', 'metric harvest.queue.size last/sum'],
  ['filesystem usage of shed-a now', 'metric system.filesystem.usage last/sum [host.name:shed-a]'],
  ['stuck valves by greenhouse', 'logs count [valve.state:stuck] by greenhouse'],
  ['how many ValveStuck exceptions in g1 and g3', 'logs count [exception.type:ValveStuck greenhouse:(g1 OR g3)]'],
  ['compare stuck valves of g1 and g3', 'logs count [greenhouse:(g1 OR g3) valve.state:stuck] by greenhouse'],
  ['liters in total per crop', 'logs sum(liters) by crop'],
  ['error logs of sensor hub, most recent first', 'logs rows [service:sensor-hub severity:>=error]'],
  [
    'first 5 error logs of irrigation today',
    'logs rows [service:irrigation severity:>=error] oldest limit 5 11T00:00..11T10:30',
  ],
  [
    'latency of the greenhouse api by route',
    [
      'traces avg(duration) [kind:server service:greenhouse-api] by http.route',
      'traces p95(duration) [kind:server service:greenhouse-api] by http.route',
    ],
  ],
  ['how many readings failed', 'traces count [http.route:"/readings" kind:server status:error]'],
  [
    'failure rate of harvest planner by crop',
    'share traces [status:error] of [kind:server service:harvest-planner] by crop',
  ],
  [
    'requests to /schedules not from staging',
    'traces rows [NOT deployment.environment.name:staging http.route:"/schedules" kind:server]',
  ],
  [
    'number of DELETE requests per hour since yesterday',
    'traces count [http.request.method:DELETE kind:server] each 1h 10T00:00..11T10:30',
  ],
  [
    'how long does plan harvest take',
    ['traces avg(duration) [name:"plan harvest"]', 'traces p95(duration) [name:"plan harvest"]'],
  ],
  [
    'time spent in postgres',
    ['traces avg(duration) [db.system.name:postgresql]', 'traces p95(duration) [db.system.name:postgresql]'],
  ],
  [
    'which crops have the most errors',
    [
      'logs count [crop:* severity:>=error] by crop limit 10',
      'traces count [crop:* kind:server status:error] by crop limit 10',
    ],
  ],
  [
    'share of 404 responses of greenhouse-api',
    'share traces [http.response.status_code:404] of [kind:server service:greenhouse-api]',
  ],
  ['will g2 run dry tomorrow', 'refused forecast'],
  ['open the valve of g1', 'refused unknown-name'],
  ['who opened the valve', 'refused elsewhere'],
  ['what changed in irrigation', 'changes irrigation'],
  ['logs by severity for g1', 'logs count [greenhouse:g1] by severity'],
  ['services with the fewest logs', 'logs count by service ascending limit 10'],
  ['eror logs of irigation', 'logs rows [service:irrigation severity:>=error]'],
  ['open alerts of irrigation', 'refused elsewhere'],
];

const ticketQuestions: readonly QuestionCase[] = [
  ['tickets sold per second by venue', 'metric tickets.sold rate/sum by venue'],
  [
    'how many tickets were sold for the opera today',
    'metric tickets.sold increase/sum [venue:opera] 11T00:00..11T10:30',
  ],
  ['visitors in the queue of the arena now', 'metric queue.visitors last/sum [venue:arena]'],
  ['current connection count', 'metric db.client.connection.count last/sum'],
  [
    'refund amount this week compared with last week',
    'metric refund.amount increase/sum 09T00:00..11T10:30 than 02T00:00..09T00:00',
  ],
  [
    'how many orders failed yesterday',
    'traces count [http.route:"/orders" kind:server status:error] 10T00:00..11T00:00',
  ],
  [
    'slowest orders of the arena',
    'traces max(duration) [http.route:"/orders" kind:server venue:arena] by service,name,traceId,spanId limit 10',
  ],
  ['error rate of orders by venue', 'share traces [status:error] of [http.route:"/orders" kind:server] by venue'],
  ['inserts into table orders', 'refused unknown-name'],
  ['calls on table orders', 'traces rows [db.collection.name:orders kind:client]'],
  ['SeatTaken exceptions per venue', 'logs count [exception.type:SeatTaken] by venue'],
  ['average price of card payments', 'logs avg(price) [payment.method:card]'],
  ['max price by payment method in the last 24 hours', 'logs max(price) by payment.method 10T10:30..11T10:30'],
  [
    'how many 4xx and 5xx did payment hub answer',
    'traces count [(http.response.status_code:[400 TO 499] OR http.response.status_code:[500 TO 599]) kind:server service:payment-hub]',
  ],
  [
    'which endpoints of box-office are slowest',
    [
      'traces avg(duration) [http.route:* service:box-office] by http.route limit 10',
      'traces p95(duration) [http.route:* service:box-office] by http.route limit 10',
    ],
  ],
  [
    'requests to the seat map, slowest first',
    'traces max(duration) [kind:server service:seat-map] by service,name,traceId,spanId limit 10',
  ],
  ['throughput of box office', 'traces rate [kind:server service:box-office]'],
  ['p95 of hold seat by venue', 'traces p95(duration) [name:"hold seat"] by venue'],
  ['mails not sent', 'refused unknown-name'],
  ['error logs of mail sender with SMTP', 'refused unknown-name'],
  ['error logs of mail sender containing SMTP', 'logs rows ["SMTP" service:mail-sender severity:>=error]'],
  ['number of logs of stadium or arena', 'logs count [venue:(stadium OR arena)]'],
  ['what percentage of logs of payment-hub are errors', 'share logs [severity:>=error] of [service:payment-hub]'],
  ['how many vouchers were declined', 'logs count [exception.type:PaymentDeclined payment.method:voucher]'],
  ['declined payments per hour', 'logs count [exception.type:PaymentDeclined] each 1h'],
  ['show the dashboards', 'refused elsewhere'],
  ['requests of the last deployment', 'refused elsewhere'],
  ['logs of order o-1', 'logs rows [order.id:o-1]'],
  ['how many requests did box-2 serve this hour', 'traces count [host.name:box-2 kind:server] 11T10:00..11T10:30'],
  ['top 5 venues by tickets sold last month', 'metric tickets.sold increase/sum by venue limit 5 01T00:00..01T00:00'],
];

/** Whether a question is in the held-out part. */
export const isHeldOut = (question: string): boolean =>
  Number.parseInt(hash('sha256', question).slice(0, 6), 16) % 3 === 0;

/** Domain, catalogue, and questions with their expected queries. */
export const plainEnglish = [
  ['charging stations', charging, chargingQuestions],
  ['a streaming service', streaming, streamingQuestions],
  ['greenhouses', farm, farmQuestions],
  ['a ticket office', tickets, ticketQuestions],
] as const;
