/** A tax office. The questions were written before the grammar parsed any of them. */
import { field, metric, nowMs, type QuestionCase, signal } from './question-case.ts';

const services = [
  'filing-api',
  'id-check',
  'refund-engine',
  'letter-printer',
  'case-search',
  'doc-scan',
  'mail-gateway',
];
const hosts = ['gov-1', 'gov-2', 'gov-3'];
const offices = ['bern', 'basel', 'chur'];
const resource = [
  field('resource.host.name', hosts),
  field('resource.service.version', ['5.0.2', '5.1.0']),
  field('resource.k8s.pod.name', ['filing-api-6c', 'refund-engine-1a']),
  field('resource.deployment.environment.name', ['live', 'training']),
];

export const taxOffice = {
  logs: signal(services, [
    field('office', offices),
    field('taxpayer.id', ['tp-10', 'tp-11'], 700_000),
    field('form.type', ['income', 'vat', 'property']),
    field('return.status', ['filed', 'assessed', 'disputed']),
    field('clerk.id', ['ck-1', 'ck-2'], 400),
    field('refund.amount', [], 9_000, 'number'),
    field('scan.pages', [], 60, 'number'),
    field('rejection.reason', ['signature', 'deadline', 'attachment']),
    field('exception.type', ['SchemaInvalid', 'OcrFailed', 'SmtpTimeout', 'SessionExpired']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/returns', '/returns/{id}', '/refunds', '/login', '/documents']),
      field('http.request.method', ['GET', 'POST', 'PUT', 'DELETE']),
      field('http.response.status_code', ['200', '202', '400', '401', '404', '429', '500', '504'], 8, 'number'),
      field('db.system.name', ['postgresql', 'elasticsearch']),
      field('messaging.system', ['rabbitmq']),
      field('form.type', ['income', 'vat', 'property']),
      field('office', offices),
      field('client.address', ['192.0.2.7'], 90_000),
      field('document.size', [], 40_000, 'number'),
      ...resource,
    ],
    ['verify identity', 'calculate refund', 'archive document'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/returns', '/refunds'] }),
    metric('returns.filed', 'counter', '{return}', { 'form.type': ['income', 'vat', 'property'], office: offices }),
    metric('refunds.paid', 'counter', 'CHF', { office: offices }),
    metric('cases.open', 'gauge', '{case}', { office: offices }),
    metric('case.age', 'gauge', 'd', { office: offices }),
    metric('letters.printed', 'counter', '{letter}', { printer: ['lp-1', 'lp-2'] }),
    metric('printer.paper.level', 'gauge', '%', { printer: ['lp-1', 'lp-2'] }),
    metric('scan.duration', 'histogram', 's', { scanner: ['sc-1', 'sc-2'] }),
    metric('phone.queue.callers', 'gauge', '{caller}', { office: offices }),
    metric('phone.calls.abandoned', 'counter', '{call}', { office: offices }),
    metric('server.room.temperature', 'gauge', 'Cel', { room: ['r1', 'r2'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': hosts }),
    metric('system.memory.usage', 'gauge', 'By', { 'host.name': hosts, state: ['used', 'free'] }),
    metric('system.filesystem.usage', 'gauge', 'By', { 'host.name': hosts, state: ['used', 'free'] }),
    metric('jvm.gc.duration', 'histogram', 's', { 'service.name': services }),
    metric('rabbitmq.message.current', 'gauge', '{message}', { queue: ['letters', 'mails'] }),
    metric('k8s.container.restarts', 'gauge', '{restart}', { 'k8s.pod.name': ['filing-api-6c', 'refund-engine-1a'] }),
  ],
  deployments: [
    { service: 'filing-api', version: '5.1.0', atMs: nowMs - 90 * 60_000 },
    { service: 'doc-scan', version: '5.1.0', atMs: nowMs - 20 * 60_000 },
  ],
};

const meanAndP95 = (rest: string) => [`traces avg(duration) ${rest}`, `traces p95(duration) ${rest}`];

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const taxOfficeQuestions: readonly QuestionCase[] = [
  [
    'how many returns were filed yesterday',
    ['logs count [return.status:filed] 10T00:00..11T00:00', 'metric returns.filed increase/sum 10T00:00..11T00:00'],
  ],
  [
    'vat returns filed in basel this month',
    [
      'logs rows [form.type:vat office:basel return.status:filed] 01T00:00..11T10:30',
      'metric returns.filed increase/sum [form.type:vat office:basel] 01T00:00..11T10:30',
    ],
  ],
  [
    'returns filed per day by office over the last two weeks',
    [
      'logs count [return.status:filed] by office each 1d 25T10:30..11T10:30',
      'metric returns.filed increase/sum by office each 1d 25T10:30..11T10:30',
    ],
  ],
  ['how much money did we pay in refunds last month', 'refused unknown-name'],
  ['refunds paid by office last month', 'metric refunds.paid increase/sum by office 01T00:00..01T00:00'],
  [
    'did bern pay more refunds than chur this week',
    'metric refunds.paid increase/sum [office:(bern OR chur)] by office 09T00:00..11T10:30',
  ],
  ['how many cases are open in chur', 'metric cases.open avg/sum [office:chur]'],
  ['offices with more than 500 open cases', 'metric cases.open avg/sum by office having >500'],
  ['how many offices have more than 500 open cases right now', 'metric cases.open last/sum by office having >500'],
  ['average case age by office', 'metric case.age avg/avg by office'],
  ['offices where the average case age is above 30 days', 'metric case.age avg/avg by office having >30'],
  ['letters printed per hour today', 'metric letters.printed increase/sum each 1h 11T00:00..11T10:30'],
  [
    'which printer printed the fewest letters this week',
    'metric letters.printed increase/sum by printer ascending limit 10 09T00:00..11T10:30',
  ],
  ['printers with less than a quarter of their paper', 'refused unknown-name'],
  ['printers with a paper level below 25%', 'metric printer.paper.level avg/avg by printer having <25'],
  ['p90 scan duration by scanner', 'metric scan.duration quantile 0.9/sum by scanner'],
  ['callers in the phone queue right now', 'metric phone.queue.callers last/sum'],
  [
    'abandoned phone calls by office compared with last week',
    'metric phone.calls.abandoned increase/sum by office than 04T09:30..04T10:30',
  ],
  [
    'which office had the most abandoned calls yesterday',
    'metric phone.calls.abandoned increase/sum by office limit 10 10T00:00..11T00:00',
  ],
  ['is server room r1 warmer than r2', 'metric server.room.temperature avg/avg [room:(r1 OR r2)] by room'],
  [
    'rooms hotter than 27 degrees in the last 6 hours',
    'metric server.room.temperature avg/avg by room having >27 11T04:30..11T10:30',
  ],
  ['which hosts are over 75% cpu at the moment', 'metric system.cpu.utilization last/avg by host.name having >0.75'],
  ['memory usage of all hosts', 'metric system.memory.usage avg/sum [state:used]'],
  ['free disk space per host', 'metric system.filesystem.usage avg/sum [state:free] by host.name'],
  [
    'hosts with less than 20 GB of free disk space',
    'metric system.filesystem.usage avg/sum [state:free] by host.name having <20000000000',
  ],
  [
    'gc duration by service',
    ['metric jvm.gc.duration avg/sum by service.name', 'metric jvm.gc.duration quantile 0.95/sum by service.name'],
  ],
  ['current messages in the letters queue', 'refused unknown-name'],
  ['did any pod restart in the last 3 hours', 'growth k8s.container.restarts by k8s.pod.name 11T07:30..11T10:30'],
  [
    'error logs of refund-engine or mail-gateway today',
    'logs rows [service:(refund-engine OR mail-gateway) severity:>=error] 11T00:00..11T10:30',
  ],
  ['number of error logs per service, highest first', 'logs count [severity:>=error] by service limit 10'],
  ['SmtpTimeout by hour since Sunday', 'logs count [exception.type:SmtpTimeout] each 1h 08T00:00..11T10:30'],
  ['expired sessions per office', 'logs count [exception.type:SessionExpired] by office'],
  ['how many schemas were invalid this morning', 'logs count [exception.type:SchemaInvalid] 11T00:00..11T10:30'],
  ['failed OCR in chur', 'logs rows [exception.type:OcrFailed office:chur]'],
  ['disputed returns by form type', 'logs count [return.status:disputed] by form.type'],
  ['rejections by reason', 'logs count [rejection.reason:*] by rejection.reason'],
  [
    'taxpayers with more than 2 disputed returns',
    'logs count [return.status:disputed taxpayer.id:*] by taxpayer.id having >2',
  ],
  ['largest refund amount by office this year', 'refused unknown-name'],
  ['largest refund amount by office this week', 'logs max(refund.amount) by office 09T00:00..11T10:30'],
  ['total pages scanned by clerk yesterday', 'logs sum(scan.pages) by clerk.id 10T00:00..11T00:00'],
  ['what share of returns is disputed', 'share logs [return.status:disputed] of [return.status:*]'],
  ['logs of clerk ck-17 mentioning "override"', 'logs rows ["override" clerk.id:ck-17]'],
  ['what happened to taxpayer tp-4711 yesterday afternoon', 'logs rows [taxpayer.id:tp-4711] 10T12:00..10T18:00'],
  ['requests per minute on /returns', 'traces count [http.route:"/returns" kind:server] each 1m'],
  [
    'top 10 client addresses by number of 429s',
    'traces count [client.address:* http.response.status_code:429 kind:server] by client.address limit 10',
  ],
  [
    'client addresses with more than 100 failed logins',
    'traces count [client.address:* http.route:"/login" kind:server status:error] by client.address having >100',
  ],
  [
    'slowest documents today',
    'traces max(duration) [http.route:"/documents" kind:server] by service,name,traceId,spanId limit 10 11T00:00..11T10:30',
  ],
  ['average document size by form type', 'traces avg(document.size) by form.type'],
  [
    'how long does verify identity take in training',
    meanAndP95('[deployment.environment.name:training name:"verify identity"]'),
  ],
  ['calculating a refund takes how long', meanAndP95('[name:"calculate refund"]')],
  [
    'elasticsearch calls of case search slower than 1s',
    'traces rows [db.system.name:elasticsearch duration:>1s kind:client service:case-search]',
  ],
  [
    'error percentage of filing api by version',
    'share traces [status:error] of [kind:server service:filing-api] by service.version',
  ],
  [
    'p95 latency of filing-api in 5.1.0 versus 5.0.2',
    'traces p95(duration) [kind:server service.version:(5.1.0 OR 5.0.2) service:filing-api] by service.version',
  ],
  ['services with more than 1000 requests and an error rate above 5%', 'refused unclear'],
  [
    'how has latency of doc scan developed since the last deployment',
    [
      'traces avg(duration) [kind:server service:doc-scan] each 10000 11T10:10..11T10:30',
      'traces p95(duration) [kind:server service:doc-scan] each 10000 11T10:10..11T10:30',
    ],
  ],
  ['why is id check so slow today', 'cause id-check 11T00:00..11T10:30'],
  ['what changed since the last deployment of filing-api', 'changes filing-api 11T09:00..11T10:30'],
  ['eror logs of reufnd engine', 'logs rows [service:refund-engine severity:>=error]'],
  [
    'and yesterday?',
    'metric letters.printed increase/sum by printer 10T00:00..11T00:00',
    ['letters printed by printer today'],
  ],
  [
    'without training',
    'traces count [NOT deployment.environment.name:training kind:server] by service',
    ['requests by service'],
  ],
];
