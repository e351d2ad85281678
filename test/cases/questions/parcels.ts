/** Questions about a parcel service, in the words of its staff. */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['intake', 'sorting', 'route-planner', 'courier-app', 'tracking', 'customs'];
const resource = [
  field('resource.host.name', ['hub-1', 'hub-2']),
  field('resource.service.version', ['3.4', '3.5']),
  field('resource.deployment.environment.name', ['production', 'test']),
];

export const parcels = {
  logs: signal(services, [
    field('depot', ['hamburg', 'leipzig', 'vienna']),
    field('parcel.id', ['p-1'], 90_000),
    field('courier.id', ['k-1', 'k-2'], 4_000),
    field('delivery.outcome', ['delivered', 'refused', 'absent']),
    field('weight', [], 3_000, 'number'),
    field('exception.type', ['AddressNotFound', 'LabelUnreadable']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/parcels', '/parcels/{id}', '/labels']),
      field('http.request.method', ['GET', 'POST', 'PUT']),
      field('http.response.status_code', ['200', '201', '404', '500', '502'], 5, 'number'),
      field('db.system.name', ['mysql', 'redis']),
      field('country', ['AT', 'DE', 'PL']),
      field('shipment.kind', ['express', 'economy']),
      field('stops', [], 80, 'number'),
      ...resource,
    ],
    ['scan parcel', 'plan tour'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/parcels', '/labels'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['hub-1', 'hub-2'] }),
    metric('system.memory.utilization', 'gauge', '1', { 'resource.host.name': ['hub-1', 'hub-2'] }),
    metric('parcels.scanned', 'counter', '{parcel}', { depot: ['hamburg', 'leipzig', 'vienna'] }),
    metric('parcels.lost', 'counter', '{parcel}', { depot: ['hamburg', 'leipzig', 'vienna'] }),
    metric('belt.speed', 'gauge', 'm/s', { depot: ['hamburg', 'leipzig', 'vienna'] }),
    metric('vans.on_tour', 'gauge', '{van}', {}),
    metric('sorting.queue.length', 'gauge', '{parcel}', { depot: ['hamburg', 'leipzig', 'vienna'] }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const parcelQuestions: readonly QuestionCase[] = [
  [
    'give me all error messages of sorting since this morning 6 am',
    'logs rows [service:sorting severity:>=error] 11T06:00..11T10:30',
  ],
  ['tell me how many parcels were scanned yesterday', 'metric parcels.scanned increase/sum 10T00:00..11T00:00'],
  ['parcels lost per depot this month', 'metric parcels.lost increase/sum by depot 01T00:00..11T10:30'],
  [
    'what was the belt speed in leipzig over the last half hour',
    'metric belt.speed avg/avg [depot:leipzig] 11T10:00..11T10:30',
  ],
  ['how long is the sorting queue in vienna right now', 'metric sorting.queue.length last/sum [depot:vienna]'],
  ['cpu load of hub-2 every 5 minutes', 'refused unknown-name'],
  ['how full is the memory on each hub', 'refused unknown-name'],
  ['vans on tour hourly today', 'metric vans.on_tour avg/sum each 1h 11T00:00..11T10:30'],
  [
    'calls to tracking a minute',
    ['traces count [kind:client service:tracking] each 1m', 'traces count [kind:server service:tracking] each 1m'],
  ],
  ['mean latency for tracking', 'traces avg(duration) [kind:server service:tracking]'],
  [
    '95th percentile response time of route-planner grouped by country',
    'traces p95(duration) [kind:server service:route-planner] by country',
  ],
  [
    'failure rate of intake during the past two hours',
    'share traces [status:error] of [kind:server service:intake] 11T08:30..11T10:30',
  ],
  [
    'what percentage of requests to /labels failed',
    'share traces [status:error] of [http.route:"/labels" kind:server]',
  ],
  ['list the 15 most recent log entries from customs', 'logs rows [service:customs] limit 15'],
  ['count of AddressNotFound by depot', 'logs count [exception.type:AddressNotFound] by depot'],
  ['which depot logs the most errors', 'logs count [depot:* severity:>=error] by depot limit 10'],
  ['number of different couriers in the logs', 'logs distinct(courier.id)'],
  ['refused deliveries in hamburg', 'logs rows [delivery.outcome:refused depot:hamburg]'],
  ['logs with weight greater than 30', 'logs rows [weight:>30]'],
  ['mean weight for each depot', 'logs avg(weight) by depot'],
  ['heaviest weight by depot', 'logs max(weight) by depot'],
  [
    'requests that took longer than 3 seconds in courier-app',
    'traces rows [duration:>3s kind:server service:courier-app]',
  ],
  [
    'how many 502s did tracking give in the last 20 minutes',
    'traces count [http.response.status_code:502 kind:server service:tracking] 11T10:10..11T10:30',
  ],
  [
    'POST requests of intake by shipment kind',
    'traces count [http.request.method:POST kind:server service:intake] by shipment.kind',
  ],
  ['mysql spans over 200ms', 'traces rows [db.system.name:mysql duration:>200ms]'],
  ['wich route is slowest at p99', 'traces p99(duration) [http.route:* kind:server] by http.route limit 10'],
  ['numbr of requsts to corier-app', 'traces count [kind:server service:courier-app]'],
  ['why are parcels late', 'refused cause'],
  ['how many drones are flying', 'refused unknown-name'],
  ['stop sorting', 'refused change'],
];

/**
 * Held out, and evaluated once after the grammar was improved with the questions above. Questions that are refused here
 * were not understood.
 */
export const heldOutParcelQuestions: readonly QuestionCase[] = [
  ['any critical logs in customs overnight', 'logs rows [service:customs severity:critical] 10T18:00..11T06:00'],
  [
    'I want to see warnings from courier-app of the last 45 minutes',
    'logs rows [service:courier-app severity:warn] 11T09:45..11T10:30',
  ],
  [
    'how many parcels got lost in vienna last week',
    'metric parcels.lost increase/sum [depot:vienna] 02T00:00..09T00:00',
  ],
  [
    'scanned parcels by depot, every hour since midnight',
    'metric parcels.scanned increase/sum by depot each 1h 11T00:00..11T10:30',
  ],
  ['highest belt speed today', 'metric belt.speed max/max 11T00:00..11T10:30'],
  ['latest value of vans on tour', 'metric vans.on_tour last/sum'],
  ['average length of the sorting queue per depot', 'metric sorting.queue.length avg/avg by depot'],
  [
    'memory utilization of hub-1 yesterday',
    'metric system.memory.utilization avg/avg [host.name:hub-1] 10T00:00..11T00:00',
  ],
  ['busiest host by cpu', 'metric system.cpu.utilization avg/avg by host.name limit 10'],
  ['request volume of intake per 10 minutes', 'traces count [kind:server service:intake] each 10m'],
  ['throughput of tracking', 'traces rate [kind:server service:tracking]'],
  [
    'median response time of customs yesterday from 8 to 12',
    'traces p50(duration) [kind:server service:customs] 10T08:00..10T12:00',
  ],
  ['p90 latency split by shipment kind', 'traces p90(duration) [kind:server] by shipment.kind'],
  ['portion of failing requests by service', 'share traces [status:error] of [kind:server] by service'],
  [
    'error percentage of route-planner for version 3.5',
    'share traces [status:error] of [kind:server service.version:3.5 service:route-planner]',
  ],
  ['display 10 logs about parcel p-77', 'logs rows [parcel.id:p-77] limit 10'],
  ['log lines saying "label torn"', 'logs rows ["label torn"]'],
  ['absent customers by depot in the past 3 days', 'refused unknown-name'],
  ['how many logs per delivery outcome', 'logs count by delivery.outcome'],
  ['total weight per depot this week', 'logs sum(weight) by depot 09T00:00..11T10:30'],
  ['error logs except from hamburg', 'logs rows [NOT depot:hamburg severity:>=error]'],
  ['logs that have no courier id', 'logs rows [NOT courier.id:*]'],
  ['top 3 exception types since Monday', 'logs count [exception.type:*] by exception.type limit 3 09T00:00..11T10:30'],
  ['express requests slower than 800 milliseconds', 'traces rows [duration:>800ms kind:server shipment.kind:express]'],
  ['average stops of plan tour spans', 'traces avg(stops) [name:"plan tour"]'],
  ['amount of traffic from PL', 'traces count [country:PL kind:server]'],
  ['requests to trackng with status 404', 'traces rows [http.response.status_code:404 kind:server service:tracking]'],
  ['will hub-1 run out of memory', 'refused forecast'],
  ['delete old parcels', 'refused change'],
  ['which incidents are open', 'refused elsewhere'],
];
