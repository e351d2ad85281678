/**
 * Questions about the libraries of a city, written without knowledge of the grammar; questions about telemetry that are
 * refused here were not understood.
 */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['catalog', 'lending', 'holds', 'ebooks', 'accounts', 'mailer'];
const branches = ['central', 'harbour', 'northside'];
const resource = [
  field('resource.host.name', ['lib-a', 'lib-b']),
  field('resource.service.version', ['2.3.0', '2.4.0']),
  field('resource.deployment.environment.name', ['production', 'staging']),
];
export const library = {
  logs: signal(services, [
    field('branch', branches),
    field('patron.id', ['p-100', 'p-101'], 50_000),
    field('book.isbn', ['9780140328721', '9780262033848'], 30_000),
    field('loan.outcome', ['issued', 'renewed', 'refused']),
    field('fine.amount', [], 200, 'number'),
    field('exception.type', ['TimeoutError', 'HoldConflict', 'DrmRejected']),
    field('client.address', ['10.0.0.4', '10.0.0.5'], 900),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/loans', '/loans/{id}', '/search', '/holds', '/downloads']),
      field('http.request.method', ['GET', 'POST', 'DELETE']),
      field('http.response.status_code', ['200', '201', '401', '404', '429', '500', '502'], 7, 'number'),
      field('db.system.name', ['postgresql', 'redis']),
      field('messaging.system', ['kafka']),
      field('branch', branches),
      field('file.size', [], 5_000, 'number'),
      field('exception.type', ['TimeoutError', 'HoldConflict']),
      ...resource,
    ],
    ['checkout book', 'place hold', 'fetch cover'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/loans', '/search', '/downloads'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['lib-a', 'lib-b'] }),
    metric('system.memory.usage', 'gauge', 'By', { 'resource.host.name': ['lib-a', 'lib-b'] }),
    metric('system.filesystem.utilization', 'gauge', '1', {
      'resource.host.name': ['lib-a', 'lib-b'],
      mountpoint: ['/', '/data'],
    }),
    metric('loans.issued', 'counter', '{loan}', { branch: branches }),
    metric('holds.waiting', 'gauge', '{hold}', { branch: branches }),
    metric('ebook.downloads', 'counter', '{download}', { format: ['epub', 'pdf', 'audio'] }),
    metric('fines.collected', 'counter', 'EUR', { branch: branches }),
    metric('jvm.memory.used', 'gauge', 'By', { 'resource.service.name': ['catalog', 'lending'] }),
    metric('kafka.consumer.lag', 'gauge', '{message}', { topic: ['loans', 'mails'] }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const libraryQuestions: readonly QuestionCase[] = [
  [
    'how many errors did we have in the last hour',
    ['logs count [severity:>=error]', 'traces count [kind:server status:error]'],
  ],
  [
    'errors per service today',
    [
      'logs count [severity:>=error] by service 11T00:00..11T10:30',
      'traces count [kind:server status:error] by service 11T00:00..11T10:30',
    ],
  ],
  [
    'which service has the most errors',
    [
      'logs count [severity:>=error] by service limit 10',
      'traces count [kind:server status:error] by service limit 10',
    ],
  ],
  [
    'show me errors from lending in the last 30 minutes',
    [
      'logs rows [service:lending severity:>=error] 11T10:00..11T10:30',
      'traces rows [service:lending status:error] 11T10:00..11T10:30',
    ],
  ],
  ['p95 latency of catalog over the last day', 'traces p95(duration) [kind:server service:catalog] 10T10:30..11T10:30'],
  [
    'how slow is /search right now',
    [
      'traces avg(duration) [http.route:"/search" kind:server]',
      'traces p95(duration) [http.route:"/search" kind:server]',
    ],
  ],
  ['p99 of /downloads per 5 minutes since noon', 'refused unclear'],
  [
    'slowest endpoints of lending',
    [
      'traces avg(duration) [http.route:* service:lending] by http.route limit 10',
      'traces p95(duration) [http.route:* service:lending] by http.route limit 10',
    ],
  ],
  ['requests per second of the catalog service', 'traces rate [kind:server service:catalog]'],
  [
    'how many 500s did ebooks return yesterday',
    'traces count [http.response.status_code:500 kind:server service:ebooks] 10T00:00..11T00:00',
  ],
  ['error rate of holds', 'share traces [status:error] of [kind:server service:holds]'],
  [
    'error rate by service in the last 6 hours',
    'share traces [status:error] of [kind:server] by service 11T04:30..11T10:30',
  ],
  [
    'which route has the highest error rate',
    'share traces [status:error] of [http.route:* kind:server] by http.route limit 10',
  ],
  ['count of logs by severity', 'logs count by severity'],
  ['logs containing "connection refused"', 'logs rows ["connection refused"]'],
  ['logs of patron p-100 yesterday', 'logs rows [patron.id:p-100] 10T00:00..11T00:00'],
  ['warnings from mailer since this morning', 'logs rows [service:mailer severity:warn] 11T00:00..11T10:30'],
  ['number of distinct patrons today', 'logs distinct(patron.id) 11T00:00..11T10:30'],
  ['how many different books were refused this week', 'refused unclear'],
  ['loans refused per branch', 'logs count [loan.outcome:refused] by branch'],
  [
    'refused loans at central in the last 2 hours',
    'logs rows [branch:central loan.outcome:refused] 11T08:30..11T10:30',
  ],
  [
    'TimeoutError in lending last night',
    [
      'logs rows [exception.type:TimeoutError service:lending] 10T18:00..11T06:00',
      'traces rows [exception.type:TimeoutError service:lending] 10T18:00..11T06:00',
    ],
  ],
  ['top 10 patrons by errors', 'logs count [patron.id:* severity:>=error] by patron.id limit 10'],
  [
    'most common exception types',
    [
      'logs count [exception.type:*] by exception.type limit 10',
      'traces count [exception.type:*] by exception.type limit 10',
    ],
  ],
  ['how often did DrmRejected happen in the last 7 days', 'logs count [exception.type:DrmRejected] 04T10:30..11T10:30'],
  ['cpu usage of lib-a', 'metric system.cpu.utilization avg/avg [host.name:lib-a]'],
  ['cpu by host over the last 24 hours', 'metric system.cpu.utilization avg/avg by host.name 10T10:30..11T10:30'],
  [
    'memory of lib-b in the last 3 hours every 10 minutes',
    'metric system.memory.usage avg/sum [host.name:lib-b] each 10m 11T07:30..11T10:30',
  ],
  ['how full is the disk on lib-a', 'metric system.filesystem.utilization avg/avg [host.name:lib-a]'],
  ['disk usage of /data per host', 'metric system.filesystem.utilization avg/avg [mountpoint:"/data"] by host.name'],
  [
    'loans issued per branch this week',
    [
      'logs count [loan.outcome:issued] by branch 09T00:00..11T10:30',
      'metric loans.issued increase/sum by branch 09T00:00..11T10:30',
    ],
  ],
  ['how many loans did harbour issue yesterday', 'refused unclear'],
  [
    'total loans today',
    [
      'metric loans.issued increase/sum 11T00:00..11T10:30',
      'traces count [http.route:"/loans" kind:server] 11T00:00..11T10:30',
    ],
  ],
  [
    'ebook downloads by format, hourly, since Monday',
    'metric ebook.downloads increase/sum by format each 1h 09T00:00..11T10:30',
  ],
  ['epub downloads last week', 'metric ebook.downloads increase/sum [format:epub] 02T00:00..09T00:00'],
  [
    'fines collected at northside this month',
    'metric fines.collected increase/sum [branch:northside] 01T00:00..11T10:30',
  ],
  ['holds waiting now', 'metric holds.waiting last/sum'],
  ['holds waiting by branch', 'metric holds.waiting avg/sum by branch'],
  ['maximum consumer lag of mails today', 'metric kafka.consumer.lag max/max [topic:mails] 11T00:00..11T10:30'],
  ['is kafka lagging', 'refused unknown-name'],
  ['jvm memory of catalog', 'metric jvm.memory.used avg/sum [service.name:catalog]'],
  ['average fine amount by branch', 'logs avg(fine.amount) by branch'],
  ['largest fine today', 'refused unclear'],
  ['traces slower than 2 seconds in lending', 'traces rows [NOT parentSpanId:* duration:>2s service:lending]'],
  [
    'show failed requests of accounts with status 401',
    'traces rows [http.response.status_code:401 kind:server service:accounts]',
  ],
  [
    'POST requests to /loans that took longer than 500 ms',
    'traces rows [duration:>500ms http.request.method:POST http.route:"/loans" kind:server]',
  ],
  ['requests by status code', 'traces count [kind:server] by http.response.status_code'],
  [
    'how many requests got 429 in the last 15 minutes',
    'traces count [http.response.status_code:429 kind:server] 11T10:15..11T10:30',
  ],
  ['average file size of downloads', 'traces avg(file.size) [http.route:"/downloads" kind:server]'],
  [
    'slowest database calls of catalog',
    'traces max(duration) [db.system.name:* kind:client service:catalog] by service,name,traceId,spanId limit 10',
  ],
  [
    'how long do postgresql queries take',
    ['traces avg(duration) [db.system.name:postgresql]', 'traces p95(duration) [db.system.name:postgresql]'],
  ],
  ['how many calls to redis per minute', 'traces count [db.system.name:redis kind:client] each 1m'],
  [
    'compare errors of lending today with yesterday',
    [
      'logs count [service:lending severity:>=error] 11T00:00..11T10:30 than 10T00:00..11T00:00',
      'traces count [kind:server service:lending status:error] 11T00:00..11T10:30 than 10T00:00..11T00:00',
    ],
  ],
  [
    'errors in version 2.4.0 versus 2.3.0',
    [
      'logs count [service.version:(2.4.0 OR 2.3.0) severity:>=error] by service.version',
      'traces count [kind:server service.version:(2.4.0 OR 2.3.0) status:error] by service.version',
    ],
  ],
  ['requests in staging', 'traces rows [deployment.environment.name:staging kind:server]'],
  ['why is catalog slow', 'cause catalog'],
  ['will the disk of lib-a be full next week', 'refused forecast'],
  ['delete all logs of patron p-100', 'refused change'],
  ['errors of the payments service', 'refused unknown-name'],
  [
    'busiest branch today',
    [
      'logs count [branch:*] by branch limit 10 11T00:00..11T10:30',
      'traces count [branch:*] by branch limit 10 11T00:00..11T10:30',
    ],
  ],
  ['rate of checkout book per minute', 'traces rate [name:"checkout book"] each 1m'],
  ['p50 and p99 latency of holds', 'traces p50(duration),p99(duration) [kind:server service:holds]'],
  ['which host has the highest memory usage', 'metric system.memory.usage avg/sum by host.name limit 10'],
  ['traces with HoldConflict', 'traces rows [NOT parentSpanId:* exception.type:HoldConflict]'],
  [
    'when did the last error happen in ebooks',
    ['logs rows [service:ebooks severity:>=error]', 'traces rows [service:ebooks status:error]'],
  ],
  [
    'everything from central with severity error except HoldConflict',
    'logs rows [NOT exception.type:HoldConflict branch:central severity:error]',
  ],
  ['median duration of place hold by branch', 'traces p50(duration) [name:"place hold"] by branch'],
];
