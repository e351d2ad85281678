/** A hospital, and the questions of five of its employees. */
import { field, metric, nowMs, type Persons, signal } from '../question-case.ts';

const services = ['admissions', 'lab-results', 'imaging-store', 'pharmacy-orders', 'bed-board', 'hl7-bridge'];
const resource = [
  field('resource.host.name', ['hx-1', 'hx-2']),
  field('resource.service.version', ['11.0', '11.1']),
  field('resource.deployment.environment.name', ['production', 'training']),
];

export const hospital = {
  logs: signal(services, [
    field('ward', ['icu', 'maternity', 'surgery', 'oncology']),
    field('order.priority', ['stat', 'routine']),
    field('result.flag', ['final', 'preliminary', 'corrected']),
    field('patient.id', ['pt-1', 'pt-2'], 30_000),
    field('dose.mg', [], 400, 'number'),
    field('exception.type', ['DuplicateOrder', 'InterfaceDown', 'ImageCorrupt']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/admissions', '/results', '/results/{id}', '/images/{id}', '/beds', '/prescriptions']),
      field('http.request.method', ['GET', 'POST', 'PATCH']),
      field('http.response.status_code', ['200', '201', '400', '403', '404', '500', '502'], 7, 'number'),
      field('db.system.name', ['microsoft.sql_server', 'redis']),
      field('ward', ['icu', 'maternity', 'surgery', 'oncology']),
      field('modality', ['ct', 'mri', 'xray']),
      ...resource,
    ],
    ['render image', 'match patient'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/results', '/beds'] }),
    metric('beds.occupied', 'gauge', '{bed}', { ward: ['icu', 'maternity', 'surgery', 'oncology'] }),
    metric('prescriptions.filled', 'counter', '{prescription}', { ward: ['icu', 'maternity', 'surgery', 'oncology'] }),
    metric('messages.received', 'counter', '{message}', { interface: ['adt', 'orm', 'oru'] }),
    metric('fridge.temperature', 'gauge', 'Cel', { 'fridge.id': ['f1', 'f2'] }),
    metric('imaging.queue.length', 'gauge', '{study}', { modality: ['ct', 'mri', 'xray'] }),
    metric('oxygen.pressure', 'gauge', 'bar', { ward: ['icu', 'surgery'] }),
    metric('system.filesystem.usage', 'gauge', 'By', {
      'host.name': ['hx-1', 'hx-2'],
      device: ['sda', 'sdb'],
      state: ['used', 'free'],
    }),
  ],
  deployments: [
    { service: 'lab-results', version: '11.1', atMs: nowMs - 265 * 60_000 },
    { service: 'hl7-bridge', version: '11.1', atMs: nowMs - 780 * 60_000 },
  ],
};

export const hospitalPersons: Persons = {
  operator: [
    ['hl7-bridge error logs last 30 min', 'logs rows [service:hl7-bridge severity:>=error] 11T10:00..11T10:30'],
    [
      '502 lab-results since 6am',
      'traces rows [http.response.status_code:502 kind:server service:lab-results] 11T06:00..11T10:30',
    ],
    ['disk usage hx-1', 'metric system.filesystem.usage avg/sum [host.name:hx-1 state:used]'],
    ['why is imaging-store slow', 'cause imaging-store'],
    ['what changed in hl7 bridge', 'changes hl7-bridge'],
    ['what changed in hl7 bridge since the last deployment', 'changes hl7-bridge 10T21:30..11T10:30'],
    ['p99 by service', 'traces p99(duration) [kind:server] by service'],
    ['sql server p95 by service', 'traces p95(duration) [db.system.name:microsoft.sql_server] by service'],
    ['imaging queue length by modality now', 'metric imaging.queue.length last/sum by modality'],
    ['messages received per second by interface', 'metric messages.received rate/sum by interface'],
    ['worst error rate by service', 'share traces [status:error] of [kind:server] by service limit 10'],
    [
      'errors admissions since the last deployment',
      [
        'logs rows [service:admissions severity:>=error] 11T06:05..11T10:30',
        'traces rows [service:admissions status:error] 11T06:05..11T10:30',
      ],
    ],
    ['InterfaceDown count today', 'logs count [exception.type:InterfaceDown] 11T00:00..11T10:30'],
    ['requests hx-2 vs hx-1', 'traces count [host.name:(hx-2 OR hx-1) kind:server] by host.name'],
    ['oldest warnings of bed board today', 'logs rows [service:bed-board severity:warn] oldest 11T00:00..11T10:30'],
  ],
  developer: [
    [
      'how many DuplicateOrder exceptions did pharmacy orders raise yesterday',
      'logs count [exception.type:DuplicateOrder service:pharmacy-orders] 10T00:00..11T00:00',
    ],
    ['p90 of render image by modality', 'traces p90(duration) [name:"render image"] by modality'],
    ['match patient spans with errors', 'traces rows [name:"match patient" status:error]'],
    [
      'requests to /prescriptions with method PATCH',
      'traces rows [http.request.method:PATCH http.route:"/prescriptions" kind:server]',
    ],
    ['redis calls faster than 1 ms', 'traces rows [db.system.name:redis duration:<1ms kind:client]'],
    ['logs from lab results containing timeout', 'logs rows ["timeout" service:lab-results]'],
    [
      'average latency of lab-results since the last deployment compared with before',
      'traces avg(duration) [kind:server service:lab-results] 11T06:05..11T10:30 than 11T01:40..11T06:05',
    ],
    ['number of 403s per ward', 'traces count [http.response.status_code:403 kind:server] by ward'],
    ['failed requests of version 11.1', 'traces rows [kind:server service.version:11.1 status:error]'],
    ['how many images could not be rendered', 'refused unknown-name'],
    ['ImageCorrupt by host and version', 'logs count [exception.type:ImageCorrupt] by host.name,service.version'],
    [
      'exclude the training environment: error logs by service',
      'logs count [NOT deployment.environment.name:training severity:>=error] by service',
    ],
    ['traces of admissions over 5 seconds', 'traces rows [NOT parentSpanId:* duration:>5s service:admissions]'],
    ['rate(messages_received_total[5m])', 'promql rate(messages_received_total[5m])'],
    ['what is the root cause of the errors in pharmacy-orders', 'cause pharmacy-orders'],
  ],
  manager: [
    ['How many beds are occupied at the moment?', 'metric beds.occupied last/sum'],
    ['How many beds are occupied in maternity right now?', 'metric beds.occupied last/sum [ward:maternity]'],
    [
      'How many prescriptions were filled per ward yesterday?',
      'metric prescriptions.filled increase/sum by ward 10T00:00..11T00:00',
    ],
    [
      'Are the lab results slower today than yesterday?',
      [
        'traces avg(duration) [kind:server service:lab-results] 11T00:00..11T10:30 than 10T00:00..11T00:00',
        'traces p95(duration) [kind:server service:lab-results] 11T00:00..11T10:30 than 10T00:00..11T00:00',
      ],
    ],
    [
      'Which ward had the most errors this week?',
      [
        'logs count [severity:>=error ward:*] by ward limit 10 09T00:00..11T10:30',
        'traces count [kind:server status:error ward:*] by ward limit 10 09T00:00..11T10:30',
      ],
    ],
    [
      'What percentage of admissions requests failed yesterday morning?',
      'share traces [status:error] of [kind:server service:admissions] 10T00:00..10T12:00',
    ],
    ['Why was the bed board down yesterday?', 'cause bed-board 10T00:00..11T00:00'],
    ['What has changed in the lab results this week?', 'changes lab-results 09T00:00..11T10:30'],
    ['What is the warmest fridge?', 'metric fridge.temperature max/max'],
    ['How many patients did we admit?', 'refused unknown-name'],
    ['How much disk space is left?', 'metric system.filesystem.usage avg/sum [state:free]'],
    [
      'How many messages did we receive today compared with yesterday?',
      'metric messages.received increase/sum 11T00:00..11T10:30 than 10T00:00..11T00:00',
    ],
    ['Send me a report every Monday', 'refused change'],
    [
      'Please give me the number of requests per ward and day for last week',
      'traces count [kind:server] by ward each 1d 02T00:00..09T00:00',
    ],
    ['Do we meet our SLOs?', 'refused elsewhere'],
  ],
  support: [
    ['what do the logs say about patient pt-7781', 'logs rows [patient.id:pt-7781]'],
    ['stat orders with errors', 'logs rows [order.priority:stat severity:>=error]'],
    ['corrected results today', 'logs rows [result.flag:corrected] 11T00:00..11T10:30'],
    ['how many preliminary results in oncology', 'logs count [result.flag:preliminary ward:oncology]'],
    ['oxygen pressure in the icu', 'metric oxygen.pressure avg/avg [ward:icu]'],
    [
      'lowest oxygen pressure in surgery since midnight',
      'metric oxygen.pressure min/min [ward:surgery] 11T00:00..11T10:30',
    ],
    ['temperature of fridge f2', 'metric fridge.temperature avg/avg [fridge.id:f2]'],
    ['slow requests', 'traces max(duration) [kind:server] by service,name,traceId,spanId limit 10'],
    ['ct images slower than 4 s', 'traces rows [duration:>4s http.route:"/images/{id}" kind:server modality:ct]'],
    [
      'last error of the pharmacy',
      ['logs rows [service:pharmacy-orders severity:>=error]', 'traces rows [service:pharmacy-orders status:error]'],
    ],
    ['last error log of pharmacy-orders', 'logs rows [service:pharmacy-orders severity:>=error] limit 1'],
    ['how many mri and ct studies are waiting', 'refused unknown-name'],
    ['results not found', 'refused unclear'],
    ['how many times was a patient duplicated', 'refused unknown-name'],
    ['what is causing the delays in admissions', 'cause admissions'],
  ],
  analyst: [
    ['average dose by ward and order priority', 'logs avg(dose.mg) by ward,order.priority'],
    ['maximum beds occupied by ward in the last 7 days', 'metric beds.occupied max/max by ward 04T10:30..11T10:30'],
    [
      'prescriptions filled per hour in icu and surgery',
      'metric prescriptions.filled increase/sum [ward:(icu OR surgery)] each 1h',
    ],
    ['share of failed requests by ward', 'share traces [status:error] of [kind:server] by ward'],
    ['distinct patients per ward this month', 'logs distinct(patient.id) by ward 01T00:00..11T10:30'],
    [
      'p95 latency of lab-results by ward compared with yesterday',
      'traces p95(duration) [kind:server service:lab-results] by ward than 10T09:30..10T10:30',
    ],
    [
      'total messages received by interface last week',
      'metric messages.received increase/sum by interface 02T00:00..09T00:00',
    ],
    ['top 5 patients by number of logs', 'logs count [patient.id:*] by patient.id limit 5'],
    ['requests by modality per 5 minutes', 'traces count [kind:server] by modality each 5m'],
    ['sum of oxygen pressure', 'refused unclear'],
    ['what fraction of logs are warnings', 'share logs [severity:warn] of'],
    ['median dose of stat orders', 'logs p50(dose.mg) [order.priority:stat]'],
    [
      'compare the error rates of lab-results and imaging-store',
      'share traces [status:error] of [kind:server service:(lab-results OR imaging-store)] by service',
    ],
    ['number of records per result flag and ward yesterday', 'logs count by result.flag,ward 10T00:00..11T00:00'],
    ['free filesystem usage by host', 'metric system.filesystem.usage avg/sum [state:free] by host.name'],
  ],
};
