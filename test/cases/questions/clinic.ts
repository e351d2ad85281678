/** Questions about a clinic, in words that differ more from those of the grammar. */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['appointments', 'patient-records', 'lab-results', 'prescriptions', 'notifier', 'front-desk'];
const resource = [
  field('resource.host.name', ['med-a', 'med-b']),
  field('resource.cloud.availability_zone', ['az1', 'az2']),
];

export const clinic = {
  logs: signal(services, [
    field('ward', ['icu', 'maternity', 'er']),
    field('doctor.id', ['d-1', 'd-2'], 70),
    field('exception.type', ['RecordLockedException']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/patients/{id}', '/labs', '/slots']),
      field('http.request.method', ['GET', 'POST']),
      field('http.response.status_code', ['200', '503'], 2, 'number'),
      field('db.system.name', ['mongodb']),
      field('queue.name', ['results', 'reminders']),
      field('patient.insured', ['true', 'false']),
      field('payload.size', [], 900, 'number'),
      ...resource,
    ],
    ['find patients'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/labs', '/slots'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['med-a', 'med-b'] }),
    metric('system.memory.utilization', 'gauge', '1', { 'resource.host.name': ['med-a', 'med-b'] }),
    metric('container.memory.usage', 'gauge', 'By', { 'resource.host.name': ['med-a', 'med-b'] }),
    metric('lab.samples.processed', 'counter', '{sample}', {}),
    metric('lab.queue.size', 'gauge', '{sample}', {}),
    metric('appointments.booked', 'counter', '{appointment}', { ward: ['icu', 'er'] }),
    metric('appointments.cancelled', 'counter', '{appointment}', {}),
    metric('device.temperature', 'gauge', 'Cel', { 'device.model': ['mri-300', 'xr-20'] }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const clinicQuestions: readonly QuestionCase[] = [
  ['Give me the number of log entries for each service over the past day.', 'logs count by service 10T10:30..11T10:30'],
  [
    'Any errors in lab-results logs during the last 45 minutes?',
    'logs rows [service:lab-results severity:>=error] 11T09:45..11T10:30',
  ],
  [
    "What's the 99th percentile response time of patient-records?",
    'traces p99(duration) [kind:server service:patient-records]',
  ],
  ['how long do requests to /labs take on average', 'traces avg(duration) [http.route:"/labs" kind:server]'],
  ['show me everything notifier logged yesterday', 'logs rows [service:notifier] 10T00:00..11T00:00'],
  [
    'which three routes have the highest p95 latency',
    'traces p95(duration) [http.route:* kind:server] by http.route limit 3',
  ],
  [
    'count requests by status code for front-desk',
    'traces count [kind:server service:front-desk] by http.response.status_code',
  ],
  [
    'list the 10 slowest requests in appointments today',
    'traces max(duration) [kind:server service:appointments] by service,name,traceId,spanId limit 10 11T00:00..11T10:30',
  ],
  ['appointments booked per day last week', 'metric appointments.booked increase/sum each 1d 02T00:00..09T00:00'],
  [
    'how many appointments were cancelled between Monday and Tuesday',
    'metric appointments.cancelled increase/sum 09T00:00..11T00:00',
  ],
  ['average temperature by device model', 'metric device.temperature avg/avg by device.model'],
  [
    'device temperature of mri-300 over the last 12 hours every 30 minutes',
    'metric device.temperature avg/avg [device.model:mri-300] each 1800000 10T22:30..11T10:30',
  ],
  [
    'requests that failed with 503 in the last 20 min',
    'traces rows [http.response.status_code:503 kind:server] 11T10:10..11T10:30',
  ],
  [
    'failed requests grouped by route and method',
    'traces count [kind:server status:error] by http.route,http.request.method',
  ],
  ['success rate of lab-results', 'share traces [NOT status:error] of [kind:server service:lab-results]'],
  ['what fraction of requests are slower than 1s', 'share traces [duration:>1s] of [kind:server]'],
  ['requests/s for front-desk', 'traces rate [kind:server service:front-desk]'],
  ['throughput of lab-results', 'traces rate [kind:server service:lab-results]'],
  ['error logs from ward icu', 'logs rows [severity:>=error ward:icu]'],
  [
    'logs with severity error or fatal for patient-records',
    'logs rows [(severity:error OR severity:>=fatal) service:patient-records]',
  ],
  ['logs where the body contains timeout', 'logs rows ["timeout"]'],
  [
    'p95 latency of patient-records broken down by route, in 5 minute intervals',
    'traces p95(duration) [kind:server service:patient-records] by http.route each 5m',
  ],
  ['median payload size for POST requests', 'traces p50(payload.size) [http.request.method:POST kind:server]'],
  ['biggest payload size by route', 'traces max(payload.size) by http.route'],
  ['how many unique doctors logged something today', 'logs distinct(doctor.id) 11T00:00..11T10:30'],
  ['memory utilization of med-a right now', 'metric system.memory.utilization last/avg [host.name:med-a]'],
  ['cpu usage on med-b since 8am', 'metric system.cpu.utilization avg/avg [host.name:med-b] 11T08:00..11T10:30'],
  ['lab samples processed in the last 2 hours', 'metric lab.samples.processed increase/sum 11T08:30..11T10:30'],
  ['rate of lab samples processed', 'metric lab.samples.processed rate/sum'],
  ['size of the lab queue', 'metric lab.queue.size avg/sum'],
  ['container memory usage by host, max', 'metric container.memory.usage max/max by host.name'],
  ['spans of mongodb slower than 100ms', 'traces rows [db.system.name:mongodb duration:>100ms]'],
  ['logs from az1', 'logs rows [cloud.availability_zone:az1]'],
  ['requests with patient insured true', 'traces rows [kind:server patient.insured:true]'],
  ['which service logs the most warnings', 'logs count [severity:warn] by service limit 10'],
  ['which hosts have more than 80% cpu', 'metric system.cpu.utilization avg/avg by host.name having >0.8'],
  [
    'how many 5xx errors per route today',
    'traces count [http.response.status_code:[500 TO 599] kind:server] by http.route 11T00:00..11T10:30',
  ],
  ['traces of lab-results with errors', 'traces rows [NOT parentSpanId:* service:lab-results status:error]'],
  ['top exceptions', 'logs count [exception.type:*] by exception.type limit 10'],
  [
    'most common exceptions in prescriptions',
    'logs count [exception.type:* service:prescriptions] by exception.type limit 10',
  ],
  ['most common error messages', 'logs count [severity:>=error] by body limit 10'],
  ['what were the last 5 error logs in prescriptions', 'logs rows [service:prescriptions severity:>=error] limit 5'],
  [
    'how often did RecordLockedException occur per hour yesterday',
    'logs count [exception.type:RecordLockedException] each 1h 10T00:00..11T00:00',
  ],
  [
    'number of requests in the last hour compared with the hour before',
    'traces count [kind:server] than 11T08:30..11T09:30',
  ],
  ['is lab-results healthy', 'cause lab-results'],
  ['requests by method over time', 'traces count [kind:server] by http.request.method each 30000'],
  ['distribution of status codes', 'traces count by http.response.status_code'],
  ['requests on 2026-03-10 between 08:00 and 09:30', 'traces rows [kind:server] 10T08:00..10T09:30'],
  ['requests from 8am until 10am', 'traces rows [kind:server] 11T08:00..11T10:00'],
  [
    'average latency GET /patients/{id}',
    'traces avg(duration) [http.request.method:GET http.route:"/patients/{id}" kind:server]',
  ],
  ['error percentage by route', 'share traces [status:error] of [kind:server] by http.route'],
  ['how many requests does front-desk serve per second', 'traces rate [kind:server service:front-desk]'],
  ['log volume by service', 'logs count by service'],
  [
    'latency over the last 3 hours of lab-results p90',
    'traces p90(duration) [kind:server service:lab-results] 11T07:30..11T10:30',
  ],
  ['cancelled appointments today', 'metric appointments.cancelled increase/sum 11T00:00..11T10:30'],
  ['busiest services by requests', 'traces count [kind:server] by service limit 10'],
  ['show lab-results logs excluding info', 'logs rows [NOT severity:info service:lab-results]'],
  ['peak requests per minute', 'refused unclear'],
  ['tell me the mean duration per span name', 'traces avg(duration) by name'],
  ['warning count for med-a', 'logs count [host.name:med-a severity:warn]'],
  ['how full is the disk', 'refused unknown-name'],
  [
    'find POST requests to /slots that took longer than 3 seconds this morning',
    'traces rows [duration:>3s http.request.method:POST http.route:"/slots" kind:server] 11T00:00..11T10:30',
  ],
  [
    'number of log lines that contain the word refused in the last 2 hours by ward',
    'logs count ["refused"] by ward 11T08:30..11T10:30',
  ],
];
