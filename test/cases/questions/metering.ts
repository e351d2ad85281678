/** Questions about the meters of a power utility. Written before the grammar was inspected. */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['meter-gateway', 'readings', 'billing', 'outage-desk', 'tariffs', 'field-app'];
const resource = [
  field('resource.host.name', ['dc-a1', 'dc-b2']),
  field('resource.service.version', ['7.0', '7.1']),
  field('resource.deployment.environment.name', ['production', 'rehearsal']),
];
const regions = ['north', 'south', 'coast'];

export const metering = {
  logs: signal(services, [
    field('region', regions),
    field('meter.id', ['m-100', 'm-101'], 120_000),
    field('technician.id', ['t-1', 't-2'], 300),
    field('meter.type', ['smart', 'analog', 'prepaid']),
    field('reading.status', ['accepted', 'estimated', 'rejected']),
    field('voltage', [], 5_000, 'number'),
    field('exception.type', ['ReadTimeout', 'ChecksumMismatch']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/readings', '/meters/{id}', '/invoices']),
      field('http.request.method', ['GET', 'POST', 'DELETE']),
      field('http.response.status_code', ['200', '202', '400', '404', '503'], 5, 'number'),
      field('db.system.name', ['postgresql', 'mongodb']),
      field('customer.segment', ['household', 'industry']),
      field('region', regions),
      field('batch.size', [], 600, 'number'),
      ...resource,
    ],
    ['decode frame', 'compute bill'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/readings', '/invoices'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['dc-a1', 'dc-b2'] }),
    metric('system.filesystem.utilization', 'gauge', '1', { 'resource.host.name': ['dc-a1', 'dc-b2'] }),
    metric('energy.delivered', 'counter', 'kW.h', { region: regions }),
    metric('readings.missed', 'counter', '{reading}', { region: regions }),
    metric('grid.frequency', 'gauge', 'Hz', { region: regions }),
    metric('meters.online', 'gauge', '{meter}', { region: regions }),
    metric('billing.backlog', 'gauge', '{invoice}', {}),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const meteringQuestions: readonly QuestionCase[] = [
  [
    'how many readings were rejected today',
    [
      'logs count [reading.status:rejected service:readings] 11T00:00..11T10:30',
      'logs count [reading.status:rejected] 11T00:00..11T10:30',
    ],
  ],
  [
    'what went wrong in billing last night',
    [
      'logs rows [service:billing severity:>=error] 10T18:00..11T06:00',
      'traces rows [service:billing status:error] 10T18:00..11T06:00',
    ],
  ],
  [
    'errors logged by meter-gateway in the last 2 hours',
    'logs rows [service:meter-gateway severity:>=error] 11T08:30..11T10:30',
  ],
  ['energy delivered to the coast yesterday', 'metric energy.delivered increase/sum [region:coast] 10T00:00..11T00:00'],
  ['is the grid frequency in the north below 50 Hz', 'refused unclear'],
  ['average grid frequency per region since midnight', 'metric grid.frequency avg/avg by region 11T00:00..11T10:30'],
  ['lowest grid frequency this week', 'metric grid.frequency min/min 09T00:00..11T10:30'],
  ['how many meters are online', 'metric meters.online avg/sum'],
  ['meters online by region every 15 minutes', 'metric meters.online avg/sum by region each 900000'],
  ['how big is the billing backlog now', 'metric billing.backlog last/sum'],
  [
    'which service is the slowest',
    ['traces avg(duration) by service limit 10', 'traces p95(duration) by service limit 10'],
  ],
  ['p95 of /invoices', 'traces p95(duration) [http.route:"/invoices" kind:server]'],
  [
    'slow postgresql queries of the past hour',
    'traces max(duration) [db.system.name:postgresql] by service,name,traceId,spanId limit 10',
  ],
  [
    'postgresql calls slower than 100 ms from billing',
    'traces rows [db.system.name:postgresql duration:>100ms kind:client service:billing]',
  ],
  [
    'how often did we see ChecksumMismatch this week',
    'logs count [exception.type:ChecksumMismatch] 09T00:00..11T10:30',
  ],
  ['ReadTimeout per technician', 'logs count [exception.type:ReadTimeout] by technician.id'],
  ['show logs from meter m-100', 'logs rows [meter.id:m-100]'],
  [
    'estimated readings by meter type',
    [
      'logs count [reading.status:estimated service:readings] by meter.type',
      'logs count [reading.status:estimated] by meter.type',
    ],
  ],
  ['logs where voltage is under 200', 'logs rows [voltage:<200]'],
  ['maximum voltage by region', 'logs max(voltage) by region'],
  [
    'number of meters with rejected readings',
    [
      'logs distinct(meter.id) [reading.status:rejected service:readings]',
      'logs distinct(meter.id) [reading.status:rejected]',
    ],
  ],
  [
    'what share of requests to readings returned 503',
    'share traces [http.response.status_code:503] of [kind:server service:readings]',
  ],
  [
    'error rate by customer segment over the last day',
    'share traces [status:error] of [kind:server] by customer.segment 10T10:30..11T10:30',
  ],
  [
    'compare billing errors today with yesterday',
    [
      'logs count [service:billing severity:>=error] 11T00:00..11T10:30 than 10T00:00..11T00:00',
      'traces count [kind:server service:billing status:error] 11T00:00..11T10:30 than 10T00:00..11T00:00',
    ],
  ],
  ['how many invoices were paid', 'refused unknown-name'],
  ['disk usage of dc-b2', 'metric system.filesystem.utilization avg/avg [host.name:dc-b2]'],
  ['when will the disk of dc-a1 be full', 'refused forecast'],
  ['POSTs to /readings per second', 'traces rate [http.request.method:POST http.route:"/readings"]'],
  [
    'requests by industry customers yesterday afternoon',
    'traces rows [customer.segment:industry kind:server] 10T12:00..10T18:00',
  ],
  ['restart the meter-gateway', 'refused change'],
];

/** Held out, and evaluated once after the grammar was improved with the questions above. */
export const heldOutMeteringQuestions: readonly QuestionCase[] = [
  [
    'rejected readings per hour since Monday',
    [
      'logs count [reading.status:rejected service:readings] each 1h 09T00:00..11T10:30',
      'logs count [reading.status:rejected] each 1h 09T00:00..11T10:30',
    ],
  ],
  [
    'any errors from outage-desk',
    ['logs rows [service:outage-desk severity:>=error]', 'traces rows [service:outage-desk status:error]'],
  ],
  ['missed readings in the south last week', 'metric readings.missed increase/sum [region:south] 02T00:00..09T00:00'],
  ['which region misses the most readings', 'metric readings.missed increase/sum by region limit 10'],
  ['how much energy did we deliver this month', 'metric energy.delivered increase/sum 01T00:00..11T10:30'],
  ['peak grid frequency between 6 and 9 this morning', 'metric grid.frequency max/max 11T06:00..11T09:00'],
  ['current number of meters online in the north', 'metric meters.online last/sum [region:north]'],
  ['offline meters', 'refused unknown-name'],
  ['billing backlog over the last 3 days', 'metric billing.backlog avg/sum 08T10:30..11T10:30'],
  ['median duration of compute bill', 'traces p50(duration) [name:"compute bill"]'],
  ['how long does decode frame take at the 99th percentile', 'traces p99(duration) [name:"decode frame"]'],
  [
    'slowest 5 endpoints',
    [
      'traces avg(duration) [http.route:*] by http.route limit 5',
      'traces p95(duration) [http.route:*] by http.route limit 5',
    ],
  ],
  ['traffic of field-app by region', 'traces count [kind:server service:field-app] by region'],
  [
    'requests from households that got a 404',
    'traces rows [customer.segment:household http.response.status_code:404 kind:server]',
  ],
  ['how many requests did tariffs handle today', 'traces count [kind:server service:tariffs] 11T00:00..11T10:30'],
  ['failed DELETE requests', 'traces rows [http.request.method:DELETE kind:server status:error]'],
  ['average batch size per service', 'traces avg(batch.size) by service'],
  ['how many technicians logged something today', 'logs distinct(technician.id) 11T00:00..11T10:30'],
  ['logs from prepaid meters containing "tamper"', 'logs rows ["tamper" meter.type:prepaid]'],
  ['warnings in rehearsal', 'logs rows [deployment.environment.name:rehearsal severity:warn]'],
  ['voltage above 250 in the coast region', 'logs rows [region:coast voltage:>250]'],
  ['average voltage of analog meters', 'logs avg(voltage) [meter.type:analog]'],
  ['did anything break after the 7.1 rollout', 'refused unknown-name'],
  [
    'errors by version',
    ['logs count [severity:>=error] by service.version', 'traces count [kind:server status:error] by service.version'],
  ],
  ['cpu of dc-a1 in 10 minute steps', 'metric system.cpu.utilization avg/avg [host.name:dc-a1] each 10m'],
  ['how many complaints came in', 'refused unknown-name'],
  ['success rate of billing', 'share traces [NOT status:error] of [kind:server service:billing]'],
  ['who changed the tariffs', 'refused elsewhere'],
  [
    'mongodb time per service',
    [
      'traces avg(duration) [db.system.name:mongodb] by service',
      'traces p95(duration) [db.system.name:mongodb] by service',
    ],
  ],
  ['anything unusual with the readings', 'refused anomaly'],
];
